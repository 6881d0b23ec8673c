"""The name that was probably meant by a typo."""

from __future__ import annotations

from collections.abc import Iterable


def hint(name: str, known: Iterable[str]) -> str:
    """Return a question for the name that was meant, when one is much like it; else ""."""
    import difflib  # only for a slip of the pen

    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else ""
