"""Suggests the nearest known name for a typo."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], *, parts: bool = False) -> str | None:
    """Return the known name that is most similar to a name, in any case; None when none is similar.

    :param parts: also compare parts of the known names, between punctuation, and return the part.
    """
    import difflib  # only needed for a typo
    import re

    by_small: dict[str, str] = {}
    for one in known:
        by_small.setdefault(one.lower(), one)
        if parts:
            for part in (one.rpartition("/")[2], *re.split(r"[^\w]+", one)):
                by_small.setdefault(part.lower(), part)
    return next((by_small[found] for found in difflib.get_close_matches(name.lower(), by_small, n=1)), None)


def hint(name: str, known: Iterable[str]) -> str:
    """Return "did you mean 'x'?" for the most similar known name; "" when none is similar."""
    near = nearest(name, known)
    return f"did you mean {near!r}?" if near else ""
