"""Writes words as FTS5 match expressions; the only place that knows FTS5's syntax."""

from __future__ import annotations

from collections.abc import Iterable

from sesame_core.query import Word
from sesame_core.tokens import clean


def phrase(text: str) -> str:
    """Return an expression for a text whose words follow each other; a final `*` makes the last one a prefix."""
    is_prefix = text.endswith("*")
    quoted = '"' + clean(text).rstrip("*").replace('"', '""') + '"'
    return f"{quoted}*" if is_prefix else quoted


def any_of(words: Iterable[Word]) -> str:
    """Return an expression that matches a chunk with at least one of the words."""
    return "(" + " OR ".join(dict.fromkeys(phrase(text) for word in words for text in word.alternatives)) + ")"


def all_of(words: Iterable[Word]) -> str:
    """Return an expression that matches a chunk with every one of the words."""
    return " AND ".join(any_of([word]) for word in words)
