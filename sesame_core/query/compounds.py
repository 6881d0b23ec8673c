"""Words of a query that others write in one word, or in two: `web socket` and `websocket`, `dryrun` and `dry-run`.

A phrase of two words also finds `dry_run`, `--dry-run`, `CI/CD` and `dryRun`, whose parts are words of the index.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..dataclass import replace
from ..text.compounds import LONGEST
from ..text.irregular import is_particle
from .boolean import with_words
from .parser import STOP_WORDS

if TYPE_CHECKING:
    from ..plugin.backend import CountsPhrases
    from ..types.query import Query, Word

#: Most pairs of neighbouring words that are looked up; a longer query has enough other words.
MAX_PAIRS = 8
#: Shortest compound, in characters.
SHORTEST = 4
#: Most splits of one word that are searched for, the commonest first.
MAX_SPLITS = 2

_LETTERS = re.compile(r"[a-z]+")
_PAIR = re.compile(r"(?<!\S)([A-Za-z]+)(?=\s+([A-Za-z]+)(?!\S))")


def with_joined(query: Query, counts: CountsPhrases) -> Query:
    """Return the query in which a word also means itself and the next word in one, if the index has that word."""
    texts = {word.text.lower(): word for word in query.words}
    joined: dict[Word, list[str]] = {}
    for first, second in _PAIR.findall(query.text)[:MAX_PAIRS]:
        word = texts.get(first.lower())
        is_pair = word is not None and (second.lower() in texts or is_particle(second))
        if word is not None and is_pair and SHORTEST <= len(first + second) <= LONGEST:
            joined.setdefault(word, []).append((first + second).lower())
    asked = [text for added in joined.values() for text in added]
    if not asked:
        return query
    known = {text for text, count in zip(asked, counts.frequencies(asked), strict=True) if count}
    changed = {
        word: replace(word, alternatives=(*word.alternatives, *more))
        for word, added in joined.items()
        if (more := [text for text in dict.fromkeys(added) if text in known and text not in word.alternatives])
    }
    if not changed:
        return query
    words = tuple(changed.get(word, word) for word in query.words)
    return replace(query, words=words, condition=query.condition and with_words(query.condition, changed))


def splits(text: str, counts: CountsPhrases) -> list[str]:
    """Return a word as two words that stand next to each other somewhere, the commonest first."""
    if not SHORTEST <= len(text) <= LONGEST or not _LETTERS.fullmatch(text):
        return []
    pairs = [(text[:i], text[i:]) for i in range(1, len(text) - 1)]
    phrases = [f"{a} {b}" for a, b in pairs if a not in STOP_WORDS and (b not in STOP_WORDS or is_particle(b))]
    counted = zip(phrases, counts.frequencies(phrases), strict=True)
    found = sorted(((-count, phrase) for phrase, count in counted if count))
    return [phrase for _, phrase in found[:MAX_SPLITS]]
