"""The second look at the best sessions of a query: their texts are compared with what was typed.

What stands in a session word for word is found by its phrase, wherever BM25 ranks it: a line in a long output has a
low score.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ..dataclass import replace
from ..plugin.backend import Phrases
from ..text.snippets import plain
from ..text.tokens import split
from ..types.index import ScoredChunk
from ..types.query import Query, Word
from . import ranking
from .nearness import Level, Nearness, Typed

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.index import Candidates, Chunk
    from ..types.query import Filters
    from .ranking import Ranked

#: A phrase whose words are all in more chunks is not looked up: that takes up to 40 ms, and the line tells little.
COMMON = 8_000
#: Most chunks with the phrase that are read from the index, and most sessions with it that are looked at.
WITH_PHRASE = 600
SESSIONS = 60
#: Chunks of a session with the phrase that are compared in addition to its best ones; and of all sessions, until one
#: has the query character by character.
OF_PHRASE = 2
FURTHER = 150

#: Number of a session, and a position in it.
_Place: TypeAlias = tuple[int, int]


class SecondLook:
    """Compares the texts of the best sessions with a query.

    :param candidates: the chunks with the query's phrase are added to them.
    """

    def __init__(self, reader: IndexReader, query: Query, filters: Filters, candidates: Candidates) -> None:
        self._reader = reader
        frequencies = candidates.document_frequencies
        self._typed = Typed(query, [ranking.idf(df, candidates.chunk_total) for df in frequencies])
        word = self._typed.phrase(ranking.idf(min(COMMON, candidates.chunk_total), candidates.chunk_total))
        found = self._find(word, query, filters, candidates) if word else []
        self._with_phrase = dict.fromkeys((chunk.session, chunk.seq) for chunk in found)
        #: Numbers of the sessions with the phrase, newest first.
        self.sessions = list(dict.fromkeys(chunk.session for chunk in found))[:SESSIONS]
        known = {(chunk.session, chunk.seq) for chunk in candidates.chunks}
        candidates.chunks += [c for c in found if (c.session, c.seq) not in known and c.session in self.sessions]
        self._texts: dict[_Place, Chunk | None] = {}
        #: Number of sessions that are shown, and of their best chunks: these are read with those that are compared.
        self.shown = (0, 0)
        self._expected: list[_Place] = []
        self._nearness: dict[_Place, Nearness] = {}

    def order(self, ranked: Iterable[Ranked]) -> list[Ranked]:
        """Return the sessions in their final order; of each one the nearest chunks come first."""
        first = list(ranked)
        sessions, passages = self.shown
        self._expected = [(c.session, c.seq) for result in first[:sessions] for c in result.chunks[:passages]]
        places = {result.group: self._places(result, rank) for rank, result in enumerate(first)}
        self._compare([place for of_result in places.values() for place in of_result])
        if self._with_phrase and all(found.level < Level.CHARACTERS for found in self._nearness.values()):
            more = dict.fromkeys([place for place in self._with_phrase if place not in self._nearness][:FURTHER])
            self._compare(list(more))
            for result in first:
                places[result.group] += [place for c in result.chunks if (place := (c.session, c.seq)) in more]
        near: dict[int, Nearness] = {}
        for result in first:
            if found := [self._nearness[place] for place in places[result.group]]:
                near[result.group] = Nearness(max(n.level for n in found), max(n.share for n in found))
                result.chunks.sort(key=lambda chunk: -self._level((chunk.session, chunk.seq)))
        return ranking.look_again(first, near)

    def chunks(self, places: Sequence[_Place]) -> list[Chunk | None]:
        """Return chunks by place; None if there is none.  Each is read from the index once."""
        missing = [place for place in dict.fromkeys(places) if place not in self._texts]
        if missing:
            missing = list(dict.fromkeys([*missing, *(p for p in self._expected if p not in self._texts)]))
            self._expected = []
            for place, found in zip(missing, self._reader.chunks([(*place, 1) for place in missing]), strict=True):
                self._texts[place] = found[0] if found else None
        return [self._texts[place] for place in places]

    def _find(self, word: Word, query: Query, filters: Filters, candidates: Candidates) -> list[ScoredChunk]:
        if _is_whole(word, query) and len(candidates.chunks) == candidates.scanned:
            return sorted(candidates.chunks, key=lambda chunk: (chunk.session, chunk.seq), reverse=True)
        if isinstance(self._reader, Phrases):
            return self._reader.phrase(word, filters, query.condition, WITH_PHRASE)
        asked = Query(text=word.text, words=(word,), condition=query.condition)
        return [replace(chunk, score=0.0) for chunk in self._reader.candidates(asked, filters).chunks]

    def _places(self, result: Ranked, rank: int) -> list[_Place]:
        places = [(chunk.session, chunk.seq) for chunk in result.chunks]
        best = places[: ranking.BEST_CHUNKS] if rank < ranking.LOOKED_AT else []
        return list(dict.fromkeys([*best, *[place for place in places if place in self._with_phrase][:OF_PHRASE]]))

    def _compare(self, places: Sequence[_Place]) -> None:
        for place, chunk in zip(places, self.chunks(places), strict=True):
            if place not in self._nearness:
                is_whole = place in self._with_phrase
                self._nearness[place] = self._typed.nearness(chunk.text, is_whole=is_whole) if chunk else Nearness()

    def _level(self, place: _Place) -> int:
        return self._nearness[place].level if place in self._nearness else 0


def _is_whole(word: Word, query: Query) -> bool:
    """Return whether a query asks for a phrase and for nothing else: then its candidates are the chunks with it."""
    if len(query.words) != 1 or query.condition is not None or len(query.words[0].alternatives) != 1:
        return False
    (text,) = query.words[0].alternatives
    return not text.endswith("*") and split(plain(text).lower()) == split(word.text)
