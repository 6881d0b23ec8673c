"""Resolves a reference to a session: an id, a name, or something similar to a name.

People and agents write a reference into a prompt (`@@simplify-the-nix-flake`), so names are compared by their words
alone: in lower case, with dashes between them.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..dataclass import dataclass
from ..errors import UnknownSessionError
from ..types.query import Filters
from .grouping import copy_rank
from .listing import ID_PREFIX, display_name

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.index import StoredSession

#: How a reference was resolved.
By: TypeAlias = Literal["id", "name", "likeness"]
#: Adds to sessions what their reader calls them.
Show: TypeAlias = "Callable[[Sequence[StoredSession]], object]"

#: Most sessions whose names are compared: the last active ones.  Reading this number from SQLite takes 0.3 s.
NAMED = 10_000
#: Least similarity of a name when none has all the words: difflib's ratio, which allows one wrong character in five.
LIKENESS = 0.8
#: Least similarity of a name, or of an id, that is told when none is meant.
NEAR = 0.6
#: Most sessions of an error message, and most that are told as the nearest.
SHOWN = 10
NEAREST = 3
#: The words for the last active session, unless a session has that name.
LATEST = frozenset({"-", "last", "latest", "newest"})
#: How to find a session, on the command line.
SEARCH = "see: sesame search"
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
    #: It is only spelled like the session's name.
    is_guess: bool = False
    #: A page of the sessions that it may mean, last active first; empty when `stored` is set.
    candidates: tuple[Candidate, ...] = ()
    #: Number of the sessions that it may mean, on all pages.
    total: int = 0
    #: Sessions with a name that is somewhat like it, if it means none.
    nearest: tuple[Candidate, ...] = ()
    #: The position in the session that is written behind it; None without one.
    position: int | None = None


def place(text: str) -> tuple[str, int | None]:
    """Return a reference to a session, and the position in it, of what a hit is called: `35ea950f:21`.

    A name with spaces before the colon is no place: "fix: 12" is a name.  So may `PR:123` be, which only the names of
    sessions tell.
    """
    match = re.fullmatch(r"(\S+):(\d{1,9})", text.strip())
    return (match[1], int(match[2])) if match else (text, None)


def resolve(
    reader: IndexReader,
    texts: Iterable[str],
    *,
    abbreviate: Callable[[str], str],
    exclude: Sequence[str] = (),
    limit: int = 10,
    offset: int = 0,
    show: Show = list,
) -> list[Reference]:
    """Resolve each string: as an id or a prefix of one, else as a name, else by similarity to a name.

    The empty string means the latest sessions.

    :param abbreviate: shortens a session id to a unique prefix.
    :param exclude: ids of sessions to ignore.
    :param limit: most candidates.
    :param offset: candidates to skip.
    :param show: adds to sessions what their reader calls them.
    """
    with reader.snapshot():
        resolver = Resolver(reader, abbreviate, exclude, show=show)
        found = [resolver.reference(text, limit=limit, offset=offset) for text in texts]
    show([one.stored for one in found if one.stored])
    return found


def meant(
    reader: IndexReader,
    text: str,
    abbreviate: Callable[[str], str],
    *,
    current: Callable[[], Sequence[str]] = tuple,
    is_certain: bool = False,
    show: Show = list,
) -> tuple[StoredSession, int | None]:
    """Return the one session that a reference means, and the position in it that is written behind the reference.

    :param abbreviate: shortens a session id to a unique prefix.
    :param current: returns the ids of sessions that are not the latest one.
    :param is_certain: do not take a name that is only spelled similarly.
    :param show: adds to sessions what their reader calls them.
    :raises UnknownSessionError: no session matches, or several do; the message has the nearest, or all.
    """
    with reader.snapshot():
        found = Resolver(reader, abbreviate, (), current=current, show=show).reference(text, limit=SHOWN)
    if found.stored and not (is_certain and found.is_guess):
        return found.stored, found.position
    text = place(text)[0]
    if found.candidates:
        rest = found.total - len(found.candidates)
        lines = [*map(_line, found.candidates), *([f"… and {rest} more"] if rest else [])]
        shown = "".join(f"\n  {line}" for line in lines)
        raise UnknownSessionError(f"{text!r} may mean several sessions:{shown}")
    near = [_line(candidate) for candidate in found.nearest]
    if found.stored:
        near = [f"{display_name(found.stored.session)} ({abbreviate(found.stored.session.id)})"]
    told = f"; nearest: {', '.join(near)}" if near else ""
    raise UnknownSessionError(f"no session has the id or name {text!r}{told}", command=SEARCH)


class Resolver:
    """Resolves references in one state of an index.

    :param exclude: ids of sessions to ignore.
    :param current: returns the ids of sessions that `latest` does not mean.
    :param show: adds to sessions what their reader calls them.
    """

    def __init__(
        self,
        reader: IndexReader,
        abbreviate: Callable[[str], str],
        exclude: Sequence[str],
        *,
        current: Callable[[], Sequence[str]] = tuple,
        show: Show = list,
    ) -> None:
        self._reader = reader
        self._abbreviate = abbreviate
        self._exclude = exclude
        self._current = current
        self._show = show

    @cached_property
    def _names(self) -> _Names:
        return _Names(self._reader, self._exclude, self._show)

    def reference(self, text: str, *, limit: int = 10, offset: int = 0) -> Reference:
        """Return what a string means."""
        written = _bare(text)
        if not slug(written) and written != "-":
            latest = list(self._latest(self._exclude))
            page = self._candidates(latest[offset : offset + limit])
            return Reference(text=text, candidates=page, total=len(latest))
        named, position = place(written)
        found, by, is_guess = self._meaning(named)
        if position is not None and by != "id" and (not found or self._names.called(written)):
            (found, by, is_guess), position = self._meaning(written), None
        if len(found) == 1:
            return Reference(text=text, stored=found[0], by=by, is_guess=is_guess, position=position)
        if found:
            page = self._candidates(found[offset : offset + limit])
            return Reference(text=text, candidates=page, total=len(found))
        return Reference(text=text, nearest=self._candidates(self._names.near(named)))

    def _meaning(self, text: str) -> tuple[list[StoredSession], By | None, bool]:
        """Return the sessions that a string means, how it was recognised, and whether that is a guess."""
        ids = self._by_id(text)
        if any(stored.session.id == text for stored in ids) or (len(ids) == 1 and len(text) >= ID_PREFIX):
            return ids, "id", False
        if same := self._names.called(text):
            return same, "name", False
        if ids and len(text) >= ID_PREFIX:
            return ids, "id", False
        if text.casefold() in LATEST:
            # Few of the newest are subagents', and reading all takes long.
            latest = self._latest((*self._exclude, *self._current()), at_once=SHOWN)
            return list(islice(latest, 1)), "name", False
        # A short word may be the beginning of an id as well as a word: `add`, `feed`.
        parts = self._names.with_words(text)
        if ids:
            return list({s.number: s for s in (*ids, *parts)}.values()), "id", False
        if parts:
            return parts, "likeness", False
        if files := self._names.read_from(text):
            return files, "id", False
        return self._names.spelled_like(text), "likeness", True

    def _by_id(self, text: str) -> list[StoredSession]:
        """Return the sessions whose id, or key, starts with a string, in any case."""
        station, session_id = (text.split(":", 2)[::2]) if text.count(":") > 1 else ("", text)
        found = by_id(self._reader, session_id, station) or by_id(self._reader, session_id.lower(), station)
        return [stored for stored in found if stored.session.id not in self._exclude]

    def _latest(self, exclude: Sequence[str], *, at_once: int = NAMED) -> Iterator[StoredSession]:
        """Yield the sessions but subagents', last active first.

        :param at_once: number of sessions that are read together.
        """
        filters = Filters(exclude=tuple(exclude))
        seen = 0
        while True:
            page, every = self._reader.list_sessions(filters, limit=at_once, offset=seen)
            yield from (stored for stored in page if stored.session.kind != "subagent")
            seen += len(page)
            if not page or seen >= every:
                return

    def _candidates(self, found: Iterable[StoredSession]) -> tuple[Candidate, ...]:
        found = list(found)
        self._show(found)
        ids = Counter(stored.session.id for stored in found)
        return tuple(
            Candidate(
                stored=s,
                reference=s.session.key
                if ids[s.session.id] > 1
                else self._names.reference(s) or self._abbreviate(s.session.id),
            )
            for s in found
        )


def by_id(reader: IndexReader, text: str, station: str = "") -> list[StoredSession]:
    """Return the sessions whose id starts with a string, by id; of a session in several files, the representing one.

    A subagent's id starts with its parent's; if the parent is indexed, it is the one that is meant.

    :param station: the workstation of a key; its sessions are meant, if it has any.
    """
    found = reader.find_sessions(text)
    found = [stored for stored in found if stored.session.workstation == station] or found
    ids = sorted({stored.session.id for stored in found})
    whole = [i for i in ids if all(other == i or other.startswith(i + "/") for other in ids)]
    return [
        one for session_id in whole or ids for one in _representatives([s for s in found if s.session.id == session_id])
    ]


def the_one(reader: IndexReader, text: str, station: str = "") -> StoredSession:
    """Return the one session whose id starts with a string.

    :param station: as of `by_id`.
    :raises UnknownSessionError: no session, or several, have this id.
    """
    found = by_id(reader, text, station)
    if not found:
        raise UnknownSessionError(f"no session has the id {text!r}", command=SEARCH)
    if len(found) > 1:
        raise UnknownSessionError(f"several sessions have an id that starts with {text!r}")
    return found[0]


def slug(name: str) -> str:
    """Return the words of a name in lower case, with dashes between them."""
    return "-".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", name).casefold()))


def _representatives(copies: list[StoredSession]) -> list[StoredSession]:
    """Return the file that represents a session: this workstation's own, if several have a session of that id.

    Of several owners without this workstation's, each has one: whose session is longer is not whose it is.
    """
    if len({stored.session.workstation for stored in copies}) > 1:
        from ..config import identity

        mine = [stored for stored in copies if stored.session.workstation == identity.workstation_id()]
        copies = mine or copies
    best: dict[str, StoredSession] = {}
    for stored in sorted(copies, key=copy_rank):
        best[stored.session.owner] = stored
    return list(best.values())


class _Names:
    """The names of the last active sessions."""

    def __init__(self, reader: IndexReader, exclude: Sequence[str], show: Show) -> None:
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


def _bare(text: str) -> str:
    """Return a reference without the marks that people put around one: `@@name`, quotes."""
    text = text.strip()
    return text.removeprefix("@@").removeprefix("@").strip().strip("\"'`“”") if text != "-" else text


def _line(candidate: Candidate) -> str:
    """Return a session with what refers to it, for a message."""
    name = display_name(candidate.stored.session)
    date = candidate.stored.session.modified
    about = f" ({name})" if name and slug(name) != candidate.reference else ""
    return f"{candidate.reference}{about}" + (f" - {date.astimezone():%Y-%m-%d}" if date else "")


def _has(name: str, beginning: str) -> bool:
    """Return whether a word of a name starts with a string; in scripts without spaces, whether the name contains it."""
    return f"-{beginning}" in f"-{name}" or (not beginning.isascii() and beginning in name)
