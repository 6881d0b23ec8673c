"""Forms of a word that share its beginning, in languages that the index does not stem: `ошибка` and `ошибки`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..text.folding import folded

if TYPE_CHECKING:
    from ..plugin.backend import Vocabulary

#: Shortest common beginning of two forms, in characters, and its least share of the word: `баз` of `база`.
SHARED, SHARE = 3, 0.6
#: The same in Latin letters, in which more languages are written, and more words look alike.
SHARED_LATIN, SHARE_LATIN = 4, 0.65
#: Longest ending of a form, in characters; the shortest beginning takes one character less.
ENDING = 3
#: Most forms of one word, those with the longest common beginning first, then the commonest.
MOST = 8
#: Most terms that are compared, the commonest first.
MAX_TERMS = 5_000


def is_inflected(text: str) -> bool:
    """Return whether a word is of letters with upper and lower case: languages that use them have endings."""
    plain = folded(text)
    return len(plain) > SHARED and plain.isalpha() and plain.upper() != plain


def forms(text: str, vocabulary: Vocabulary) -> list[str]:
    """Return the terms that may be forms of a word, without the word itself."""
    plain = folded(text)
    shortest, share = (SHARED_LATIN, SHARE_LATIN) if plain.isascii() else (SHARED, SHARE)
    least = max(shortest, -int(-share * len(plain) // 1), len(plain) - ENDING)
    if len(plain) < least:
        return []
    found = []
    for term, count in vocabulary.terms(plain[:least], MAX_TERMS):
        shared = _shared(plain, term)
        longest = ENDING - (shared == SHARED)
        if term not in (plain, text.lower()) and len(term) - shared <= longest and len(plain) - shared <= longest:
            found.append((-shared, -count, term))
    return [term for _, _, term in sorted(found)[:MOST]]


def _shared(one: str, other: str) -> int:
    """Return the length of the common beginning."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
