"""What counts as a word, the same for indexing and for asking, on every backend.

Backends split text at everything that is not a letter or a digit, fold case and the accents of Latin letters, and
stem with Porter.  That alone loses the parts of camelCase names, all words of scripts without spaces, pictures, the
signs in `C++`, and letters that have a plainer spelling; `subwords` writes those out beside the text, and
`alternatives` asks for them.
"""

from __future__ import annotations

import functools
import re

from ..dataclass import dataclass
from . import folding

#: Letters of scripts without spaces between words, the first and the last of each block: Thai and Lao, Burmese, Khmer,
#: then Chinese, Japanese and Korean.
_CJK_BLOCKS = (
    ("\u0e00", "\u0eff"),
    ("\u1000", "\u109f"),
    ("\u1780", "\u17ff"),
    ("\u3040", "\u30ff"),
    ("\u3400", "\u4dbf"),
    ("\u4e00", "\u9fff"),
    ("\uf900", "\ufaff"),
    ("\uac00", "\ud7af"),
    ("\U00020000", "\U0002ffff"),
)
#: The same as the inside of a character class.
CJK = "".join(f"{first}-{last}" for first, last in _CJK_BLOCKS)
#: Emoji and other pictures, likewise; the first of a run may be followed by joiners.
PICTURES = "\u2300-\u23ff\u2600-\u2775\u2794-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_JOINERS = "\u200d\ufe0f"
#: One of them; the colour of a skin is none.
_PICTURE = f"(?![\U0001f3fb-\U0001f3ff])[{PICTURES}]"
#: Languages that differ from C by a sign only, and the words that stand for them.
_SIGNED = {"C++": "cplusplus", "c++": "cplusplus", "C#": "csharp", "c#": "csharp"}
_CAMEL_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_VERSION = re.compile(r"([vV]?)(\d+\.\d[\w.+-]*)")
_HAS_LETTER = re.compile(r"[^\W_]")

#: Endings of English words, longest first, and the letters that must be left when one is taken off.
ENDINGS = tuple("ations ation ingly edly ings ying ied ies ing ers ed er es ly s y e".split())
STEM = 3

#: Ends of stems that Porter's algorithm would cut once more.
_CUT_AGAIN = re.compile(r"(?:[^s]s|er|al|ic|ent|ant|ion|ed|ing|ous|able|ible|[^eu]e|iti)\Z")

# ASCII text as classes: 1 small letter or digit, 2 capital, 0 anything else.
_CLASSES = bytes(2 if chr(c).isupper() else 1 if chr(c).isalnum() else 0 for c in range(128)) + bytes(128)


@dataclass(frozen=True, slots=True)
class _Indexing:
    """Patterns for all texts; each begins with one character, which is found at many times the speed of a pattern."""

    #: A camelCase word from its first hump on, in classes: a capital after a small letter, or before another capital
    #: and a small letter.
    humps: re.Pattern[bytes]
    #: The signs of `C++` and of `C#`, which are words.
    pluses: re.Pattern[str]
    sharp: re.Pattern[str]


@functools.cache
def _indexing() -> _Indexing:
    """Return the patterns, compiled when first needed: a search does not need them."""
    return _Indexing(
        humps=re.compile(rb"\x02(?:(?<=\x01\x02)|\x02\x01)[\x01\x02]*"),
        pluses=re.compile(r"\+(?<=[Cc]\+)(?<![^\W_][Cc]\+)\+(?![\w#+])"),
        sharp=re.compile(r"#(?<=[Cc]#)(?<![^\W_][Cc]#)(?![\w#+])"),
    )


@dataclass(frozen=True, slots=True)
class _Scripts:
    """Patterns for what is not ASCII."""

    #: Anything but ASCII, punctuation, arrows, mathematics and lines, which most texts beyond ASCII have only.
    telling: re.Pattern[str]
    #: Letters of scripts without spaces, and words of other scripts right beside them.
    cjk: re.Pattern[str]
    beside: re.Pattern[str]
    #: Pictures that are shown as one, and what each of them is made of.
    pictures: re.Pattern[str]
    picture: re.Pattern[str]
    #: The pieces of a word: of one script, or pictures.
    piece: re.Pattern[str]
    #: Letters and digits, and everything that is not ASCII.
    run: re.Pattern[str]


@functools.cache
def _scripts() -> _Scripts:
    """Return the patterns, compiled when first needed: that takes longer than a search for English words."""
    pictures = f"[{PICTURES}][{PICTURES}{_JOINERS}]*"
    return _Scripts(
        telling=re.compile("[^\x00-\x7f\u2010-\u2027\u2190-\u22ff\u2400-\u245f\u2500-\u25ff]"),
        cjk=re.compile(f"[{CJK}]+"),
        beside=re.compile(f"[^\\W_{CJK}]+(?=[{CJK}])|(?<=[{CJK}])[^\\W_{CJK}]+"),
        pictures=re.compile(pictures),
        picture=re.compile(_PICTURE),
        piece=re.compile(f"[{CJK}]+|{pictures}|[^{CJK}{PICTURES}]+"),
        run=re.compile(r"[^\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+"),
    )


@functools.cache
def _kind(character: str) -> str:
    """Return what `subwords` has to do about a character: "cjk", "picture", "odd" or nothing."""
    scripts = _scripts()
    if folding.is_odd(character):
        return "odd"
    return "cjk" if scripts.cjk.match(character) else "picture" if scripts.picture.match(character) else ""


#: camelCase words whose parts are remembered, and the longest word that is taken apart.
_REMEMBERED = 50_000
_LONGEST = 100


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
    """Return the words inside words and their plain spelling, each once, space-separated.

    Parts of camelCase names, names like `C++`, bigrams of scripts without spaces, pictures, and `strasse` for `Straße`.
    """
    patterns = _indexing()
    found: dict[str, None] = {}
    classes = text.encode("ascii", "replace").translate(_CLASSES)
    rfind = classes.rfind
    for rest in patterns.humps.finditer(classes):
        start, end = rest.span()
        found[text[rfind(0, 0, start) + 1 : end]] = None
    words = [camel_parts(word) for word in found if len(word) <= _LONGEST]
    if "+" in text and patterns.pluses.search(text):
        words.append(_SIGNED["C++"])
    if "#" in text and patterns.sharp.search(text):
        words.append(_SIGNED["C#"])
    if not text.isascii():
        words += _beyond_ascii(text)
    return " ".join(words)


def _beyond_ascii(text: str) -> list[str]:
    words: list[str] = []
    scripts = _scripts()
    if not scripts.telling.search(text):
        return words
    kinds = {_kind(character) for character in set(text) if character > "\x7f"}
    if "odd" in kinds:
        odd = dict.fromkeys(run for run in scripts.run.findall(text) if folding.is_odd(run))
        words += dict.fromkeys(filter(_HAS_LETTER.search, map(folding.folded, odd)))
        text = "\n".join([text, *words])
    if "odd" in kinds or "cjk" in kinds:
        words += [_bigrams(run) for run in dict.fromkeys(scripts.cjk.findall(text))]
        words += dict.fromkeys(scripts.beside.findall(text))
    if "picture" in kinds:
        words += dict.fromkeys(map(_picture_words, scripts.pictures.findall(text)))
    return words


def is_cjk(letter: str) -> bool:
    """Tell whether a letter belongs to a script without spaces."""
    return any(first <= letter <= last for first, last in _CJK_BLOCKS)


def pictures(text: str) -> list[str]:
    """Return the pictures in a text, those that are joined as one."""
    return [] if text.isascii() else _scripts().pictures.findall(text)


@functools.lru_cache(_REMEMBERED)
def camel_parts(word: str) -> str:
    """Return the parts of a camelCase word, space-separated: `HTTPServerError` → `HTTP Server Error`."""
    return " ".join(_CAMEL_PART.findall(word))


def _bigrams(run: str) -> str:
    """Return a run's overlapping pairs and its last character, so that pairs and single characters are found."""
    return " ".join([run[i : i + 2] for i in range(len(run) - 1)] + [run[-1]])


def _picture_words(run: str) -> str:
    """Return the words that stand for pictures, by their code points; the colour of a skin makes no difference."""
    return " ".join(f"u{ord(picture):x}" for picture in _scripts().picture.findall(run))


def has_word(text: str) -> bool:
    """Tell whether a text holds anything to look for: a letter, a digit or a picture."""
    if _HAS_LETTER.search(text):
        return True
    return not text.isascii() and _scripts().picture.search(text) is not None


def pieces(word: str) -> list[str]:
    """Split a word of a query where its script changes; drop what holds nothing to look for."""
    if word.isascii():
        return [word] if has_word(word) else []
    return [piece for piece in _scripts().piece.findall(word) if has_word(piece)]


def alternatives(piece: str) -> tuple[str, ...]:
    """Return the texts to look for, each a phrase, when a person asks for this piece of a word.

    A trailing `*` asks for a prefix.
    """
    if not piece.isascii():
        return _alternatives_beyond_ascii(piece)
    if piece in _SIGNED:
        return (_SIGNED[piece],)
    if version := _VERSION.fullmatch(piece):
        return (piece, version[2] if version[1] else f"v{piece}")
    parts = camel_parts(piece) if piece.isalnum() else piece
    return (piece,) if parts in (piece, "") else (piece, parts)


def _alternatives_beyond_ascii(piece: str) -> tuple[str, ...]:
    scripts = _scripts()
    if scripts.pictures.fullmatch(piece):
        return (_picture_words(piece),)
    plain = folding.folded(piece) if folding.is_odd(piece) else piece
    if scripts.cjk.fullmatch(plain):
        return (f"{plain}*",) if len(plain) == 1 else (" ".join(plain[i : i + 2] for i in range(len(plain) - 1)),)
    return (piece, plain) if plain != piece and has_word(plain) else (piece,)


def unstemmed(stem: str) -> str:
    """Return a word that has this stem: a backend stems what it is asked for, and `databas` would become `databa`.

    An `e` at its end is what Porter's algorithm takes off last.  Of the 8,673 stems in Python's standard library, 381
    lose more when they are stemmed again, and of the words that this makes of them 22 have another stem.
    """
    return stem + "e" if _CUT_AGAIN.search(stem) else stem


def light_stem(word: str) -> str:
    """Return a word in small letters without its English ending: shorter than Porter's stem or equal to it, mostly."""
    word = word.lower()
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= STEM:
            return word[: -len(ending)]
    return word
