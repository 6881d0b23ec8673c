"""What counts as a word, the same for indexing and for queries, on every backend.

Backends split text at every character that is not a letter or a digit, fold case and the accents of Latin letters, and
stem with Porter.  That alone loses the parts of camelCase names, all words of scripts without spaces, emoji, the
signs in `C++`, and letters that have a plainer spelling; `subwords` returns those for the index, and
`spellings.alternatives` returns them for a query.  `compounds` splits and joins the parts of names.
"""

from __future__ import annotations

import functools
import re

from ..dataclass import dataclass
from . import folding
from .compounds import inner_words

#: Blocks of scripts without spaces between words, the first and the last character of each: Thai and Lao, Burmese,
#: Khmer, then Chinese, Japanese and Korean.
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
#: The same as the content of a character class.
CJK = "".join(f"{first}-{last}" for first, last in _CJK_BLOCKS)
#: Emoji and other pictographs, likewise; the first of a run may be followed by joiners.
EMOJI = "\u2300-\u23ff\u2600-\u2775\u2794-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_JOINERS = "\u200d\ufe0f"
#: One of them; a skin-tone modifier is not one.
_ONE_EMOJI = f"(?![\U0001f3fb-\U0001f3ff])[{EMOJI}]"
#: Names that are told from other words by a sign only, and the words that stand for them.
SIGNED = {"c++": "cplusplus", "c#": "csharp", "f#": "fsharp", ".net": "dotnet"}
_HAS_LETTER = re.compile(r"[^\W_]")
_RUN = re.compile(r"[^\W_]+")

#: Endings of English words, longest first, and the number of characters that must remain when one is removed.
ENDINGS = tuple("ations ation ingly edly ings ying ied ies ing ers ed er es ly s y e".split())
STEM = 3

#: Ends of stems that Porter's algorithm would cut again.
_CUT_AGAIN = re.compile(r"(?:[^s]s|er|al|ic|ent|ant|ion|ed|ing|ous|able|ible|[^eu]e|iti)\Z")

#: Ends of stems whose `i` was a `y`: `telemetri`; a word that has the `i` itself (`wifi`) has the same stem.
_WAS_Y = re.compile(r"[aeiou].*[^aeiou]i\Z")

# ASCII characters as classes: 1 lower-case letter or digit, 2 upper-case letter, 0 anything else.
_CLASSES = bytes(2 if chr(c).isupper() else 1 if chr(c).isalnum() else 0 for c in range(128)) + bytes(128)
_ASCII = bytes(range(128))


@dataclass(frozen=True, slots=True)
class _Indexing:
    """Patterns for any text; each begins with one character, which is found at many times the speed of a pattern."""

    #: A camelCase word from its first hump on, in classes: an upper-case letter after a lower-case one, or before
    #: another upper-case letter and a lower-case one.
    humps: re.Pattern[bytes]
    #: The signs of `C++`, of `C#` and `F#`, and of `.NET`, which are words.
    pluses: re.Pattern[str]
    sharp: re.Pattern[str]
    dot: re.Pattern[str]


@functools.cache
def _indexing() -> _Indexing:
    """Return the patterns, compiled at first use: a search does not need them."""
    return _Indexing(
        humps=re.compile(rb"\x02(?:(?<=\x01\x02)|\x02\x01)[\x01\x02]*"),
        pluses=re.compile(r"\+(?<=[Cc]\+)(?<![^\W_][Cc]\+)\+(?![^\W\d]|[#+])"),
        sharp=re.compile(r"#(?<=[CcF]#)(?<![^\W_][CcF]#)(?![^\W\d]|[#+])"),
        dot=re.compile(r"\.(?:NET|(?<![^\W_]\.)Net)(?![^\W\d_])"),
    )


@dataclass(frozen=True, slots=True)
class _Scripts:
    """Patterns for text beyond ASCII."""

    #: Any character but ASCII, punctuation, arrows, mathematics and lines, the only ones beyond ASCII in most texts.
    relevant: re.Pattern[str]
    #: Characters of scripts without spaces, and words of other scripts adjacent to them.
    cjk: re.Pattern[str]
    adjacent: re.Pattern[str]
    #: A run of joined emoji, and each emoji in it.
    emoji_run: re.Pattern[str]
    emoji: re.Pattern[str]
    #: The pieces of a word: of one script, or emoji.
    piece: re.Pattern[str]
    #: Letters and digits, and every character that is not ASCII.
    run: re.Pattern[str]


@functools.cache
def _scripts() -> _Scripts:
    """Return the patterns, compiled at first use: that takes longer than a search for English words."""
    emoji_run = f"[{EMOJI}][{EMOJI}{_JOINERS}]*"
    return _Scripts(
        relevant=re.compile("[^\x00-\x7f\u2010-\u2027\u2190-\u22ff\u2400-\u245f\u2500-\u25ff]"),
        cjk=re.compile(f"[{CJK}]+"),
        # From the first letter of a run alone, and without going back: in a run of thousands both would take n² steps.
        adjacent=re.compile(f"(?<![^\\W_{CJK}])[^\\W_{CJK}]++(?=[{CJK}])|(?<=[{CJK}])[^\\W_{CJK}]+"),
        emoji_run=re.compile(emoji_run),
        emoji=re.compile(_ONE_EMOJI),
        piece=re.compile(f"[{CJK}]+|{emoji_run}|[^{CJK}{EMOJI}]+"),
        run=re.compile(r"[^\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+"),
    )


@functools.cache
def _kind(character: str) -> str:
    """Return the kind of a character for `subwords`: "cjk", "emoji", "odd" or ""."""
    scripts = _scripts()
    if folding.is_odd(character):
        return "odd"
    return "cjk" if scripts.cjk.match(character) else "emoji" if scripts.emoji.match(character) else ""


#: Length of the longest name that is split.
_LONGEST = 100


#: A table for `bytes.translate`: ASCII letters in lower case, digits, and a space for every other byte.
LOWER = bytes(ord(chr(c).lower()) if chr(c).isalnum() else 32 for c in range(128)) + b" " * 128


def split(text: str) -> list[str]:
    """Return the words of a text in lower case, as backends split it; letters keep their accents."""
    if text.isascii() or not _foreign().search(beyond_ascii(text)):
        # A sixth of the time of the pattern.
        return text.encode("ascii", "replace").translate(LOWER).decode().split()
    return _RUN.findall(text.lower())


@functools.cache
def _foreign() -> re.Pattern[str]:
    """Return a pattern for a letter or digit beyond ASCII; compiled at first use."""
    return re.compile(r"[^\W\x00-\x7f]")


def beyond_ascii(text: str) -> str:
    """Return the characters of a text that are not ASCII: few of most texts, while a pattern takes long for all."""
    return text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")


def clean(text: str) -> str:
    """Return a string that every database accepts: no NUL, no lone surrogates."""
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def as_seen(text: str) -> str:
    r"""Return a text as a terminal shows it, that every database accepts: what is indexed, and what is asked.

    In `\x1b[31mfailure` nobody sees the word `31mfailure`.
    """
    return clean(folding.without_escapes(text))


def subwords(text: str) -> str:
    """Return the words inside words and their plain spelling, each once, space-separated.

    These are parts of camelCase names, also two neighbouring parts as one word, names like `C++`, bigrams of scripts
    without spaces, code points of emoji, and `strasse` for `Straße`.
    """
    patterns = _indexing()
    found: dict[str, None] = {}
    classes = text.encode("ascii", "replace").translate(_CLASSES)
    rfind = classes.rfind
    for rest in patterns.humps.finditer(classes):
        start, end = rest.span()
        found[text[rfind(0, 0, start) + 1 : end]] = None
    words = [inner_words(name) for name in found if len(name) <= _LONGEST]
    if "+" in text and patterns.pluses.search(text):
        words.append(SIGNED["c++"])
    if "#" in text:
        words += {SIGNED[text[m.start() - 1].lower() + "#"]: None for m in patterns.sharp.finditer(text)}
    if (".NET" in text or ".Net" in text) and patterns.dot.search(text):
        words.append(SIGNED[".net"])
    if not text.isascii():
        words += _beyond_ascii(text)
    return " ".join(words)


def _beyond_ascii(text: str) -> list[str]:
    words: list[str] = []
    scripts = _scripts()
    others = beyond_ascii(text)
    if not scripts.relevant.search(others):
        return words
    kinds = set(map(_kind, set(others)))
    if "odd" in kinds:
        odd = dict.fromkeys(run for run in scripts.run.findall(text) if folding.is_odd(run))
        words += dict.fromkeys(filter(_HAS_LETTER.search, map(folding.folded, odd)))
        text = "\n".join([text, *words])
    if "odd" in kinds or "cjk" in kinds:
        words += [_bigrams(run) for run in dict.fromkeys(scripts.cjk.findall(text))]
        words += dict.fromkeys(scripts.adjacent.findall(text))
    if "emoji" in kinds:
        words += dict.fromkeys(map(emoji_words, scripts.emoji_run.findall(text)))
    return words


def is_emoji(text: str) -> bool:
    """Return whether a text is one emoji or several, joined or not."""
    return not text.isascii() and _scripts().emoji_run.fullmatch(text) is not None


def is_cjk(character: str) -> bool:
    """Return whether a character belongs to a script without spaces."""
    return any(first <= character <= last for first, last in _CJK_BLOCKS)


def emoji(text: str) -> list[str]:
    """Return the emoji in a text; joined ones are one string."""
    return [] if text.isascii() else _scripts().emoji_run.findall(text)


def _bigrams(run: str) -> str:
    """Return the overlapping pairs of a run and its last character, so that pairs and single characters match."""
    return " ".join([run[i : i + 2] for i in range(len(run) - 1)] + [run[-1]])


def emoji_words(run: str) -> str:
    """Return the words that represent emoji, by code point; skin-tone modifiers are ignored."""
    return " ".join(f"u{ord(one):x}" for one in _scripts().emoji.findall(run))


def has_word(text: str) -> bool:
    """Return whether a text contains anything searchable: a letter, a digit or an emoji."""
    if _HAS_LETTER.search(text):
        return True
    return not text.isascii() and _scripts().emoji.search(text) is not None


def pieces(word: str) -> list[str]:
    """Split a word of a query where its script changes; drop pieces that contain nothing searchable."""
    if word.isascii():
        return [word] if has_word(word) else []
    return [piece for piece in _scripts().piece.findall(word) if has_word(piece)]


def unstemmed(stem: str) -> str:
    """Return a word that has this stem: a backend stems the words of a query, and `databas` would become `databa`.

    A final `i` was mostly a `y`.  Porter's algorithm removes a final `e` last.  Of the 8,673 stems in Python's standard
    library, 381 become shorter when they are stemmed again; of the words that this function makes of those, 22 have
    another stem.
    """
    if _WAS_Y.search(stem):
        return stem[:-1] + "y"
    return stem + "e" if _CUT_AGAIN.search(stem) else stem


def light_stem(word: str) -> str:
    """Return a word in lower case without its English ending: mostly Porter's stem or a prefix of it."""
    word = word.lower()
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= STEM:
            return word[: -len(ending)]
    return word
