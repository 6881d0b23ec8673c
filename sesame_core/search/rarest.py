"""Chooses the words of a long query that are searched for: of a pasted text the rarest, since they tell it apart."""

from __future__ import annotations

from ..dataclass import replace
from ..plugin.backend import Counting, IndexReader
from ..query.boolean import positive_words
from ..query.parser import MAX_WORDS
from ..types.query import Query


def with_rarest_words(reader: IndexReader, query: Query) -> Query:
    """Return a query with at most `MAX_WORDS` words, those that the condition requires and the rarest, in their order.

    Words that the index does not have come last.  With a backend that cannot count words, the first are chosen.
    """
    if len(query.words) <= MAX_WORDS:
        return query
    frequencies = reader.frequencies(query.words) if isinstance(reader, Counting) else [1] * len(query.words)
    needed = set(positive_words(query.condition))
    places = sorted(
        range(len(query.words)),
        key=lambda place: (query.words[place] not in needed, not frequencies[place], frequencies[place]),
    )
    chosen = sorted(places[:MAX_WORDS])
    left = len(query.words) - len(chosen)
    hint = f"{left} of {len(query.words)} words were not searched for: the {MAX_WORDS} rarest were"
    return replace(query, words=tuple(query.words[place] for place in chosen), hints=(*query.hints, hint))
