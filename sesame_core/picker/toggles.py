"""Fields of the typed query that keys switch: agent, repository, time.  The line is the only place where they are."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: The ages that the key for time goes through.
TIMES = ("1d", "7d", "30d")
_VALUE = r"(?:\"[^\"]*\"?|\S*)"


def cycled(text: str, field: str, values: Sequence[str]) -> str:
    """Return a query in which a field has the value after its present one; after the last, none.

    :param field: its name in a query; one with another value starts again with the first.
    """
    found = re.search(_token(field, _VALUE), text, re.IGNORECASE)
    present = found[0].partition(":")[2].strip('"') if found else None
    at = values.index(present) + 1 if present in values else 0
    rest = _without(text, _token(field, _VALUE))
    if at >= len(values):
        return rest
    value = values[at] if re.fullmatch(r"[\w./-]+", values[at]) else f'"{values[at]}"'
    return f"{field}:{value} {rest}"


def switched(text: str, token: str) -> str:
    """Return a query with this field and value, `is:here`, or without it if it has it."""
    field, _, value = token.partition(":")
    pattern = _token(field, re.escape(value) + r"(?!\S)")
    return _without(text, pattern) if re.search(pattern, text, re.IGNORECASE) else f"{token} {text.lstrip()}"


def _token(field: str, value: str) -> str:
    return rf"(?<!\S){field}:{value}"


def _without(text: str, pattern: str) -> str:
    return re.sub(rf"{pattern}\s*", "", text, flags=re.IGNORECASE).lstrip()
