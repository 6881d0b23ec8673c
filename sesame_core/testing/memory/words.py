"""The full-text half of the backend in memory: terms, phrases, and BM25 as FTS5 computes it.

Terms are split, folded and stemmed as by SQLite's `porter unicode61`.  Of 273,119 words in Python's standard library
and its packages, 72 have another stem here (`technology`, `possibly`): FTS5's stemmer is Porter's with two later
rules, Snowball's "porter" and PostgreSQL's are the algorithm as published.
"""

from __future__ import annotations

import functools
import math
import re
import threading
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from ...types.query import Word

#: Consecutive terms, and whether the last one is a prefix.
Phrase: TypeAlias = tuple[tuple[str, ...], bool]
K = TypeVar("K")

#: BM25's parameters, and the idf of a phrase that more than half of all documents have; all three are FTS5's.
K1, B, LEAST_IDF = 1.2, 0.75, 1e-6
#: Bytes of the shortest and of the longest word that FTS5 stems.
SHORTEST, LONGEST = 3, 64

_WORD = re.compile(r"[^\W_]+")
_LOCK = threading.Lock()


class _Fold(dict[int, str]):
    """The plain form of each character: without the one accent of a Latin letter; combining marks are dropped."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        parts = unicodedata.normalize("NFD", character)
        if 0x300 <= code <= 0x331:
            character = ""
        elif len(parts) == 2 and parts[0].isascii() and parts[0].isalpha():
            character = parts[0]
        self[code] = character
        return character


_fold = _Fold()


def terms(text: str) -> list[str]:
    """Return the terms of a text in order."""
    text = text.lower()
    return [_stem(word) for word in _WORD.findall(text if text.isascii() else text.translate(_fold))]


@functools.lru_cache(100_000)
def _stem(word: str) -> str:
    if not SHORTEST <= len(word.encode("utf-8", "replace")) <= LONGEST:
        return word
    with _LOCK:  # the stemmer has state
        stem: str = _stemmer().stemWord(word)
        return stem


@functools.cache
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("porter")


def phrases(words: Iterable[Word]) -> list[Phrase]:
    """Return the phrases that count as one of the words, each once; `run` and `running` are two, as in FTS5."""
    texts = dict.fromkeys(text for word in words for text in word.alternatives)
    return [phrase for phrase in map(_phrase, texts) if phrase[0]]


@functools.lru_cache(10_000)
def _phrase(text: str) -> Phrase:
    return tuple(terms(text)), text.endswith("*")


class Document:
    """A text in columns, whose terms are computed at first use."""

    def __init__(self, *columns: str) -> None:
        self._texts = columns

    @functools.cached_property
    def columns(self) -> tuple[list[str], ...]:
        """The terms of each column, in order."""
        return tuple(map(terms, self._texts))

    @functools.cached_property
    def vocabulary(self) -> frozenset[str]:
        """The terms of all columns."""
        return frozenset(term for column in self.columns for term in column)

    @functools.cached_property
    def length(self) -> int:
        """The number of terms in all columns."""
        return sum(map(len, self.columns))

    def contains(self, word: Word) -> bool:
        """Return whether the document has one of a word's alternatives."""
        return any(self.frequency(phrase) for phrase in phrases([word]))

    def frequency(self, phrase: Phrase, weights: Sequence[float] = ()) -> float:
        """Return the number of occurrences of a phrase in the document.

        :param weights: the weight of an occurrence in each column; 1 in those without a weight.
        """
        (*whole, last), is_prefix = phrase
        if not self.vocabulary.issuperset(whole if is_prefix else phrase[0]):
            return 0.0
        padded = [*weights, *[1.0] * (len(self.columns) - len(weights))]
        return sum(w * _count(column, whole, last, is_prefix) for w, column in zip(padded, self.columns, strict=True))


def _count(column: Sequence[str], whole: list[str], last: str, is_prefix: bool) -> int:
    if not whole and not is_prefix:
        return column.count(last)
    ends = [i for i, term in enumerate(column) if term == last or (is_prefix and term.startswith(last))]
    return sum(i >= len(whole) and list(column[i - len(whole) : i]) == whole for i in ends)


def bm25(documents: Mapping[K, Document], words: Iterable[Word], weights: Sequence[float] = ()) -> dict[K, float]:
    """Return the BM25 of each document that has one of the words; higher is better.

    :param documents: all documents: the rarer a phrase is among them, the higher its idf.
    :param weights: the weight of a phrase in each column of a document.
    """
    average = sum(document.length for document in documents.values()) / max(1, len(documents))
    scores: dict[K, float] = {}
    for phrase in phrases(words):
        found = {key: n for key, document in documents.items() if (n := document.frequency(phrase, weights))}
        idf = max(LEAST_IDF, math.log((len(documents) - len(found) + 0.5) / (len(found) + 0.5)))
        for key, frequency in found.items():
            damping = K1 * (1 - B + B * documents[key].length / average)
            scores[key] = scores.get(key, 0.0) + idf * frequency * (K1 + 1) / (frequency + damping)
    return scores
