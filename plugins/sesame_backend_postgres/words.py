"""Prepares texts and words for PostgreSQL, so that it splits and matches them as FTS5 does.

Its parser would read `config.ts` as a host and `<b>` as a tag; it cannot misread a text of letters, digits and
spaces.  Words are split and folded as by FTS5's `unicode61`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from sesame_core.text.tokens import LOWER, clean
from sesame_core.types.query import Word

#: Most bytes of one word; PostgreSQL leaves longer ones (2,047) out of the index, and rejects them in a query.
LONGEST = 2_000
#: Characters of a text whose words are indexed: a word list has at most a megabyte.  The text itself is stored whole.
LONGEST_TEXT = 400_000
#: Most words of one query; further ones would only cost time.
MOST = 64

# Combining marks of the letter before them.
_FIRST_MARK, _LAST_MARK = 768, 817


class _Fold(dict[int, str]):
    """Maps a character to its plain form; cached."""

    def __missing__(self, code: int) -> str:
        character = chr(code).lower()
        parts = unicodedata.normalize("NFD", character)
        if _FIRST_MARK <= code <= _LAST_MARK:
            character = ""
        elif len(parts) == 2 and parts[0].isascii() and parts[0].isalpha():
            character = parts[0]
        elif not character.isalnum():
            # Of a letter whose lower case has two characters (`İ`), the first one is the letter.
            character = character[0] if character[0].isalnum() else " "
        self[code] = character
        return character


_fold = _Fold()


def plain(text: str) -> str:
    """Return a text's words in lower case without accents, separated by spaces."""
    if text.isascii():
        return text.encode().translate(LOWER).decode()
    return clean(text).translate(_fold)


def count(text: str) -> int:
    """Return the number of words in a plain text."""
    return len(text.split())


def phrase(text: str) -> str | None:
    """Return the tsquery, before stemming, of a phrase; a final `*` makes its last word a prefix.

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
    return either(phrases(words)) or None


def either(phrases: Iterable[str]) -> str:
    """Return the tsquery of a text with at least one of the phrases; "" for none."""
    return " | ".join(f"({made})" for made in phrases)


def has_order(phrase: str) -> bool:
    """Return whether a phrase has several words, whose order an index of words does not have."""
    return "<->" in phrase


def without_order(query: str) -> str:
    """Return the SQL of a tsquery without the order of its words, which an index of words can evaluate."""
    return f"replace(regexp_replace({query}::text, '<\\d+>|<->', '&', 'g'), '&&', '&')::tsquery"


def is_ordered(query: str) -> str:
    """Return the SQL condition that a tsquery has a phrase, whose order an index of words does not have."""
    return f"{query}::text LIKE '%%<%%'"
