"""What counts as a word, the same for indexing and for asking, on every backend.

Backends split text at everything that is not a letter or a digit, fold case and accents, and stem with
Porter.  That alone loses the parts of camelCase names and all words of scripts without spaces; `subwords`
writes those out beside the text, and `alternatives` asks for them.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

#: Letters of scripts without spaces between words, as the inside of a character class.
CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0002ffff"
#: Bytes of UTF-8 that begin or continue letters before these scripts.
_BEFORE_CJK = bytes(range("\u3040".encode()[0]))
_CAMEL_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_HAS_WORD = re.compile(r"[^\W_]")

#: Endings of English words, longest first, and the letters that must be left when one is taken off.
ENDINGS = tuple("ations ation ingly edly ings ying ied ies ing ers ed er es ly s y e".split())
STEM = 3

# ASCII text as classes: 1 small letter or digit, 2 capital, 0 anything else.
_CLASSES = bytes(2 if chr(c).isupper() else 1 if chr(c).isalnum() else 0 for c in range(128)) + bytes(128)
#: What stands inside a camelCase word, each with a part of it that is found faster when it is not there.
_HUMPS = ((b"\1\2", b"\1\2"), (b"\2\2\1", b"\2\2"))


class _Cjk(NamedTuple):
    """Patterns for scripts without spaces."""

    run: re.Pattern[str]
    beside: re.Pattern[str]
    run_or_other: re.Pattern[str]


@functools.cache
def _cjk() -> _Cjk:
    """Return the patterns, compiled when first needed: that takes longer than a search for English words."""
    return _Cjk(
        re.compile(f"[{CJK}]+"),
        re.compile(f"[^\\W_{CJK}]+(?=[{CJK}])|(?<=[{CJK}])[^\\W_{CJK}]+"),
        re.compile(f"[{CJK}]+|[^{CJK}]+"),
    )


_parts_of: dict[str, str] = {}
#: Words whose parts are remembered; the memory is emptied when it is full.
_MEMO_SIZE = 50_000


def clean(text: str) -> str:
    """Return text that every database takes: no NUL, no lone surrogates."""
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def subwords(text: str) -> str:
    """Return the words inside words: parts of camelCase names and CJK bigrams, each once, space-separated."""
    found: dict[str, None] = {}
    classes = text.encode("ascii", "replace").translate(_CLASSES)
    find, rfind = classes.find, classes.rfind
    for hump, part in _HUMPS:
        position = find(part)
        if position >= 0:
            position = find(hump, position)
        while position >= 0:
            end = find(0, position)
            if end < 0:
                end = len(classes)
            found[text[rfind(0, 0, position) + 1 : end]] = None
            position = find(hump, end)
    words = [camel_parts(word) for word in found if len(word) <= 100]
    if has_cjk(text):
        cjk = _cjk()
        words += [_bigrams(run) for run in dict.fromkeys(cjk.run.findall(text))]
        words += dict.fromkeys(cjk.beside.findall(text))
    return " ".join(words)


def has_cjk(text: str) -> bool:
    """Tell whether a text has letters of a script without spaces."""
    if text.isascii() or not text.encode("utf-8", "surrogatepass").translate(None, _BEFORE_CJK):
        return False
    return _cjk().run.search(text) is not None


def camel_parts(word: str) -> str:
    """Return the parts of a camelCase word, space-separated: `HTTPServerError` → `HTTP Server Error`."""
    parts = _parts_of.get(word)
    if parts is None:
        if len(_parts_of) >= _MEMO_SIZE:
            _parts_of.clear()
        parts = _parts_of[word] = " ".join(_CAMEL_PART.findall(word))
    return parts


def _bigrams(run: str) -> str:
    """Return a run's overlapping pairs and its last character, so that pairs and single characters are found."""
    return " ".join([run[i : i + 2] for i in range(len(run) - 1)] + [run[-1]])


def pieces(word: str) -> list[str]:
    """Split a word of a query where its script changes; drop what holds no letter or digit."""
    if word.isascii():
        return [word] if _HAS_WORD.search(word) else []
    return [piece for piece in _cjk().run_or_other.findall(word) if _HAS_WORD.search(piece)]


def alternatives(piece: str) -> tuple[str, ...]:
    """Return the texts to look for, each a phrase, when a person asks for this piece of a word.

    A trailing `*` asks for a prefix.
    """
    if not piece.isascii() and _cjk().run.fullmatch(piece):
        return (f"{piece}*",) if len(piece) == 1 else (" ".join(piece[i : i + 2] for i in range(len(piece) - 1)),)
    parts = camel_parts(piece) if piece.isascii() and piece.isalnum() else piece
    return (piece,) if parts in (piece, "") else (piece, parts)


def light_stem(word: str) -> str:
    """Return a word in small letters without its English ending: shorter than Porter's stem or equal to it, mostly."""
    word = word.lower()
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= STEM:
            return word[: -len(ending)]
    return word
