"""The `Word` for a string of a query."""

from __future__ import annotations

from ..types.query import Word

#: Fewest characters of a prefix; a shorter one would match nearly everything and is read as a word.
MIN_PREFIX = 2


def word_of(text: str) -> Word:
    """Return the `Word` that matches this word, or these words in this order."""
    from .spellings import alternatives  # what reads no query does not need it

    stem = text.rstrip("*")
    if stem != text and len(stem) >= MIN_PREFIX:
        return Word(text=text, alternatives=(f"{stem}*",))
    return Word(text=stem, alternatives=alternatives(stem))
