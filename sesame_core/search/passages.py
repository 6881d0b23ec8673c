"""Retrieves the passages of one session that are relevant to a question, from the index, in bounded size.

Each chunk is scored with BM25 over the session's own chunks: a word that is rare in this session counts, however
common it is elsewhere.  A match is returned with the messages before and after it, since the answer to a question
seldom repeats its words.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from ..dataclass import dataclass
from ..plugin.paging import all_chunks
from ..query.parser import parse
from ..text.snippets import occurrences, plain, snippet
from ..text.tokens import subwords
from ..types.query import Query
from .ranking import CLASS_WEIGHTS
from .rarest import with_rarest_words
from .windows import cut

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.index import Chunk

#: Default limit of all passages, in bytes of UTF-8.
BUDGET = 8192
#: Most bytes of a matching chunk that are returned: of a longer one its densest part.
MATCH_BYTES = 2048
#: Most bytes of a neighbour that are returned: its beginning.
NEIGHBOUR_BYTES = 768
#: Most matches that are considered; each takes at least 100 bytes, so more would not fit the largest sensible budget.
MATCHES = 64
#: Parameters of BM25, the same as in the backends.
K1, B = 1.2, 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcerptItem:
    """A chunk, or the part of it that is returned."""

    chunk: Chunk
    text: str
    is_truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A chunk that is relevant to a question, with its neighbours in the conversation."""

    match: ExcerptItem
    #: Relative to the best passage's, 0..1; 0 where nothing matched.
    score: float
    before: tuple[ExcerptItem, ...] = ()
    after: tuple[ExcerptItem, ...] = ()

    @property
    def items(self) -> tuple[ExcerptItem, ...]:
        """All items, in the order of the session."""
        return (*self.before, self.match, *self.after)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """The passages of a session for a question."""

    #: Best first.
    passages: tuple[Excerpt, ...]
    #: Why these: they contain words of the question ("question"), or none does and they are the session's beginning and
    #: end ("outline").
    basis: Literal["question", "outline"]
    words_not_found: tuple[str, ...]
    #: Number of chunks that contain a word of the question, and of all that were read.
    matches: int
    chunks: int


def find(reader: IndexReader, number: int, question: str, *, budget: int = BUDGET) -> Retrieval:
    """Return the passages of a session that are relevant to a question.

    :param number: the stored session's number.
    :param budget: most bytes of UTF-8 of all texts.
    """
    query = with_rarest_words(reader, parse(question))
    words = _Words(query)
    matches: list[_Match] = []
    spoken: list[int] = []
    count = length = 0
    for chunk in all_chunks(reader, number):
        count += 1
        length += len(chunk.text)
        if _is_said(chunk):
            spoken.append(chunk.seq)
        if frequencies := words.counted(chunk.text):
            weight = CLASS_WEIGHTS[chunk.weight_class]
            matches.append(_Match(chunk.seq, weight, len(chunk.text), frequencies))
    not_found = tuple(w.text for position, w in enumerate(query.words) if position not in words.seen)
    ranked = _ranked(matches, count, length)
    if ranked:
        passages = _excerpts(reader, number, ranked, spoken, query, budget)
    else:
        outline = dict.fromkeys([*spoken[:1], *spoken[-2:]])
        passages = _excerpts(reader, number, [(0.0, seq) for seq in outline], [], query, budget)
    return Retrieval(
        passages=passages,
        basis="question" if ranked else "outline",
        words_not_found=not_found,
        matches=len(matches),
        chunks=count,
    )


def positions(reader: IndexReader, number: int, text: str) -> tuple[list[int], bool]:
    """Return the positions in a session that have all words of a text, in order, and whether they do.

    Where nothing has all of them, it is those that have one.

    :param number: the stored session's number.
    """
    query = parse(text)
    words = _Words(query)
    parts = (re.findall(r"\w+", plain(word.text)) for word in query.words)
    phrases = [re.compile(r"[\W_]+".join(map(re.escape, part)), re.IGNORECASE) for part in parts if len(part) > 1]
    every: list[int] = []
    some: list[int] = []
    for chunk in all_chunks(reader, number) if query.words else ():
        if found := words.counted(chunk.text):
            has_all = len(found) == len(query.words) and all(phrase.search(plain(chunk.text)) for phrase in phrases)
            (every if has_all else some).append(chunk.seq)
    return every or some, bool(every)


@dataclass(frozen=True, slots=True)
class _Match:
    seq: int
    weight: float
    length: int
    #: Number of occurrences of each word of the query, by the word's position.
    frequencies: Counter[int]


class _Words:
    """Counts the words of a query in a text."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self._single = [Query(text=word.text, words=(word,)) for word in query.words]
        #: Position in the query of each word form met in a text.
        self._forms: dict[str, int] = {}
        #: Positions of the words that occurred.
        self.seen: set[int] = set()

    def counted(self, text: str) -> Counter[int]:
        """Return the number of occurrences of each word in a text, by position in the query."""
        found = self._positions(text)
        # Parts of camelCase names are not words of the text, but of the index.
        for position in self._positions(subwords(text)):
            found.setdefault(position, 1)
        self.seen.update(found)
        return found

    def _positions(self, text: str) -> Counter[int]:
        return Counter(self._position(text[start:end]) for start, end, _ in occurrences(text, self._query))

    def _position(self, form: str) -> int:
        form = form.lower()
        if form not in self._forms:
            fitting = (position for position, query in enumerate(self._single) if occurrences(form, query))
            self._forms[form] = next(fitting, 0)
        return self._forms[form]


def _ranked(matches: Sequence[_Match], count: int, length: int) -> list[tuple[float, int]]:
    """Return (score, position) of the best matches, best first, relative to the best."""
    holding = Counter(position for match in matches for position in match.frequencies)
    idf = {position: math.log(1 + (count - df + 0.5) / (df + 0.5)) for position, df in holding.items()}
    average = length / count if count else 1.0

    def score(match: _Match) -> float:
        norm = K1 * (1 - B + B * match.length / average)
        weighted = sum(idf[position] * tf * (K1 + 1) / (tf + norm) for position, tf in match.frequencies.items())
        return match.weight * weighted

    best = heapq.nlargest(MATCHES, ((score(match), -match.seq) for match in matches))
    return [(value / best[0][0], -seq) for value, seq in best]


def _excerpts(
    reader: IndexReader,
    number: int,
    ranked: Sequence[tuple[float, int]],
    spoken: Sequence[int],
    query: Query,
    budget: int,
) -> tuple[Excerpt, ...]:
    """Return passages up to the budget: first a match, then its neighbours; no chunk is returned twice."""
    taken: set[int] = set()
    passages: list[Excerpt] = []
    left = budget

    def take(seq: int, most: int, *, is_match: bool) -> ExcerptItem | None:
        nonlocal left
        most = min(most, left)
        chunks = reader.chunks([(number, seq, 1)])[0] if seq not in taken and most else []
        if not chunks:
            return None
        text = chunks[0].text
        if len(text.encode()) > most:
            # A part on one line is shorter than its characters, and each of them takes at most four bytes.
            text = cut(snippet(text, query, length=most).text if is_match else text, most)
        taken.add(seq)
        left -= len(text.encode())
        return ExcerptItem(chunk=chunks[0], text=text, is_truncated=text != chunks[0].text)

    for score, seq in ranked:
        match = take(seq, MATCH_BYTES, is_match=True)
        if match is None:
            continue
        before, after = _around(spoken, seq)
        passages.append(
            Excerpt(
                match=match,
                score=score,
                after=tuple(item for other in after if (item := take(other, NEIGHBOUR_BYTES, is_match=False))),
                before=tuple(item for other in before if (item := take(other, NEIGHBOUR_BYTES, is_match=False))),
            )
        )
    return tuple(passages)


def _around(spoken: Sequence[int], seq: int) -> tuple[Sequence[int], Sequence[int]]:
    """Return the positions of the nearest message before a chunk and of the two nearest after it."""
    from bisect import bisect_left, bisect_right

    first, last = bisect_left(spoken, seq), bisect_right(spoken, seq)
    return spoken[max(0, first - 1) : first], spoken[last : last + 2]


def _is_said(chunk: Chunk) -> bool:
    return chunk.kind == "message" and chunk.role in ("user", "assistant", "summary")
