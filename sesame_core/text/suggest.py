"""Suggests the nearest known name for a typo."""

from __future__ import annotations

from collections.abc import Iterable


def hint(name: str, known: Iterable[str]) -> str:
    """Return "did you mean 'x'?" for the most similar known name; "" when none is similar."""
    import difflib  # only needed for a typo

    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else ""
