"""Recognises texts that are in a file twice: as the model sees them, and as a person sees them."""

from __future__ import annotations

from collections import OrderedDict

from .values import digest

#: Most texts that wait for their twin.
REMEMBERED = 128
#: Most of them in a checkpoint.
CARRIED = 32
#: Characters at each end of a text that are compared: of a very long one the two records keep different parts.
COMPARED = 4096


class Twins:
    """The texts that were said by one kind of record and not yet by the other."""

    def __init__(self, state: list[list[str]] | None = None) -> None:
        self._waiting: OrderedDict[str, str] = OrderedDict((key, source) for key, source in state or ())

    def is_second(self, role: str, text: str, source: str) -> bool:
        """Return whether another kind of record has said the text; a text that one says twice is said twice."""
        key = _key(role, text)
        first = self._waiting.get(key)
        if first is not None and first != source:
            del self._waiting[key]
            return True
        self._waiting[key] = source
        if len(self._waiting) > REMEMBERED:
            self._waiting.popitem(last=False)
        return False

    def has(self, role: str, text: str) -> bool:
        """Return whether a text waits for its twin."""
        return _key(role, text) in self._waiting

    def forget(self, role: str) -> None:
        """Forget the texts of a role: its twins are all read."""
        for key in [key for key in self._waiting if key.startswith(f"{role} ")]:
            del self._waiting[key]

    def state(self) -> list[list[str]]:
        """Return the state from which a new tracker resumes, as JSON values."""
        return [[key, source] for key, source in list(self._waiting.items())[-CARRIED:]]


def _key(role: str, text: str) -> str:
    text = text.strip()
    return f"{role} {digest(text if len(text) <= 2 * COMPARED else text[:COMPARED] + text[-COMPARED:])}"
