"""Which session a person means: by an id, by a name, or by what the name is like.

People and agents write a reference into a prompt (`@@simplify-the-nix-flake`), so a name is compared by its words
alone: small letters, with dashes between them.
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
from .engine import ID_LETTERS, display_name
from .grouping import copy_rank

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.index import StoredSession

#: What tells which session is meant.
By: TypeAlias = Literal["id", "name", "likeness"]

#: Sessions whose names are compared: the last active ones.  Reading so many from SQLite takes 0.3 s.
NAMED = 10_000
#: How like a name must be when none has all the words: difflib's ratio, which forgives one letter in five.
LIKENESS = 0.8
#: Letters of a name that serves as a reference; of a longer one the session's id does.
SLUG_LETTERS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A session that may be meant."""

    stored: StoredSession
    #: What refers to it alone: its name's words, else the beginning of its id.
    reference: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What became of one reference."""

    #: As it was written.
    text: str
    #: The session it means; None when it may mean several, or none.
    stored: StoredSession | None = None
    #: What told: its id, its whole name, or a name that is like it.
    by: By | None = None
    #: Whom it may mean, the last active first; empty when one is certain.
    candidates: tuple[Candidate, ...] = ()


def resolve(
    reader: IndexReader,
    texts: Iterable[str],
    *,
    abbreviate: Callable[[str], str],
    exclude: Sequence[str] = (),
    limit: int = 10,
) -> list[Reference]:
    """Return what each text refers to: an id or the beginning of one, else a name, else what is like a name.

    An empty text is like every name.

    :param abbreviate: shortens a session id as far as it stays unique.
    :param exclude: ids of sessions that are not meant.
    :param limit: candidates at most.
    """
    with reader.snapshot():
        names = _Names(reader, exclude)
        found = []
        for text in texts:
            by: By = "id"
            meant = by_id(reader, text) if len(text) >= ID_LETTERS else []
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
    """Return the sessions whose id begins so, by id: of one in several files the file that speaks for it.

    A subagent's id begins with its parent's; where that is there, it is the one that is meant.
    """
    found = reader.find_sessions(text)
    ids = sorted({stored.session.id for stored in found})
    whole = [i for i in ids if all(other == i or other.startswith(i + "/") for other in ids)]
    return [_speaking([s for s in found if s.session.id == session_id]) for session_id in whole or ids]


def the_one(reader: IndexReader, text: str) -> StoredSession:
    """Return the one session whose id begins so.

    :raises UnknownSessionError: no session, or several, have this id.
    """
    found = by_id(reader, text)
    if not found:
        raise UnknownSessionError(f"no session has the id {text!r}; see: sesame search")
    if len(found) > 1:
        ids = [stored.session.id for stored in found]
        shown = "\n  ".join(ids[:10]) + ("\n  …" if len(ids) > 10 else "")
        raise UnknownSessionError(f"several sessions have an id that begins with {text!r}:\n  {shown}")
    return found[0]


def meant(reader: IndexReader, text: str, abbreviate: Callable[[str], str]) -> StoredSession:
    """Return the one session with this id, or else with this name.

    :param abbreviate: shortens a session id as far as it stays unique.
    :raises UnknownSessionError: no session is certain to be meant.
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
    """Return a name's words in small letters, with dashes between them."""
    return "-".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", name).casefold()))


def _speaking(copies: list[StoredSession]) -> StoredSession:
    """Return the file that speaks for a session: this workstation's own, if several have one of that id."""
    if len({stored.session.workstation for stored in copies}) > 1:
        from ..config import identity

        mine = [stored for stored in copies if stored.session.workstation == identity.workstation_id()]
        copies = mine or copies
    return max(copies, key=copy_rank)


class _Names:
    """The names of the last sessions."""

    def __init__(self, reader: IndexReader, exclude: Sequence[str]) -> None:
        listed, _ = reader.list_sessions(Filters(exclude=tuple(exclude)), limit=NAMED)
        self._slugs = [(slug(display_name(s.session) or ""), s) for s in listed if s.session.kind != "subagent"]
        self._counts = Counter(name for name, _ in self._slugs)

    def meant(self, text: str) -> tuple[list[StoredSession], By]:
        """Return the sessions of this name; else those whose name is like it, the last active first."""
        wanted = slug(text)
        if same := [stored for name, stored in self._slugs if name == wanted]:
            return same, "name"
        return self._like(wanted), "likeness"

    def reference(self, stored: StoredSession) -> str | None:
        """Return the words of a session's title or name, if they refer to it alone and are few."""
        name = slug(stored.session.name or "")
        return name if name and len(name) <= SLUG_LETTERS and self._counts[name] == 1 else None

    def _like(self, wanted: str) -> list[StoredSession]:
        """Return the sessions whose name has all the words, or beginnings of them; else what is spelt alike."""
        words = wanted.split("-")
        if found := [stored for name, stored in self._slugs if all(_has(name, word) for word in words)]:
            return found
        import difflib

        near = set(difflib.get_close_matches(wanted, self._counts, cutoff=LIKENESS))
        return [stored for name, stored in self._slugs if name in near]


def _has(name: str, beginning: str) -> bool:
    """Tell whether one of a name's words begins so; in scripts without spaces, whether it stands anywhere."""
    return f"-{beginning}" in f"-{name}" or (not beginning.isascii() and beginning in name)
