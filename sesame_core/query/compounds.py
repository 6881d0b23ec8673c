"""Words of a query that others write in one word, or in two: `web socket` and `websocket`, `dryrun` and `dry-run`.

A phrase of two words also finds `dry_run`, `--dry-run`, `CI/CD` and `dryRun`, whose parts are words of the index.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..dataclass import replace
from ..text.compounds import LONGEST
from ..text.irregular import is_particle
from ..types.query import Word
from .boolean import with_words
from .parser import STOP_WORDS

if TYPE_CHECKING:
    from ..plugin.backend import Counting
    from ..types.query import Query

#: Most words of a query whose neighbours are looked up as one word; a longer one has enough other words.
MAX_JOINED = 3
#: Shortest compound, in characters.
SHORTEST = 4
#: Most splits of one word that are searched for, the commonest first.
MAX_SPLITS = 2

_LETTERS = re.compile(r"[a-z]+")
_PAIR = re.compile(r"(?<!\S)([a-z]+)(?=\s+([a-z]+)(?!\S))")


def with_joined(query: Query, counts: Counting) -> Query:
    """Return the query in which a word also means itself and the next word in one, if that is how it is mostly written.

    Of 72 neighbouring words in the labelled queries that are one word somewhere, mostly in camelCase names, 70 are more
    often two; to search for `agentname` because of `agent name` lost the first place seven times.
    """
    joined = _joined(query)
    if not joined:
        return query
    # Those of the query, too, since a search asks for them next: two questions may be two round trips to a server.
    of_query = query.words if len(query.words) > 1 else ()
    often = dict(zip(joined, _counted(counts, list(joined), beside=of_query), strict=True))
    phrases = [f"{first} {second}" for text, (_, first, second) in joined.items() if often[text]]
    apart = dict(zip(phrases, _counted(counts, phrases), strict=True)) if phrases else {}
    changed: dict[Word, Word] = {}
    for text, (word, first, second) in joined.items():
        is_one = often[text] > apart.get(f"{first} {second}", 0) or (often[text] and is_particle(second))
        if is_one and text not in word.alternatives:
            former = changed.get(word, word)
            changed[word] = replace(former, alternatives=(*former.alternatives, text))
    if not changed:
        return query
    words = tuple(changed.get(word, word) for word in query.words)
    return replace(query, words=words, condition=query.condition and with_words(query.condition, changed))


def _joined(query: Query) -> dict[str, tuple[Word, str, str]]:
    """Return neighbouring words of a query as one, each with the `Word` of the first, and both."""
    texts = {word.text.lower(): word for word in query.words}
    found: dict[str, tuple[Word, str, str]] = {}
    for first, second in _PAIR.findall(query.text.lower()):
        is_pair = first in texts and ((second in texts and len(texts) <= MAX_JOINED) or is_particle(second))
        if is_pair and SHORTEST <= len(first + second) <= LONGEST:
            found[first + second] = (texts[first], first, second)
    return found


def splits(text: str, counts: Counting) -> list[str]:
    """Return a word as two words that stand next to each other somewhere, the commonest first."""
    if not SHORTEST <= len(text) <= LONGEST or not _LETTERS.fullmatch(text):
        return []
    pairs = [(text[:i], text[i:]) for i in range(1, len(text) - 1)]
    phrases = [f"{a} {b}" for a, b in pairs if a not in STOP_WORDS and (b not in STOP_WORDS or is_particle(b))]
    counted = zip(phrases, _counted(counts, phrases), strict=True)
    found = sorted(((-count, phrase) for phrase, count in counted if count))
    return [phrase for _, phrase in found[:MAX_SPLITS]]


def _counted(counts: Counting, phrases: Sequence[str], *, beside: Sequence[Word] = ()) -> list[int]:
    words = [Word(text=phrase, alternatives=(phrase,)) for phrase in phrases]
    return counts.frequencies([*words, *beside])[: len(words)]
