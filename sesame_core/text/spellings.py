"""The strings to search for when a query has a word: spellings of the same word, each a phrase."""

from __future__ import annotations

import functools
import re

from ..dataclass import dataclass
from . import folding
from .compounds import LONGEST, camel_parts
from .irregular import in_two_words, other_forms
from .tokens import SIGNED, emoji_words, has_word, is_cjk, is_emoji

#: Shortest name of a library before its `js`, with it, in characters less one: `d3js` has no letters only.
SHORTEST = 4


@dataclass(frozen=True, slots=True)
class _Patterns:
    """Patterns of words that are more than letters."""

    version: re.Pattern[str]
    #: Two words of letters that are often written as one: `dry-run`, `--dry_run`, `CI/CD`, `O'Reilly`, `node.js`.
    two: re.Pattern[str]
    #: A word with its number: `UTF-8`.
    numbered: re.Pattern[str]
    #: A number in groups of three digits, and one that could be written so.
    grouped: re.Pattern[str]
    long: re.Pattern[str]


@functools.cache
def _patterns() -> _Patterns:
    """Return the patterns, compiled at first use: most words are letters only."""
    return _Patterns(
        version=re.compile(r"([vV]?)(\d+\.\d[\w.+-]*)"),
        two=re.compile(
            r"-{0,2}([^\W\d_]+)[-_\u2010\u2011]([^\W\d_]{2,})"
            r"|([^\W\d_]{1,3})/([^\W\d_]{2,3})"
            r"|([^\W\d_])['\u2019]([^\W\d_]{3,})"
            r"|([^\W\d_]+)\.((?i:js|io))"
        ),
        numbered=re.compile(r"([A-Za-z]{2,})[-_](\d{1,4})"),
        grouped=re.compile(r"[1-9]\d{0,2}(?:[_,']\d{3})+"),
        long=re.compile(r"[1-9]\d{3,14}"),
    )


def alternatives(piece: str) -> tuple[str, ...]:
    """Return the strings to search for, each a phrase, when a query has this piece of a word.

    A trailing `*` makes a prefix.
    """
    if (lower := piece.lower()) in SIGNED:
        return (SIGNED[lower],)
    found = _beyond_ascii(piece) if not piece.isascii() else _letters(piece) if piece.isalpha() else _in_ascii(piece)
    if not piece.isalnum() and (match := _patterns().two.fullmatch(piece)):
        joined = "".join(filter(None, match.groups()))
        if len(joined) <= LONGEST:
            found = (*found, joined)
    return tuple(dict.fromkeys(found))


def _letters(piece: str) -> tuple[str, ...]:
    parts = () if piece.islower() else (camel_parts(piece),)
    script = (f"{piece[:-2]} {piece[-2:]}",) if piece[-2:].lower() == "js" and len(piece) > SHORTEST else ()
    return (piece, *parts, *filter(None, (in_two_words(piece),)), *other_forms(piece), *script)


def _in_ascii(piece: str) -> tuple[str, ...]:
    patterns = _patterns()
    if patterns.grouped.fullmatch(piece):
        return (piece, re.sub(r"\D", "", piece))
    if version := patterns.version.fullmatch(piece):
        return (piece, version[2] if version[1] else f"v{piece}")
    if patterns.long.fullmatch(piece):
        first = len(piece) % 3 or 3
        return (piece, " ".join([piece[:first], *(piece[i : i + 3] for i in range(first, len(piece), 3))]))
    if numbered := patterns.numbered.fullmatch(piece):
        return (piece, numbered[1] + numbered[2])
    parts = camel_parts(piece) if piece.isalnum() else ""
    return (piece, parts) if parts else (piece,)


def _beyond_ascii(piece: str) -> tuple[str, ...]:
    if is_emoji(piece):
        return (emoji_words(piece),)
    plain = folding.folded(piece) if folding.is_odd(piece) else piece
    if all(map(is_cjk, plain)):
        return (f"{plain}*",) if len(plain) == 1 else (_in_pairs(plain), *_with_spaces(plain))
    return (piece, plain) if plain != piece and has_word(plain) else (piece,)


def _in_pairs(run: str) -> str:
    return " ".join(run[i : i + 2] for i in range(len(run) - 1))


def _with_spaces(word: str) -> list[str]:
    """Return a Korean word as two: compounds are written with or without a space, and endings follow."""
    if not all("\uac00" <= letter <= "\ud7af" for letter in word) or len(word) > LONGEST:
        return []
    return [f"{word[:i]} {word[i:]}*" for i in range(2, len(word) - 1)]
