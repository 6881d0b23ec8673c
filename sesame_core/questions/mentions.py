"""The calls that name a file: found by its name as a phrase, and read for whether they change it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..dataclass import dataclass, replace
from ..text.readable import is_shell
from ..types.query import Filters, Query
from .calls_read import CallsRead
from .finding import Place, refused, word_of
from .named_file import NamedFile, last_parts
from .reach import is_within_period, of_calls

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.index import Chunk

#: Most chunks with a name that are looked at, the newest: as many as a server reads for a phrase.
MOST = 1_000
#: Most sessions with a path that are then compared with those that were found, and chunks of others that are looked at.
SESSIONS, PLACES = 200, 5_000
_CALL = 2


@dataclass(frozen=True, slots=True)
class Mention:
    """A call that names a file."""

    #: Number of the session.
    number: int
    chunk: Chunk
    paths: tuple[str, ...]
    is_change: bool


@dataclass(frozen=True, slots=True)
class Mentions:
    """The calls that name a file, and what is missing of them."""

    calls: list[Mention]
    #: Whether these are all.
    is_whole: bool
    #: Sessions that name the file, and whose calls were not read.
    uncounted: int


def mentions(reader: IndexReader, read: CallsRead, file: NamedFile, filters: Filters) -> Mentions:
    """Return the calls that name a file.

    Calls that failed are left out, and so are names in commands that only look like the file's.
    """
    found: set[Place] = set()
    is_whole = False
    for questions in _questions(file, filters):
        if not is_whole:
            answers = [read.with_name(name, narrowed, MOST) for name, narrowed in questions]
            is_whole = all(answer.is_whole for answer in answers)
            found |= {(c.session, c.seq) for answer in answers for c in answer.chunks if c.weight_class == _CALL}
    calls = _naming(read, file, filters, found)
    uncounted = 0
    if not is_whole and not file.is_directory:  # sessions with a common directory are too many to be compared
        missing, uncounted = _missing(reader, file, filters, {one.number for one in calls})
        calls += _naming(read, file, filters, missing - found)
    undone = refused(reader, ((one.number, one.chunk) for one in calls if one.is_change))
    calls = [one for one in calls if (one.number, one.chunk.seq) not in undone]
    return Mentions(calls, is_whole, uncounted)


def _naming(read: CallsRead, file: NamedFile, filters: Filters, places: set[Place]) -> list[Mention]:
    """Return the calls at some places that name the file."""
    found = []
    for (number, _), chunk, files in read.naming(file, sorted(places, reverse=True)):
        named = [one for one in files if file.is_meant(one.path)]
        if file.is_word and is_shell(chunk.tool_name):
            named = [one for one in named if one.is_changed]  # `npm test` names no file
        if named and is_within_period(chunk, filters):
            is_change = any(one.is_changed for one in named)
            found.append(Mention(number, chunk, tuple(one.path for one in named), is_change))
    return found


def _missing(reader: IndexReader, file: NamedFile, filters: Filters, known: set[int]) -> tuple[set[Place], int]:
    """Return the places of the file's name in sessions that name it and of which no call is known, and how many remain.

    :param known: numbers of the sessions with known calls.
    """
    if filters.path is not None:
        return set(), 0
    words = tuple(word_of(name) for name in last_parts(file.names, 1))
    wanted: list[Place] = []
    uncounted = 0
    for name in file.names:
        narrowed = replace(filters, path=name, all_kinds=True)
        listed, total = reader.list_sessions(narrowed, limit=SESSIONS)
        uncounted += total - len(listed)
        for one in listed:
            if one.number in known:
                continue
            if len(wanted) + one.chunk_count > PLACES:
                uncounted += 1
                continue
            known = known | {one.number}
            wanted += [(one.number, seq) for seq in range(one.chunk_count)]
    if not wanted:
        return set(), uncounted
    has = reader.matching(Query(text=file.name, words=words), wanted)
    return {place for place, contained in zip(wanted, has, strict=True) if contained}, uncounted


def _questions(file: NamedFile, filters: Filters) -> Iterator[list[tuple[str, Filters]]]:
    """Yield phrases with filters, to be asked for until all calls with some of them are known.

    A command may name a file by its last component, after it changed to a directory.  Of a common name, sessions with
    the path are asked for it, and those in its repository, and all for two components.
    """
    calls = replace(of_calls(filters), all_kinds=True)
    last = last_parts(file.names, 1)
    yield [(name, calls) for name in last]
    end = "/" if file.is_directory else ""
    narrow = [(name, calls) for name in last_parts(file.names, 2)]
    if filters.path is None:
        narrow += [(last_parts([name], 1)[0], replace(calls, path=name + end)) for name in file.names]
    if file.checkouts and not filters.places and not file.is_directory:
        narrow += [(name, replace(calls, places=file.checkouts)) for name in last]
    yield narrow
