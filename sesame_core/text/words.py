"""The `Word` that a piece of text asks for."""

from __future__ import annotations

from ..types.query import Word
from .tokens import alternatives

#: Letters a prefix needs; a shorter one would match nearly everything and is read as a word.
MIN_PREFIX = 2


def word_of(text: str) -> Word:
    """Return what to look for when a person asks for this word, or for these words in this order."""
    stem = text.rstrip("*")
    if stem != text and len(stem) >= MIN_PREFIX:
        return Word(text=text, alternatives=(f"{stem}*",))
    return Word(text=stem, alternatives=alternatives(stem))
