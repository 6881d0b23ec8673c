"""Recognises texts that are in a file twice: as the model sees them, and as a person sees them."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from .values import digest

#: Most texts that are stored until their twin.
REMEMBERED = 128
#: Most of them in a checkpoint.
CARRIED = 32
#: Characters at each end of a text that are compared: of a very long one the two records keep different parts.
COMPARED = 4096


class Twins:
    """The texts of the present turn, with the kinds of records that have said each."""

    def __init__(self, state: list[list[Any]] | None = None) -> None:
        self._said: OrderedDict[str, list[str]] = OrderedDict((key, list(sources)) for key, sources in state or ())

    def is_second(self, role: str, text: str, source: str) -> bool:
        """Return whether another kind of record has said the text; a text that one says twice is said twice."""
        key = _key(role, text)
        sources = self._said.get(key, [])
        is_second = bool(sources) and source not in sources
        self._said[key] = [*sources, source] if is_second else [source]
        if len(self._said) > REMEMBERED:
            self._said.popitem(last=False)
        return is_second

    def has(self, role: str, text: str) -> bool:
        """Return whether a text was said."""
        return _key(role, text) in self._said

    def forget(self, role: str) -> None:
        """Forget the texts of a role: its twins are all read."""
        for key in [key for key in self._said if key.startswith(f"{role} ")]:
            del self._said[key]

    def state(self) -> list[list[Any]]:
        """Return the state from which a new tracker resumes, as JSON values."""
        return [[key, sources] for key, sources in list(self._said.items())[-CARRIED:]]


def _key(role: str, text: str) -> str:
    text = text.strip()
    return f"{role} {digest(text if len(text) <= 2 * COMPARED else text[:COMPARED] + text[-COMPARED:])}"
