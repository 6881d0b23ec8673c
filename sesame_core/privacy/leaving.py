"""Copies of sessions without secrets: what is stored stays as it is.

Whole texts are redacted, before anything is cut from them: a part of a secret is not recognised.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

from ..config.model import MARK
from ..dataclass import replace
from ..text.folding import printable
from ..types.transcript import PROMPT_CHARS, SUMMARY_CHARS

if TYPE_CHECKING:
    from ..types.index import Chunk, StoredSession
    from .redactor import Redactor

_Thing = TypeVar("_Thing")

#: Characters from which on a piece of a word may be a piece of a secret: of most, so little says nothing.
PIECE = 6
#: The last word of a text whose end was cut when it was indexed; those around the line that stands for its middle.
_LAST = re.compile(rf"\S{{{PIECE},}}\Z")
_CUT = "left out …]"
_AROUND_CUT = re.compile(
    rf"\S{{{PIECE},}}(?=\n\[… \d+ (?:characters|bytes) left out …\])|(?<=left out …\]\n)\S{{{PIECE},}}"
)


class Leaving:
    """Makes the copies; what has no secrets is returned as it is."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def session(self, stored: StoredSession) -> StoredSession:
        """Return a session without secrets in its names, prompts and notes."""
        shown = self._shown(stored)
        was, now = stored.session, shown.session
        prompts = tuple(
            _ended(before, after, PROMPT_CHARS) for before, after in zip(was.prompts, now.prompts, strict=True)
        )
        summary = _ended(was.summary or "", now.summary or "", SUMMARY_CHARS) or None
        if prompts != now.prompts or summary != now.summary:
            shown = replace(shown, session=replace(now, prompts=prompts, summary=summary))
        if any(MARK in place for place in now.places):
            # Agents write the directory into that of the file, in a spelling in which no secret is recognised.
            return replace(shown, path=re.split(r"[/\\]", shown.path)[-1])
        return shown

    def chunk(self, chunk: Chunk) -> Chunk:
        """Return a chunk without secrets."""
        shown = self._shown(chunk)
        if _CUT in shown.text and (text := _AROUND_CUT.sub("…", shown.text)) != shown.text:
            return replace(shown, text=text)
        return shown

    def _shown(self, thing: _Thing) -> _Thing:
        uncovered: _Thing = self._uncovered(thing)
        return self._redactor.redacted(uncovered)

    def _uncovered(self, value: Any) -> Any:
        """Return a value without the secrets that control sequences, such as colours, hide from the redactor."""
        if hasattr(type(value), "__dataclass_fields__"):
            fields = ((name, getattr(value, name)) for name in type(value).__dataclass_fields__)
            changes = {name: shown for name, inner in fields if (shown := self._uncovered(inner)) is not inner}
            return replace(value, **changes) if changes else value
        if type(value) is tuple:
            parts = tuple(map(self._uncovered, value))
            return parts if parts != value else value
        if type(value) is dict:
            names = {self._uncovered(name): inner for name, inner in value.items()}
            return names if names != value else value
        if type(value) is not str or (shown := printable(value)) == value:
            return value
        masked = self._redactor.text(shown)
        return value if masked == shown else masked


def _ended(stored: str, shown: str, most: int) -> str:
    """Return a redacted text; if it was cut when it was indexed, without its last word."""
    return shown if len(stored) < most else _LAST.sub("…", shown)
