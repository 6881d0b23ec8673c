"""The names of sessions: which of them a text means, or is like.

People and agents write a reference into a prompt (`@@simplify-the-nix-flake`), so names are compared by their words
alone: in lower case, with dashes between them.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..types.query import Filters
from .listing import ID_PREFIX, display_name

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.index import StoredSession

#: Most sessions whose names are compared: the last active ones.  Reading this number from SQLite takes 0.3 s.
NAMED = 10_000
#: Least similarity of a name when none has all the words: difflib's ratio, which allows one wrong character in five.
LIKENESS = 0.8
#: Least similarity of a name, or of an id, that is told when none is meant.
NEAR = 0.6
#: Most sessions that are told as the nearest.
NEAREST = 3
#: Most characters of a name that serves as a reference; a session with a longer one has its id as reference.
SLUG_LENGTH = 60


class Names:
    """The names of the last active sessions.

    :param exclude: ids of sessions to ignore.
    :param show: adds to sessions what their reader calls them.
    """

    def __init__(
        self, reader: IndexReader, exclude: Sequence[str], show: Callable[[Sequence[StoredSession]], object]
    ) -> None:
        self._listed, _ = reader.list_sessions(Filters(exclude=tuple(exclude)), limit=NAMED)
        show(self._listed)
        self._slugs = [(slug(display_name(s.session) or ""), s) for s in self._listed if s.session.kind != "subagent"]
        self._counts = Counter(name for name, _ in self._slugs)

    def called(self, text: str) -> list[StoredSession]:
        """Return the sessions with this name, last active first."""
        wanted = slug(text)
        return [stored for name, stored in self._slugs if name == wanted] if wanted else []

    def with_words(self, text: str) -> list[StoredSession]:
        """Return the sessions whose name has all the words, or prefixes of them."""
        words = list(filter(None, slug(text).split("-")))
        return [stored for name, stored in self._slugs if words and all(_has(name, word) for word in words)]

    def read_from(self, text: str) -> list[StoredSession]:
        """Return the sessions of a file, by its path or by the id in its name, which may not be the session's."""
        name = os.path.basename(text).removesuffix(".jsonl")
        if os.sep in text:
            path = os.path.realpath(os.path.expanduser(text))
            return [stored for stored in self._listed if stored.path == path]
        if len(name) < ID_PREFIX:
            return []
        stems = ((os.path.basename(stored.path).rpartition(".")[0], stored) for stored in self._listed)
        return [stored for stem, stored in stems if stem == name or stem.rpartition("_")[2].startswith(name)]

    def spelled_like(self, text: str) -> list[StoredSession]:
        """Return the sessions whose name has a similar spelling."""
        import difflib

        near = set(difflib.get_close_matches(slug(text), self._counts, cutoff=LIKENESS))
        return [stored for name, stored in self._slugs if name in near]

    def near(self, text: str) -> list[StoredSession]:
        """Return sessions with most of the words in their name, or else with a somewhat similar name or id."""
        import difflib

        words = [word for word in slug(text).split("-") if len(word) > 2]
        counts = [(sum(_has(name, word) for word in words), stored) for name, stored in self._slugs]
        if most := max((count for count, _ in counts), default=0):
            return [stored for count, stored in counts if count == most][:NEAREST]
        spellings = {name: stored for name, stored in reversed(self._slugs) if name}
        spellings |= {stored.session.id: stored for _, stored in self._slugs}
        near = difflib.get_close_matches(text.casefold(), spellings, n=NEAREST, cutoff=NEAR)
        return list({spellings[name].number: spellings[name] for name in near}.values())

    def reference(self, stored: StoredSession) -> str | None:
        """Return the words of a session's title or name, if they are unique and at most `SLUG_LENGTH` characters."""
        name = slug(stored.session.name or "")
        return name if name and len(name) <= SLUG_LENGTH and self._counts[name] == 1 else None


def slug(name: str) -> str:
    """Return the words of a name in lower case, with dashes between them."""
    return "-".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", name).casefold()))


def _has(name: str, beginning: str) -> bool:
    """Return whether a word of a name starts with a string; in scripts without spaces, whether the name contains it."""
    return f"-{beginning}" in f"-{name}" or (not beginning.isascii() and beginning in name)
