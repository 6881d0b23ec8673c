"""The plain spelling of letters that databases do not fold: `ß` is ss, `ł` l, `ά` α, a full-width `Ａ` a.

Databases fold case and remove one accent from a Latin letter; this module does the rest, for the index and for
queries.  And what a text may have where it is shown: which characters, and how many.
"""

from __future__ import annotations

import functools
import re
import unicodedata

#: Letters whose plain spelling Unicode does not define.
_LETTERS = {"ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ё": "е"}
#: Combining characters: accents, Arabic hamza and madda, the parts of Korean syllables, marks of kana.
_JOINED = (("\u0300", "\u036f"), ("\u0653", "\u0655"), ("\u1100", "\u11ff"), ("\u3099", "\u309a"))
_GREEK_END = "\u0400"


class _Plain(dict[int, str]):
    """The plain spelling of lower-case characters; filled as characters occur."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        if _is_invisible(letter) or "\u0300" <= letter <= "\u036f":
            plain = ""
        else:
            # After Greek, a mark makes another letter: й is not и, が is not か.
            base = unicodedata.normalize("NFD", letter)[0]
            plain = base if base < _GREEK_END else letter
        self[code] = plain
        return plain


_plain = _Plain({ord(letter): plain for letter, plain in _LETTERS.items()})


def folded(text: str) -> str:
    """Return a text in lower case and plain spelling, without invisible characters and with single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().translate(_plain).split())


def is_odd(text: str) -> bool:
    """Return whether a text contains a character that databases do not fold."""
    return not text.isascii() and any(map(_is_odd, text))


@functools.cache
def _is_odd(letter: str) -> bool:
    if letter <= "\x7f":
        return False
    if _is_invisible(letter) or any(first <= letter <= last for first, last in _JOINED):
        return True
    plain = folded(letter)
    taken_apart = unicodedata.normalize("NFD", letter)
    is_accented_once = len(taken_apart) == 2 and plain == taken_apart[0].lower() and plain.isascii()
    return letter.isalnum() and plain != letter.lower() and not is_accented_once


def _is_invisible(letter: str) -> bool:
    """Return whether a character only affects how others are shown: a soft hyphen, a joiner, a zero-width space."""
    return unicodedata.category(letter) == "Cf"


# Not compiled here: JSON needs neither.
_ESCAPE = r"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|\[[0-?]*[ -/]*[@-~]|[ -/]*[0-~])"
_CONTROL = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"


def printable(text: str) -> str:
    """Return a string without characters that control a terminal or cannot be encoded.

    Removes escape sequences, control characters, bidirectional overrides and lone surrogates.
    """
    # Python calls none of these characters printable, and compiling both patterns takes 0.4 ms.
    if text.isprintable():
        return text
    return re.sub(_CONTROL, "", without_escapes(text))


def spaced(text: str) -> str:
    """Return what is seen of a string, on one line: its words with one space between them."""
    return " ".join(printable(text).split())


def without_escapes(text: str) -> str:
    """Return a string without what a terminal reads as colours, titles and links: sequences that begin with escape."""
    return re.sub(_ESCAPE, "", text) if "\x1b" in text else text


def shortened(text: str, most: int) -> str:
    """Return a string of at most this number of characters; of a longer one the beginning and an ellipsis."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
