"""A session with its subagents and forks, and where each of them begins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ..plugin.backend import Lineage
from ..types.export import Part
from .grouping import copy_rank

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.index import Chunk, StoredSession

#: Characters of a subagent's first prompt that the call which started it has.
PROMPT = 200
#: First chunks of a subagent, which have its first prompt and the time of its start.
OPENING = 4
#: Forks whose place is looked up, the latest: of a session and each of its forks a chunk takes 3 µs.
PLACED = 50
_NEVER = datetime.max.replace(tzinfo=UTC)


def family(reader: IndexReader, stored: StoredSession) -> list[Part]:
    """Return a session and its subagents, those of subagents too, whole, in the order in which they started."""
    below = _below(reader, stored)
    first, *others = reader.chunks([(one.number, 0, None) for one in (stored, *below)])
    order = _by_start(below, others)
    members = [(stored, first), *order]
    numbers = {one.session.id: number for number, (one, _) in enumerate(members)}
    parts = [Part(stored=stored, chunks=tuple(first))]
    taken: set[tuple[int, int]] = set()
    for one, chunks in order:
        parent = _parent(one.session.id, one.session.parent_id, numbers)
        place = _started_at(one, chunks, members[parent][1], {seq for number, seq in taken if number == parent})
        if place is not None:
            taken.add((parent, place))
        parts.append(Part(stored=one, chunks=tuple(chunks), parent=parent, started_at=place))
    return parts


def started(reader: IndexReader, stored: StoredSession, shown: Sequence[Chunk]) -> list[Part]:
    """Return the subagents that a session started, without most of their chunks, in the order of their starts.

    :param shown: some consecutive chunks of the session; positions are only of these.
    """
    own = stored.session.id
    below = [
        one
        for one in _below(reader, stored)
        if one.session.parent_id == own or one.session.id.rpartition("/")[0] == own
    ]
    order = _by_start(below, reader.chunks([(one.number, 0, OPENING) for one in below]))
    last = max((chunk.timestamp for chunk in shown if chunk.timestamp is not None), default=_NEVER)
    is_end = not shown or shown[-1].seq + 1 >= stored.chunk_count
    parts, taken = [], set[int]()
    for one, chunks in order:
        start = _start(chunks)
        is_later = not is_end and (start is None or start > last)
        place = None if is_later else _started_at(one, chunks, shown, taken)
        if place is not None:
            taken.add(place)
        parts.append(Part(stored=one, chunks=tuple(chunks), parent=0, started_at=place))
    return parts


def forks(reader: IndexReader, stored: StoredSession) -> list[Part]:
    """Return the sessions that were made from a session, without chunks, the latest first.

    Each is placed at the last chunk that it repeats; one without copied chunks, or that has others first, has no place.
    """
    if not isinstance(reader, Lineage):
        return []
    own = stored.session.id
    children = _best_copies(reader.sessions(reader.children(own)), stored)
    found = [one for one in children if one.session.kind != "subagent" and one.session.id != own]
    if not found:
        return []  # of most sessions: their own origins are not read
    order = sorted(found, key=lambda one: one.session.modified or _NEVER, reverse=True)
    positions = {origin: seq for seq, origin in enumerate(reader.origins(stored.number)) if origin is not None}
    places = [_left_at(positions, reader.origins(one.number)) for one in order[:PLACED]]
    places += [None] * (len(order) - len(places))
    return [Part(stored=one, chunks=(), parent=0, started_at=at) for one, at in zip(order, places, strict=True)]


def _left_at(positions: Mapping[int, int], origins: Iterable[int | None]) -> int | None:
    """Return the position in a session of the last chunk that a fork repeats at its beginning."""
    place = None
    for origin in origins:
        if origin is not None:
            if origin not in positions:
                break
            place = positions[origin]
    return place


def _below(reader: IndexReader, stored: StoredSession) -> list[StoredSession]:
    """Return the sessions whose ids continue that of a session."""
    return _best_copies(reader.find_sessions(stored.session.id + "/"), stored)


def _best_copies(found: Iterable[StoredSession], stored: StoredSession) -> list[StoredSession]:
    """Return those of a session's workstation, of several copies of one the best."""
    here = [one for one in found if one.session.workstation == stored.session.workstation]
    return list({one.session.id: one for one in sorted(here, key=copy_rank)}.values())


def _by_start(
    sessions: Sequence[StoredSession], chunks: Sequence[Sequence[Chunk]]
) -> list[tuple[StoredSession, Sequence[Chunk]]]:
    """Return sessions with their chunks in the order of their starts; without a time, one comes last."""
    return sorted(zip(sessions, chunks, strict=True), key=lambda pair: _start(pair[1]) or _NEVER)


def _parent(session: str, parent: str | None, numbers: dict[str, int]) -> int:
    """Return the number of the session that started a subagent, as far as the index knows it."""
    if parent in numbers and parent != session:
        return numbers[parent]
    while "/" in session:
        session = session.rpartition("/")[0]
        if session in numbers:
            return numbers[session]
    return 0


def _started_at(stored: StoredSession, chunks: Sequence[Chunk], above: Sequence[Chunk], taken: set[int]) -> int | None:
    """Return the position in a session where a subagent was started.

    It is the call with its first prompt, else the call whose result, or what else, names it, else the last call
    before it.

    :param taken: positions where others were started.
    """
    calls = [chunk for chunk in above if chunk.kind == "tool_call" and chunk.seq not in taken]
    prompt = next((chunk.text.strip()[:PROMPT] for chunk in chunks if chunk.kind == "message"), "")
    for call in calls:
        if prompt and prompt in call.text:
            return call.seq
    own = stored.session.id.rpartition("/")[2]
    by_id = {call.call_id: call.seq for call in calls if call.call_id}
    for chunk in above:
        if own in chunk.text:
            return by_id.get(chunk.call_id or "", chunk.seq)
    start = _start(chunks)
    before = [call for call in calls if start is not None and call.timestamp is not None and call.timestamp <= start]
    return before[-1].seq if before else None


def _start(chunks: Sequence[Chunk]) -> datetime | None:
    return next((chunk.timestamp for chunk in chunks if chunk.timestamp is not None), None)
