"""Resolves a reference to a session: an id, a name, or something similar to a name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..dataclass import dataclass
from ..errors import UnknownSessionError
from ..types.query import Filters
from .ids import SEARCH, by_id
from .listing import ID_PREFIX, display_name
from .names import NAMED, Names, slug

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.index import StoredSession

#: How a reference was resolved.
By: TypeAlias = Literal["id", "name", "likeness"]
#: Adds to sessions what their reader calls them.
Show: TypeAlias = "Callable[[Sequence[StoredSession]], object]"

#: Most sessions of an error message.
SHOWN = 10
#: The words for the last active session, unless a session has that name.
LATEST = frozenset({"-", "last", "latest", "newest"})


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
    def _names(self) -> Names:
        return Names(self._reader, self._exclude, self._show)

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
