"""Texts and words as PostgreSQL is given them, so that it cuts and matches them as FTS5 does.

Its parser would read `config.ts` as a host and `<b>` as a tag; a text of letters, digits and spaces leaves it
nothing to misread.  What a word is and how letters are folded is that of FTS5's `unicode61`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from sesame_core.text.tokens import clean
from sesame_core.types.query import Word

#: Bytes of one word; PostgreSQL leaves longer ones (2,047) out of the index, and refuses them in a query.
LONGEST = 2_000
#: Words of one query; what comes behind would only cost time.
MOST = 64

_ASCII = bytes(ord(chr(c).lower()) if chr(c).isalnum() else 32 for c in range(128)) + bytes(128)
# Combining marks that belong to the letter before them.
_FIRST_MARK, _LAST_MARK = 768, 817


class _Fold(dict[int, str]):
    """Maps a character to what stands for it; worked out once for each."""

    def __missing__(self, code: int) -> str:
        character = chr(code).lower()
        parts = unicodedata.normalize("NFD", character)
        if _FIRST_MARK <= code <= _LAST_MARK:
            character = ""
        elif len(parts) == 2 and parts[0].isascii() and parts[0].isalpha():
            character = parts[0]
        elif not character.isalnum():
            # Of letters that become two when small (`İ`), the first one is a letter.
            character = character[0] if character[0].isalnum() else " "
        self[code] = character
        return character


_fold = _Fold()


def plain(text: str) -> str:
    """Return a text's words in small letters without accents, separated by spaces."""
    if text.isascii():
        return text.encode().translate(_ASCII).decode()
    return clean(text).translate(_fold)


def count(text: str) -> int:
    """Return the number of words in a plain text."""
    return len(text.split())


def phrase(text: str) -> str | None:
    """Return the tsquery, before stemming, of words that follow each other; a final `*` makes the last a prefix.

    None when it can match nothing.
    """
    words = plain(text).split()
    if not words or any(len(word.encode()) > LONGEST for word in words) or len(words) > MOST:
        return None
    return " <-> ".join(f"'{word}'" for word in words) + (":*" if text.endswith("*") else "")


def phrases(words: Iterable[Word]) -> list[str]:
    """Return the tsqueries of all alternatives of some words, each once."""
    return [made for made in dict.fromkeys(phrase(t) for word in words for t in word.alternatives) if made]


def any_of(words: Iterable[Word]) -> str | None:
    """Return the tsquery of a text with at least one of the words; None when no text has one."""
    return " | ".join(f"({made})" for made in phrases(words)) or None


def without_order(query: str) -> str:
    """Return the SQL of a tsquery's words whatever their order: what a text must have for the index to find it."""
    return f"replace(regexp_replace({query}::text, '<\\d+>|<->', '&', 'g'), '&&', '&')::tsquery"


def is_ordered(query: str) -> str:
    """Return the SQL condition that a tsquery asks for words in an order, which an index of words does not know."""
    return f"{query}::text LIKE '%%<%%'"
