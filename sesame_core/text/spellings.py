"""The strings to search for when a query has a word: spellings of the same word, each a phrase."""

from __future__ import annotations

import re

from . import folding
from .compounds import LONGEST, camel_parts
from .irregular import in_two_words, other_forms
from .tokens import SIGNED, emoji_words, has_word, is_cjk, is_emoji

_VERSION = re.compile(r"([vV]?)(\d+\.\d[\w.+-]*)")
#: Two words of letters that are often written as one: `dry-run`, `--dry_run`, `CI/CD`, `O'Reilly`, `node.js`.
_TWO = re.compile(
    r"-{0,2}([^\W\d_]+)[-_\u2010\u2011]([^\W\d_]{2,})"
    r"|([^\W\d_]{1,3})/([^\W\d_]{2,3})"
    r"|([^\W\d_])['\u2019]([^\W\d_]{3,})"
    r"|([^\W\d_]+)\.((?i:js|io))"
)
#: A word with its number: `UTF-8`.
_NUMBERED = re.compile(r"([A-Za-z]{2,})[-_](\d{1,4})")
#: Numbers in groups of three digits, and the same without groups.
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:[_,']\d{3})+")
_LONG = re.compile(r"[1-9]\d{3,14}")
_SCRIPT = re.compile(r"([A-Za-z]{3,})(js)", re.IGNORECASE)
_HANGUL = re.compile("[\uac00-\ud7af]{4,12}")


def alternatives(piece: str) -> tuple[str, ...]:
    """Return the strings to search for, each a phrase, when a query has this piece of a word.

    A trailing `*` makes a prefix.
    """
    if (lower := piece.lower()) in SIGNED:
        return (SIGNED[lower],)
    found = _beyond_ascii(piece) if not piece.isascii() else _in_ascii(piece)
    if match := _TWO.fullmatch(piece):
        joined = "".join(filter(None, match.groups()))
        if len(joined) <= LONGEST:
            found = (*found, joined)
    return tuple(dict.fromkeys(found))


def _in_ascii(piece: str) -> tuple[str, ...]:
    if _GROUPED.fullmatch(piece):
        return (piece, re.sub(r"\D", "", piece))
    if version := _VERSION.fullmatch(piece):
        return (piece, version[2] if version[1] else f"v{piece}")
    if _LONG.fullmatch(piece):
        first = len(piece) % 3 or 3
        return (piece, " ".join([piece[:first], *(piece[i : i + 3] for i in range(first, len(piece), 3))]))
    if numbered := _NUMBERED.fullmatch(piece):
        return (piece, numbered[1] + numbered[2])
    if not piece.isalnum():
        return (piece,)
    if parts := [part for part in (camel_parts(piece), in_two_words(piece)) if part]:
        return (piece, *parts, *other_forms(piece), *_script(piece))
    return (piece,)


def _script(piece: str) -> tuple[str, ...]:
    """Return `node js` for `nodejs`."""
    match = _SCRIPT.fullmatch(piece)
    return (f"{match[1]} {match[2]}",) if match else ()


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
    if not _HANGUL.fullmatch(word):
        return []
    return [f"{word[:i]} {word[i:]}*" for i in range(2, len(word) - 1)]
