"""An answer as it may be sent: without the secrets in what the caller has said, which comes back in parts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..api.sesame import Sesame

#: A part of a secret that could come back by itself, such as a word that was not found.
_PART = re.compile(r"[^\W_]{6,}")


class Mask:
    """Masks the answer of one call.

    :param sesame: shows what is stored without secrets.
    :param arguments: those of the call.
    """

    def __init__(self, sesame: Sesame, arguments: Mapping[str, Any]) -> None:
        self._mask = sesame.mask
        parts = {part for text in _texts(arguments) for part in self._parts(text)}
        self._said = re.compile("|".join(map(re.escape, sorted(parts, key=len, reverse=True))), re.I) if parts else None

    def text(self, text: str) -> str:
        """Return a text without secrets."""
        masked = self._mask(text)
        return self._said.sub("…", masked) if self._said else masked

    def value(self, value: Any) -> Any:
        """Return a value of JSON without secrets, also in names of fields: a correction has a word as its name."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self._said.sub("…", name) if self._said else name: self.value(of) for name, of in value.items()}
        return [self.value(inner) for inner in value] if isinstance(value, list | tuple) else value

    def _parts(self, text: str) -> set[str]:
        """Return the words of a text that are parts of a secret in it."""
        masked = self._mask(text)
        return set(_PART.findall(text)) - set(_PART.findall(masked)) if masked != text else set()


def _texts(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        return [text for inner in value for text in _texts(inner)]
    return [value] if isinstance(value, str) else []
