"""How near a text comes to a query: the words as they were typed, side by side, in order.

BM25 knows no order and no spelling: `createdAt` counts as much as `create`, and words from both ends of a long output
as much as neighbours.  A pasted line needs both, so the texts of the best sessions are compared with the query itself.

    share = (1 - PAIRS) · Σ idf of the words that the text has as typed, half of it for another form / Σ idf
          + PAIRS · Σ idf of the pairs of neighbouring words that stand together in the text / Σ idf of all pairs

The idf of a pair is that of its commoner word; of one word alone only the first sum counts.  A text that has the whole
query word for word has a `Level`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from itertools import compress, pairwise

from ..dataclass import dataclass
from ..text.snippets import plain
from ..text.tokens import STEM, is_cjk, light_stem, split
from ..types.query import Query, Word

#: Part of the pairs in the share, and what another form of a word counts.  With parts of .5 to .85 and forms of .5 or
#: .7, the labelled queries are ranked alike, but for two of 112 at rank 1.
PAIRS = 0.85
OTHER_FORM = 0.5
#: Most words from the first to the second of a pair: one other word may stand between them.
GAP = 2
#: Words that are looked up as a phrase, of a longer query its rarest neighbours; twice as many take half as long again.
PHRASE = 4
#: Characters of a text that are compared; of one that was found as a phrase all are.
COMPARED = 8_000
#: Fewest characters of scripts without spaces that count as several words.
UNSPACED = 4


class Level(IntEnum):
    """How much of a whole query a text has word for word."""

    NONE = 0
    #: Its characters, but the first or the last word is a part of a longer one: it was copied so.
    CUT = 1
    #: Its words, next to each other, in order.
    WORDS = 2
    #: Its characters, except for case and white space.
    CHARACTERS = 3


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near one text comes to a query."""

    level: Level = Level.NONE
    #: 0..1, see the module.
    share: float = 0.0


class Typed:
    """A query as it was typed, to compare with many texts.

    :param idf: the inverse document frequency of each of the query's words.
    """

    def __init__(self, query: Query, idf: Sequence[float]) -> None:
        text = plain(query.typed).lower()
        self._tokens = split(text)
        self._pieces = text.split()
        self._characters = " ".join(self._pieces)
        self._is_text = len(self._tokens) > 1 or sum(map(is_cjk, query.typed)) >= UNSPACED
        self._idf: dict[str, float] = {}
        #: For each stem of a word, and of each of its other forms, the word's tokens.
        self._stems: dict[str, str] = {}
        self._begun: list[tuple[str, str]] = []
        for word, value in zip(query.words, idf, strict=True):
            self._learn(word, value)
        told = [token for token in self._tokens if token in self._idf] or list(self._idf)
        self._before: dict[str, list[tuple[str, float]]] = {}
        for first, second in dict.fromkeys(pairwise(told)):
            if first != second:
                self._before.setdefault(second, []).append((first, min(self._idf[first], self._idf[second])))
        self._all_words = sum(self._idf.values())
        self._all_pairs = sum(value for pairs in self._before.values() for _, value in pairs)
        # A text that was copied may begin and end within a word.
        self._known = {token for token in self._tokens if token in self._idf}
        self._needed = self._known.intersection(self._tokens[1:-1])
        self._words = _Words(self._idf, self._stems, self._begun)

    def _learn(self, word: Word, value: float) -> None:
        own = split(plain(word.text))
        for token in own:
            self._idf[token] = max(value, self._idf.get(token, 0.0))
            self._stems.setdefault(light_stem(token), token)
        if len(own) != 1:
            return
        for other in word.alternatives:
            forms = split(plain(other))
            if len(forms) == 1 and other.endswith("*"):
                self._begun.append((forms[0], own[0]))
            elif len(forms) == 1:
                self._stems.setdefault(light_stem(forms[0]), own[0])

    def phrase(self, least: float = 0.0) -> Word | None:
        """Return the words that a text must have to have the query word for word; None where no text can have it.

        Of a long query these are its rarest neighbours; its first and its last word, which may be cut, are not used.

        :param least: the inverse document frequency that one of them must have.
        """
        if not self._is_text or len(self._tokens) < 2:
            return None
        tokens = self._tokens
        if len(tokens) > PHRASE:
            inner = tokens[1:-1] if len(tokens) > PHRASE + 1 else tokens
            # Stop words have no frequency: they are the commonest.
            rarities = [self._idf.get(token, -1.0) for token in inner]
            starts = range(len(inner) - PHRASE + 1)
            start = max(starts, key=lambda start: _rarity(rarities[start : start + PHRASE]))
            tokens = inner[start : start + PHRASE]
        if max(self._idf.get(token, 0.0) for token in tokens) < least:
            return None
        text = " ".join(tokens)
        return Word(text=text, alternatives=(text,))

    def nearness(self, text: str, *, is_whole: bool = False) -> Nearness:
        """Return how near a text comes.

        :param is_whole: compare all of it, and not its beginning.
        """
        text = plain(text if is_whole else text[:COMPARED]).lower()
        tokens = split(text)
        before = self._before
        self._words.learn(tokens)
        # Few tokens of a text are words of the query.
        words = list(map(self._words.get, tokens))
        places: dict[str, int] = {}
        typed: set[str] = set()
        pairs: set[tuple[str, str]] = set()
        pair_sum = 0.0
        for place, word in compress(enumerate(words), words):
            assert word is not None
            if word == tokens[place]:
                typed.add(word)
            for first, value in before.get(word, ()):
                if place - places.get(first, -GAP - 1) <= GAP and (first, word) not in pairs:
                    pairs.add((first, word))
                    pair_sum += value
            places[word] = place
        found = sum(self._idf[word] if word in typed else OTHER_FORM * self._idf[word] for word in places)
        share = found / self._all_words if self._all_words else 0.0
        if self._all_pairs:
            share = (1 - PAIRS) * share + PAIRS * pair_sum / self._all_pairs
        return Nearness(self._level(text, tokens, typed), share)

    def _level(self, text: str, tokens: list[str], typed: set[str]) -> Level:
        if not self._is_text or not self._needed <= typed:
            return Level.NONE
        # Most texts lack one of its pieces, which is known sooner than the place of all white space.
        has_pieces = all(piece in text for piece in self._pieces)
        has_characters = has_pieces and (self._characters in text or self._characters in " ".join(text.split()))
        has_words = self._known <= typed and f" {' '.join(self._tokens)} " in f" {' '.join(tokens)} "
        # Without spaces between words nothing tells where one ends.
        if len(self._tokens) < 2:
            return Level.CHARACTERS if has_characters else Level.NONE
        if has_words:
            return Level.CHARACTERS if has_characters else Level.WORDS
        return Level.CUT if has_characters else Level.NONE


def _rarity(values: Sequence[float]) -> float:
    """Return a measure of the number of entries that an index has for some words: minus its logarithm."""
    return -math.log(sum(math.exp(-value) for value in values))


class _Words(dict[str, str]):
    """The words of a query that tokens of texts are, or are other forms of."""

    def __init__(self, words: Iterable[str], stems: Mapping[str, str], begun: Sequence[tuple[str, str]]) -> None:
        super().__init__({word: word for word in words})
        self._stems = stems
        self._begun = begun
        self._beginnings = tuple(beginning for beginning, _ in begun)
        self._heads = {stem[:STEM] for stem in stems}
        self._known = set(self)

    def learn(self, tokens: Iterable[str]) -> None:
        """Add those tokens that are words of the query."""
        new = set(tokens).difference(self._known)
        self._known |= new
        heads, beginnings = self._heads, self._beginnings
        # Most are none, which their first letters tell.
        for token in [token for token in new if token[:STEM] in heads or token.startswith(beginnings)]:
            word = self._stems.get(light_stem(token)) if token[:STEM] in heads else None
            if word is None and token.startswith(beginnings):
                word = next(word for beginning, word in self._begun if token.startswith(beginning))
            if word is not None:
                self[token] = word
