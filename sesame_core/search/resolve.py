"""Resolves a reference to a session: an id, a name, or something similar to a name.

People and agents write a reference into a prompt (`@@simplify-the-nix-flake`), so names are compared by their words
alone: in lower case, with dashes between them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..dataclass import dataclass
from ..errors import UnknownSessionError
from ..types.query import Filters
from .engine import ID_PREFIX, display_name
from .grouping import copy_rank

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.index import StoredSession

#: How a reference was resolved.
By: TypeAlias = Literal["id", "name", "likeness"]

#: Most sessions whose names are compared: the last active ones.  Reading this number from SQLite takes 0.3 s.
NAMED = 10_000
#: Least similarity of a name when none has all the words: difflib's ratio, which allows one wrong character in five.
LIKENESS = 0.8
#: Most characters of a name that serves as a reference; a session with a longer one has its id as reference.
SLUG_LENGTH = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A session that a reference may mean."""

    stored: StoredSession
    #: A reference to it alone: the words of its name, else a prefix of its id.
    reference: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The result of resolving one reference."""

    #: The reference as written.
    text: str
    #: The session that it means; None when it may mean several, or none.
    stored: StoredSession | None = None
    #: How it was resolved: by id, by the whole name, or by a similar name.
    by: By | None = None
    #: The sessions that it may mean, last active first; empty when `stored` is set.
    candidates: tuple[Candidate, ...] = ()


def resolve(
    reader: IndexReader,
    texts: Iterable[str],
    *,
    abbreviate: Callable[[str], str],
    exclude: Sequence[str] = (),
    limit: int = 10,
) -> list[Reference]:
    """Resolve each string: as an id or a prefix of one, else as a name, else by similarity to a name.

    The empty string is similar to every name.

    :param abbreviate: shortens a session id to a unique prefix.
    :param exclude: ids of sessions to ignore.
    :param limit: most candidates.
    """
    with reader.snapshot():
        names = _Names(reader, exclude)
        found = []
        for text in texts:
            by: By = "id"
            meant = by_id(reader, text) if len(text) >= ID_PREFIX else []
            meant = [stored for stored in meant if stored.session.id not in exclude]
            if not meant:
                meant, by = names.meant(text)
            if len(meant) == 1 and text:
                found.append(Reference(text=text, stored=meant[0], by=by))
                continue
            candidates = [
                Candidate(stored=s, reference=names.reference(s) or abbreviate(s.session.id)) for s in meant[:limit]
            ]
            found.append(Reference(text=text, candidates=tuple(candidates)))
    return found


def by_id(reader: IndexReader, text: str) -> list[StoredSession]:
    """Return the sessions whose id starts with a string, by id; of a session in several files, the representing one.

    A subagent's id starts with its parent's; if the parent is indexed, it is the one that is meant.
    """
    found = reader.find_sessions(text)
    ids = sorted({stored.session.id for stored in found})
    whole = [i for i in ids if all(other == i or other.startswith(i + "/") for other in ids)]
    return [_representative([s for s in found if s.session.id == session_id]) for session_id in whole or ids]


def the_one(reader: IndexReader, text: str) -> StoredSession:
    """Return the one session whose id starts with a string.

    :raises UnknownSessionError: no session, or several, have this id.
    """
    found = by_id(reader, text)
    if not found:
        raise UnknownSessionError(f"no session has the id {text!r}; see: sesame search")
    if len(found) > 1:
        ids = [stored.session.id for stored in found]
        shown = "\n  ".join(ids[:10]) + ("\n  …" if len(ids) > 10 else "")
        raise UnknownSessionError(f"several sessions have an id that starts with {text!r}:\n  {shown}")
    return found[0]


def meant(reader: IndexReader, text: str, abbreviate: Callable[[str], str]) -> StoredSession:
    """Return the one session with this id, or else the one with this name.

    :param abbreviate: shortens a session id to a unique prefix.
    :raises UnknownSessionError: no session matches, or several do.
    """
    try:
        return the_one(reader, text)
    except UnknownSessionError:
        (found,) = resolve(reader, [text], abbreviate=abbreviate)
        if found.stored:
            return found.stored
        if not found.candidates:
            raise
        shown = "\n  ".join(candidate.reference for candidate in found.candidates)
        raise UnknownSessionError(f"{text!r} may mean several sessions:\n  {shown}") from None


def slug(name: str) -> str:
    """Return the words of a name in lower case, with dashes between them."""
    return "-".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", name).casefold()))


def _representative(copies: list[StoredSession]) -> StoredSession:
    """Return the file that represents a session: this workstation's own, if several have a session of that id."""
    if len({stored.session.workstation for stored in copies}) > 1:
        from ..config import identity

        mine = [stored for stored in copies if stored.session.workstation == identity.workstation_id()]
        copies = mine or copies
    return max(copies, key=copy_rank)


class _Names:
    """The names of the last active sessions."""

    def __init__(self, reader: IndexReader, exclude: Sequence[str]) -> None:
        listed, _ = reader.list_sessions(Filters(exclude=tuple(exclude)), limit=NAMED)
        self._slugs = [(slug(display_name(s.session) or ""), s) for s in listed if s.session.kind != "subagent"]
        self._counts = Counter(name for name, _ in self._slugs)

    def meant(self, text: str) -> tuple[list[StoredSession], By]:
        """Return the sessions with this name; else those with a similar name, last active first."""
        wanted = slug(text)
        if same := [stored for name, stored in self._slugs if name == wanted]:
            return same, "name"
        return self._like(wanted), "likeness"

    def reference(self, stored: StoredSession) -> str | None:
        """Return the words of a session's title or name, if they are unique and at most `SLUG_LENGTH` characters."""
        name = slug(stored.session.name or "")
        return name if name and len(name) <= SLUG_LENGTH and self._counts[name] == 1 else None

    def _like(self, wanted: str) -> list[StoredSession]:
        """Return the sessions whose name has all the words, or prefixes of them; else those with a similar spelling."""
        words = wanted.split("-")
        if found := [stored for name, stored in self._slugs if all(_has(name, word) for word in words)]:
            return found
        import difflib

        near = set(difflib.get_close_matches(wanted, self._counts, cutoff=LIKENESS))
        return [stored for name, stored in self._slugs if name in near]


def _has(name: str, beginning: str) -> bool:
    """Return whether a word of a name starts with a string; in scripts without spaces, whether the name contains it."""
    return f"-{beginning}" in f"-{name}" or (not beginning.isascii() and beginning in name)
