"""Other spellings for the words of a query that few chunks in the index contain.

It corrects misspellings, completes prefixes, and tries British or American spelling.  Only rare words are changed so:
they find nothing by themselves, and a common word needs no help.  Uncommon words are also searched in two words, and
words of languages that the index does not stem in other forms, however common they are.
"""

from __future__ import annotations

import re

from ..dataclass import replace
from ..plugin.backend import Counting, SearchesTerms, Vocabulary
from ..text.tokens import light_stem, unstemmed
from ..types.query import Query, Word
from .boolean import with_words

#: A word in at most this number of chunks is looked up.
RARE = 1
#: A word in at most this number of chunks is also searched in two words.
UNCOMMON = 50
#: Shortest word that is looked up, in characters; shorter ones resemble too many others.
MIN_LENGTH = 4
#: Length of the prefix that a correction shares with the word, in characters, so that few terms are compared.
SHARED_PREFIX = 3
#: Most edits of a correction, for words shorter than `LONG` characters and for others.
EDITS, EDITS_LONG, LONG = 1, 2, 8
#: Most corrections of one word, nearest and commonest first.
MAX_CORRECTIONS = 3
#: Most words that complete a prefix, the commonest first.
MAX_BEGUN = 20
#: Most terms that are compared, the commonest first.
MAX_TERMS = 5_000

#: Most words in which a word is found that is no word anywhere, the commonest first; and most words of a query that is
#: searched so, since comparing all terms takes as long as several searches.
MAX_AROUND, MAX_LOOKED_INSIDE = 8, 3

_LETTERS = re.compile(r"[a-z]+")
#: A name with a number, to which names without a sign between are added: `sha256sum`, `ipv6addr`.
_NUMBERED = re.compile(r"[a-z]{2,}[0-9]{1,4}")
#: The prefix of a commit or of another long number, as tools abbreviate them.
_HEX = re.compile(r"(?=.*[0-9])[0-9a-f]{7,}")
#: British and American endings.
_PAIRS = (
    ("isation", "ization"),
    ("ise", "ize"),
    ("ising", "izing"),
    ("yse", "yze"),
    ("our", "or"),
    ("tre", "ter"),
    ("ogue", "og"),
    ("ence", "ense"),
    ("lled", "led"),
    ("lling", "ling"),
    ("grey", "gray"),
)


def is_needed(query: Query, frequencies: list[int]) -> bool:
    """Return whether `expand` could find something."""
    return min(frequencies) <= UNCOMMON or any(map(_is_continued, query.words))


def expand(query: Query, frequencies: list[int], vocabulary: Vocabulary) -> tuple[Query, dict[str, list[str]]]:
    """Return the query with more alternatives for its words, and the added ones, by word.

    :param frequencies: the number of chunks that contain each word, in the order of the words.
    """
    added: dict[str, list[str]] = {}
    expanded: dict[Word, Word] = {}
    for word, frequency in zip(query.words, frequencies, strict=True):
        more = _added(word, frequency, vocabulary)
        if not frequency and not more:
            more = _around(word.text.lower(), vocabulary, is_inside=len(query.words) <= MAX_LOOKED_INSIDE)
        if more:
            added[word.text] = more
            # A chunk's score counts each alternative that it contains, so none may include another.
            others = [a for a in word.alternatives if f"{a.lower()}*" not in more]
            expanded[word] = replace(word, alternatives=(*others, *more))
    words = tuple(expanded.get(word, word) for word in query.words)
    condition = query.condition and with_words(query.condition, expanded)
    return replace(query, words=words, condition=condition), added


def is_met(word: str, added: dict[str, list[str]]) -> bool:
    """Return whether one of a word's added spellings is the word: its characters in order, or another form of it."""
    text = word.rstrip("*").lower()
    is_form = word.endswith("*") or not word.isascii()
    return word in added and (is_form or any(text in more.replace(" ", "") for more in added[word]))


def corrections(added: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the added spellings without those that only have a space more."""
    others = {word: [one for one in more if one.replace(" ", "") != word.lower()] for word, more in added.items()}
    return {word: more for word, more in others.items() if more}


def _is_continued(word: Word) -> bool:
    """Return whether a word has forms that are looked up however common it is."""
    text = word.text
    if text.isascii():
        return text[-1:].isdigit() and _NUMBERED.fullmatch(text.lower()) is not None
    from .forms import is_inflected

    return is_inflected(text)


def _added(word: Word, frequency: int, vocabulary: Vocabulary) -> list[str]:
    text = word.text.lower()
    found: list[str] = []
    if not text.isascii():
        found = _forms(text, vocabulary)
    elif _NUMBERED.fullmatch(text):
        terms = vocabulary.terms(text, MAX_TERMS)
        found = [unstemmed(term) for term, _ in terms if term[len(text) :][:1].isalpha()][:MAX_BEGUN]
    elif frequency <= UNCOMMON and isinstance(vocabulary, Counting):
        from .compounds import splits

        found = [split for split in splits(text, vocabulary) if split not in word.alternatives]
    if frequency <= RARE and not found:
        found = _irregular(word)
    if frequency <= RARE:
        found = found or _alternatives(word, vocabulary, is_known=frequency > 0)
    return found


def _irregular(word: Word) -> list[str]:
    from ..text.irregular import other_forms

    return [form for form in other_forms(word.text, is_rare=True) if form not in word.alternatives]


def _around(text: str, vocabulary: Vocabulary, *, is_inside: bool) -> list[str]:
    """Return forms of a word in languages that have endings other than English, else the words in which it is found."""
    if not text.isalnum() or len(text) < MIN_LENGTH:
        return []
    found = _forms(text, vocabulary)
    if not found and is_inside and isinstance(vocabulary, SearchesTerms):
        found = [unstemmed(term) for term, _ in vocabulary.terms_with(text, MAX_AROUND)]
    return found


def _forms(text: str, vocabulary: Vocabulary) -> list[str]:
    from .forms import forms, is_inflected

    return forms(text, vocabulary) if is_inflected(text) else []


def _alternatives(word: Word, vocabulary: Vocabulary, *, is_known: bool) -> list[str]:
    text = word.text.lower()
    if text.endswith("*"):
        # The index is stemmed, and so is a prefix: `monkey*` searches for `monkei…` only.
        begun = vocabulary.terms(text.rstrip("*"), MAX_BEGUN) if text[:-1].isalpha() else []
        return [unstemmed(term) for term, _ in begun]
    if _HEX.fullmatch(text):
        return [f"{text}*"] if any(term != text for term, _ in vocabulary.terms(text, 2)) else []
    if len(text) < MIN_LENGTH or not _LETTERS.fullmatch(text):
        return []
    terms = vocabulary.terms(text[:SHARED_PREFIX], MAX_TERMS)
    known = {term for term, _ in terms}
    found = [variant for variant in _variants(text) if any(term.startswith(variant[:-1]) for term in known)]
    if is_beginning := any(term.startswith(text) and term != text for term in known):
        found.append(f"{text}*")
    most = EDITS_LONG if len(text) >= LONG else EDITS
    # Terms are stems, so the word is compared with and without its ending.  A word that occurs is in the index as its
    # own stem, the longest of its prefixes, which would count twice.
    stem = light_stem(text)
    own = max((term for term in known if text.startswith(term)), key=len, default=None) if is_known else None
    near = [
        (min(distance(text, term, most), distance(stem, term, most)), -count, term)
        for term, count in terms
        if len(term) >= MIN_LENGTH and term != own and -most <= len(term) - len(stem) <= len(text) - len(stem) + most
    ]
    found += [
        unstemmed(term)
        for edits, _, term in sorted(near)[:MAX_CORRECTIONS]
        if edits <= most and term != text and not (is_beginning and term.startswith(text))
    ]
    return list(dict.fromkeys(found))


def _variants(text: str) -> list[str]:
    """Return the word in British spelling if it is American, and the reverse."""
    return [
        text.replace(one, other, 1)
        for pair in _PAIRS
        for one, other in (pair, pair[::-1])
        if one in text[1:] and not (len(one) < len(other) and other in text)
    ]


def distance(one: str, other: str, most: int) -> int:
    """Return the optimal string alignment distance of two words.

    An edit inserts, deletes or replaces a character, or swaps two adjacent ones.  Counting stops above `most`.
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, character in enumerate(one, 1):
        two_before, before = before, row
        row = [i]
        for j, against in enumerate(other, 1):
            edits = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (character != against))
            if i > 1 and j > 1 and character == other[j - 2] and one[i - 2] == against:
                edits = min(edits, two_before[j - 2] + 1)
            row.append(edits)
        if min(row) > most:
            return most + 1
    return row[-1]
