"""How an error was fixed: its occurrences, what was done after each, and whether that held."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..dataclass import dataclass, replace
from ..plugin.backend import IndexReader
from ..tool_calls.results import is_quoted
from ..types.fixes import Fix, Fixes, Seen
from ..types.query import Filters, is_within
from . import finding
from .episodes import Episode, episodes
from .errors import asked_lines
from .reach import of_role, tell
from .wanted import Level, Wanted

if TYPE_CHECKING:
    from ..types.index import Chunk, ChunkRange, StoredSession
    from .errors import ErrorLine
    from .finding import Place

#: Chunks with a phrase of the error that are read, for each of its lines; and those that a search adds.
FOUND, SEARCHED = 120, 60
#: Occurrences of the same error that are enough not to search for similar ones.
ENOUGH = 3
#: Stretches of sessions that are followed, and positions of each: most errors end within a hundred.
STRETCHES = 24
BEFORE, AFTER, FURTHER = 12, 90, 260

#: The order of outcomes; one that came back is one later, and what is like the call that failed one earlier.
OUTCOMES = {"verified": 0, "passed": 0, "replaced": 2, "unresolved": 5}


@dataclass(slots=True)
class _Occurrence:
    place: Place
    chunk: Chunk
    level: Level
    share: float
    line: ErrorLine


def find(
    reader: IndexReader,
    text: str,
    filters: Filters,
    *,
    here: frozenset[str] = frozenset(),
    limit: int,
    offset: int = 0,
) -> Fixes:
    """Return what was done after an error, or one like it.

    :param text: the error as it was pasted, of any number of lines.
    :param here: the directories of the repository around the present directory, under all their names.
    """
    lines = asked_lines(text)
    answer = Fixes(about=text, lines=tuple(line.text for line in lines))
    if not any(line.words for line in lines):
        answer.basis.hints = ("the error has no words to look for: paste a line of it",)
        return answer
    with reader.snapshot():
        wanted = Wanted(lines, finding.rarity(reader, (word for line in lines for word in line.words)))
        occurrences = _occurrences(reader, wanted, filters, answer)
        stored = finding.sessions_of(reader, (one.place[0] for one in occurrences))
        occurrences = [one for one in occurrences if one.place[0] in stored]
        same = [one for one in occurrences if one.level is Level.SAME]
        answer.basis.sessions = len({one.place[0] for one in occurrences})
        answer.occurrences = len(same)
        followed = _followed(reader, wanted, stored, occurrences, answer)
        fixes = _fixes(followed, stored, same, here)
        answer.basis.total, answer.fixes = len(fixes), tuple(fixes[offset : offset + limit])
        tell(answer.basis, reader, filters, is_empty=not occurrences)
    return answer


def _occurrences(reader: IndexReader, wanted: Wanted, filters: Filters, answer: Fixes) -> list[_Occurrence]:
    """Return where the error occurred, the same before similar ones, the newest first."""
    results, said = of_role(filters, "tool"), of_role(filters, "user")
    places: dict[Place, None] = {}
    for line in wanted.lines:
        word = finding.phrase_of(line.key, wanted.weights)
        if word is None:
            continue
        for within, most in ((results, FOUND), (said, FOUND // 4)):
            found, is_whole = finding.with_phrase(reader, word, within, most)
            answer.basis.is_truncated |= not is_whole
            places.update(dict.fromkeys(found))
    read = _read(reader, wanted, places)
    if sum(one.level is Level.SAME for one in read) < ENOUGH:
        query = finding.query_of(reader, [word for line in wanted.lines[:2] for word in line.words])
        if query.words:
            candidates = reader.candidates(query, results)
            answer.basis.left_out = candidates.left_out
            more = [(chunk.session, chunk.seq) for chunk in candidates.chunks[:SEARCHED]]
            read += _read(reader, wanted, dict.fromkeys(place for place in more if place not in places))
    return sorted(read, key=lambda one: (one.level, one.chunk.timestamp or finding.LONG_AGO, one.place), reverse=True)


def _read(reader: IndexReader, wanted: Wanted, places: Iterable[Place]) -> list[_Occurrence]:
    found = []
    for place, chunk in finding.originals_at(reader, places).items():
        if not is_quoted(chunk) and (match := wanted.find(chunk.text)):
            found.append(_Occurrence(place, chunk, *match))
    return found


def _followed(
    reader: IndexReader,
    wanted: Wanted,
    stored: dict[int, StoredSession],
    occurrences: Sequence[_Occurrence],
    answer: Fixes,
) -> list[tuple[int, Episode]]:
    """Return the episodes of the occurrences, with the number of their session."""
    stretches = _stretches(occurrences, AFTER)
    answer.basis.is_truncated |= len(stretches) > STRETCHES
    stretches = stretches[:STRETCHES]
    found: list[tuple[int, Episode]] = []
    open_ones: list[tuple[int, Sequence[Chunk]]] = []
    for (number, _, _), chunks in zip(stretches, reader.chunks(stretches), strict=True):
        read = episodes(_live(stored[number], chunks), wanted)
        if chunks and _is_open(stored[number], chunks[-1], read):
            open_ones.append((number, chunks))
        else:
            found += [(number, one) for one in read]
    further = [(number, chunks[-1].seq + 1, FURTHER) for number, chunks in open_ones]
    for (number, begun), more in zip(open_ones, reader.chunks(further), strict=True):
        found += [(number, one) for one in episodes(_live(stored[number], [*begun, *more]), wanted)]
    unique = {(number, one.first.seq): (number, one) for number, one in found}
    return list(unique.values())


def _is_open(stored: StoredSession, last: Chunk, read: Iterable[Episode]) -> bool:
    """Return whether what follows a stretch may end one of its episodes."""
    is_whole = last.seq + 1 >= stored.chunk_count
    return not is_whole and any(one.outcome in ("unresolved", "replaced") for one in read)


def _live(stored: StoredSession, chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return the chunks of the branches that were not abandoned; all, if an abandoned one is asked about."""
    abandoned = set(stored.session.abandoned or ())
    live = [chunk for chunk in chunks if chunk.segment not in abandoned]
    return live or list(chunks)


def _stretches(occurrences: Sequence[_Occurrence], after: int) -> list[ChunkRange]:
    """Return the stretches of sessions around occurrences, in the order of these; those nearby share one."""
    starts: dict[int, list[int]] = {}
    found: list[ChunkRange] = []
    by_session: dict[int, list[int]] = {}
    for one in occurrences:
        by_session.setdefault(one.place[0], []).append(one.place[1])
    for number, positions in by_session.items():
        for position in sorted(positions):
            if not starts.get(number) or position >= starts[number][-1] + after - BEFORE:
                starts.setdefault(number, []).append(position)
    for one in occurrences:
        number, position = one.place
        start = max((start for start in starts[number] if start <= position), default=position)
        stretch = (number, max(0, start - BEFORE), after + min(BEFORE, start))
        if stretch not in found:
            found.append(stretch)
    return found


def _fixes(
    followed: Sequence[tuple[int, Episode]],
    stored: dict[int, StoredSession],
    same: Sequence[_Occurrence],
    here: frozenset[str],
) -> list[Fix]:
    """Return the fixes, best first, of equal ones those of here; occurrences of one error with one remedy are one."""

    def order(fix: Fix) -> tuple[int, int, bool, float]:
        rank = OUTCOMES[fix.outcome] - fix.is_akin + bool(fix.came_back)
        is_here = any(is_within(place, here) for place in fix.seen.stored.session.places)
        return -fix.is_same, rank, not is_here, -(fix.seen.at or finding.LONG_AGO).timestamp()

    groups: dict[tuple[object, ...], list[Fix]] = {}
    for number, episode in followed:
        fix = _fix(number, episode, stored[number], stored, same)
        key = (episode.line.cause, episode.outcome == "unresolved", episode.remedy or (number, episode.first.seq))
        groups.setdefault(key, []).append(fix)
    found = []
    for group in groups.values():
        group.sort(key=order)
        best, *rest = group
        others = sorted((fix.seen for fix in rest), key=lambda seen: seen.at or finding.LONG_AGO, reverse=True)
        found.append(replace(best, others=tuple(others)))
    return sorted(found, key=order)


def _fix(
    number: int,
    episode: Episode,
    mine: StoredSession,
    stored: dict[int, StoredSession],
    same: Sequence[_Occurrence],
) -> Fix:
    ended = Seen(stored=mine, position=episode.end.seq, at=episode.end.timestamp) if episode.end else None
    return Fix(
        line=episode.line.text,
        is_same=episode.level is Level.SAME,
        seen=finding.seen(episode.first, mine),
        command=(episode.call.command or episode.call.text) if episode.call else "",
        outcome=episode.outcome,
        is_akin=episode.is_akin,
        steps=episode.steps,
        ended=ended,
        why=episode.said,
        why_position=episode.why.seq if episode.why else None,
        came_back=_later(number, episode, mine, stored, same) if ended else (),
    )


def _later(
    number: int,
    episode: Episode,
    mine: StoredSession,
    stored: dict[int, StoredSession],
    same: Sequence[_Occurrence],
) -> tuple[Seen, ...]:
    """Return where the same error occurred in this project after an episode, the first time first."""
    assert episode.end is not None
    end, here = finding.seen(episode.end, mine).at or finding.LONG_AGO, finding.project(mine)
    found = []
    for one in same:
        other, position = one.place
        if one.line.cause != episode.line.cause or finding.project(stored[other]) != here:
            continue
        seen = finding.seen(one.chunk, stored[other])
        is_later = position > episode.end.seq if other == number else (seen.at or finding.LONG_AGO) > end
        if is_later:
            found.append(seen)
    return tuple(sorted(found, key=lambda seen: (seen.at or finding.LONG_AGO, seen.position)))
