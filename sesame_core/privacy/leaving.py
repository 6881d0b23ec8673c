"""Copies of sessions without secrets: what is stored stays as it is.

Whole texts are redacted, before anything is cut from them: a part of a secret is not recognised.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

from ..config.model import MARK
from ..dataclass import replace
from ..text.folding import printable

if TYPE_CHECKING:
    from ..types.index import Chunk, StoredSession
    from .redactor import Redactor

_Thing = TypeVar("_Thing", bound="Chunk | StoredSession")

#: Characters from which on a piece of a word may be a piece of a secret.
PIECE = 6
#: The words around the line that stands for what was cut from a text when it was indexed.
_CUT = "left out …]"
_AROUND_CUT = re.compile(
    rf"\S{{{PIECE},}}(?=\n\[… \d+ (?:characters|bytes) left out …\])|(?<=left out …\]\n)\S{{{PIECE},}}"
)


class Leaving:
    """Makes the copies."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def session(self, stored: StoredSession) -> StoredSession:
        """Return a session without secrets in its names and notes."""
        copied = self._copied(stored)
        if any(MARK in place for place in copied.session.places):
            # Agents write the directory into that of the file, in a spelling in which no secret is recognised.
            return replace(copied, path=re.split(r"[/\\]", copied.path)[-1])
        return copied

    def chunk(self, chunk: Chunk) -> Chunk:
        """Return a chunk without secrets."""
        copied = self._copied(chunk)
        if _CUT in copied.text:
            return replace(copied, text=_AROUND_CUT.sub("…", copied.text))
        return copied

    def _copied(self, thing: _Thing) -> _Thing:
        copied = _copy(thing)
        self._uncover(copied)
        self._redactor.redact(copied)
        return copied

    def _uncover(self, thing: Any) -> None:
        """Redact the fields in which control sequences, such as colours, hide a secret from the redactor only."""
        for name in type(thing).__dataclass_fields__:
            value = getattr(thing, name)
            if hasattr(type(value), "__dataclass_fields__"):
                self._uncover(value)
            elif (shown := self._uncovered(value)) != value:
                setattr(thing, name, shown)

    def _uncovered(self, value: Any) -> Any:
        if type(value) is tuple:
            return tuple(map(self._uncovered, value))
        if type(value) is dict:
            return {self._uncovered(name): inner for name, inner in value.items()}
        if type(value) is not str or (shown := printable(value)) == value:
            return value
        masked = self._redactor.text(shown)
        return value if masked == shown else masked


def _copy(thing: _Thing) -> _Thing:
    """Return a copy whose fields may be set, and those of the dataclasses in it."""
    values = ((name, getattr(thing, name)) for name in thing.__dataclass_fields__)
    return replace(thing, **{name: _copy(value) for name, value in values if hasattr(value, "__dataclass_fields__")})
