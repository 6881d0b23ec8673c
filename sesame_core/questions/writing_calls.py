"""Tool calls with what they wrote, found by the name of a file or by a line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from ..dataclass import replace
from ..search.grouping import copy_rank
from ..text.snippets import plain
from ..text.tokens import split
from ..tool_calls.call_edits import edits
from ..tool_calls.changes import Edit
from ..types.query import Condition, Filters, Word
from .finding import LONG_AGO, chunks_at, chunks_with, refused, word_of
from .reach import of_calls

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.index import Chunk, ScoredChunk, StoredSession

#: Most calls that are read for the name of a file; of more, the newest of the repository's sessions.
#: Reading and comparing a thousand takes a tenth of a second.
MOST = 1_000
#: Most calls that are read for a line, and words of it that are looked up.
OF_LINE, WORDS = 12, 8


class Call(NamedTuple):
    """One call, and what it wrote."""

    stored: StoredSession
    chunk: Chunk
    edits: tuple[Edit, ...]

    @property
    def place(self) -> tuple[int, int]:
        """The session's number, and the position."""
        return self.stored.number, self.chunk.seq

    @property
    def order(self) -> tuple[datetime, int, int]:
        """A sort key: when it was made."""
        session = self.stored.session
        return self.chunk.timestamp or session.modified or session.created or LONG_AGO, *self.place


class Calls:
    """The calls of an index that pass filters; each is read once."""

    def __init__(self, reader: IndexReader, filters: Filters) -> None:
        self._reader = reader
        self._filters = replace(of_calls(filters), all_kinds=True)
        self._seen: set[tuple[int, int]] = set()
        self._stored: dict[int, StoredSession] = {}
        #: The name of a file was in more calls than were read.
        self.is_truncated = False

    def naming(self, path: str, preferred: Condition) -> list[Call]:
        """Return calls that name a file, in any directory.

        A backend may read only the newest chunks that have all words of a phrase; those of a longer one are fewer.

        :param path: its path; calls with its last two parts come first, then those with the last one.
        :param preferred: what the sessions meet whose calls are read when there are too many.
        """
        parts = path.split("/")
        found: list[ScoredChunk] = []
        for text in dict.fromkeys(("/".join(parts[-2:]), parts[-1])):
            if (word := _phrase(text)) is not None:
                more = self._with(word, None, MOST)
                if len(more) >= MOST:
                    self.is_truncated = True
                    more = self._with(word, preferred, MOST) or more
                found += more
        return self._read(found)

    def with_line(self, line: str) -> list[Call]:
        """Return calls that have the words of a line side by side."""
        word = _phrase(line)
        return self._read(self._with(word, None, OF_LINE)) if word else []

    def failed(self, calls: Iterable[Call]) -> set[tuple[int, int]]:
        """Return the places of those calls that did nothing."""
        return refused(self._reader, ((call.stored.number, call.chunk) for call in calls))

    def _with(self, word: Word, condition: Condition | None, limit: int) -> list[ScoredChunk]:
        return chunks_with(self._reader, word, self._filters, limit, condition=condition).chunks

    def _read(self, found: Sequence[ScoredChunk]) -> list[Call]:
        places = list(dict.fromkeys((one.session, one.seq) for one in found))
        places = [place for place in places if place not in self._seen]
        self._seen.update(places)
        missing = {number for number, _ in places} - self._stored.keys()
        if missing:
            self._stored.update((stored.number, stored) for stored in self._reader.sessions(missing))
        calls = []
        for (number, _), chunk in chunks_at(self._reader, places).items():
            if chunk.kind == "tool_call" and number in self._stored and (wrote := edits(chunk.text)):
                calls.append(Call(self._stored[number], chunk, tuple(wrote)))
        return calls


def originals(calls: Sequence[Call]) -> tuple[list[Call], dict[tuple[int, int], list[str]]]:
    """Return calls without those that forks, resumed copies and other files of a session repeat.

    :return: the calls in order of time, and by the place of each the ids of the other sessions.
    """
    kept: dict[object, Call] = {}
    copies: dict[object, list[str]] = {}
    for call in calls:
        session = call.stored.session
        own = call.chunk.origin if call.chunk.origin is not None else (session.key, call.chunk.seq)
        other = kept.setdefault(own, call)
        if other is call:
            continue
        if _is_first(call, other):
            kept[own], call, other = call, other, call
        if other.stored.session.id != call.stored.session.id:
            copies.setdefault(own, []).append(call.stored.session.id)
    by_place = {kept[own].place: list(dict.fromkeys(ids)) for own, ids in copies.items()}
    return sorted(kept.values(), key=lambda call: call.order), by_place


def _is_first(one: Call, other: Call) -> bool:
    """Return whether a call is in the session that another one's continues; of one session, in its best file."""
    mine, others = one.stored.session, other.stored.session
    if mine.key == others.key:
        return copy_rank(one.stored) > copy_rank(other.stored)
    if mine.is_imported != others.is_imported:
        return others.is_imported
    return (mine.created or LONG_AGO, mine.id) < (others.created or LONG_AGO, others.id)


def _phrase(text: str) -> Word | None:
    """Return the words of a text side by side, of many the longest neighbours; None without one."""
    tokens = split(plain(text).lower())
    if len(tokens) > WORDS:
        starts = range(len(tokens) - WORDS + 1)
        start = max(starts, key=lambda start: sum(map(len, tokens[start : start + WORDS])))
        tokens = tokens[start : start + WORDS]
    text = " ".join(tokens)
    return word_of(text) if tokens else None
