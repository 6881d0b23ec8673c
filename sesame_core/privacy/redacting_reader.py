"""Shows an index without secrets: what is stored stays as it is, and what is read has placeholders.

Whole texts are redacted, before anything is cut from them: a part of a secret is not recognised.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from ..dataclass import replace
from ..types.transcript import PROMPT_CHARS, SUMMARY_CHARS
from .redactor import Redactor

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.index import Chunk, ChunkRange, StoredSession
    from ..types.query import Condition, Filters

#: Characters from which on a piece of a word may be a piece of a secret: of most, so little says nothing.
PIECE = 6
#: Characters from which on a term with letters and digits is not named as another spelling of a word.
TERM = 8
#: The last word of a text whose end was cut when it was indexed; those around the line that stands for its middle.
_LAST = re.compile(rf"\S{{{PIECE},}}\Z")
_CUT = "left out …]"
_AROUND_CUT = re.compile(
    rf"\S{{{PIECE},}}(?=\n\[… \d+ (?:characters|bytes) left out …\])|(?<=left out …\]\n)\S{{{PIECE},}}"
)


def redacting_reader(reader: IndexReader, redactor: Redactor) -> IndexReader:
    """Return a reader that shows no secrets and has the abilities of the given one."""
    return cast("IndexReader", _class_for(type(reader))(reader, redactor))


class RedactingReader:
    """A reader around another one; `redacting_reader` makes it."""

    def __init__(self, reader: IndexReader, redactor: Redactor) -> None:
        self._reader = reader
        self._redactor = redactor

    def sessions(self, numbers: Iterable[int]) -> list[StoredSession]:
        """Return the sessions with these numbers."""
        return list(map(self._session, self._reader.sessions(numbers)))

    def find_sessions(self, prefix: str) -> list[StoredSession]:
        """Return the sessions with this id, or whose ids begin with it."""
        return list(map(self._session, self._reader.find_sessions(prefix)))

    def find_by_id(self, ids: Iterable[str]) -> list[StoredSession]:
        """Return the sessions with these ids."""
        return list(map(self._session, self._reader.find_by_id(ids)))

    def list_sessions(
        self, filters: Filters, *, limit: int, offset: int = 0, condition: Condition | None = None
    ) -> tuple[list[StoredSession], int]:
        """Return sessions, newest first, and their total."""
        found, total = self._reader.list_sessions(filters, limit=limit, offset=offset, condition=condition)
        return list(map(self._session, found)), total

    def chunks(self, ranges: Sequence[ChunkRange]) -> list[list[Chunk]]:
        """Return the chunks of each range."""
        return [list(map(self._chunk, found)) for found in self._reader.chunks(ranges)]

    def _chunk(self, chunk: Chunk) -> Chunk:
        shown = self._redactor.redacted(chunk)
        if _CUT in shown.text and (text := _AROUND_CUT.sub("…", shown.text)) != shown.text:
            return replace(shown, text=text)
        return shown

    def _session(self, stored: StoredSession) -> StoredSession:
        shown = self._redactor.redacted(stored)
        was, now = stored.session, shown.session
        prompts = tuple(
            _ended(before, after, PROMPT_CHARS) for before, after in zip(was.prompts, now.prompts, strict=True)
        )
        summary = _ended(was.summary or "", now.summary or "", SUMMARY_CHARS) or None
        if prompts != now.prompts or summary != now.summary:
            return replace(shown, session=replace(now, prompts=prompts, summary=summary))
        return shown


def _ended(stored: str, shown: str, most: int) -> str:
    """Return a redacted text; if it was cut when it was indexed, without its last word."""
    return shown if len(stored) < most else _LAST.sub("…", shown)


def _terms(self: RedactingReader, prefix: str, limit: int) -> list[tuple[str, int]]:
    """Return the terms with a prefix."""
    return _harmless(cast("Any", self._reader).terms(prefix, limit))


def _terms_with(self: RedactingReader, part: str, limit: int) -> list[tuple[str, int]]:
    """Return the terms that contain a string."""
    return _harmless(cast("Any", self._reader).terms_with(part, limit))


def _harmless(terms: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Drop the terms that may be secrets: without what stood before them, only their characters can tell."""
    return [(term, count) for term, count in terms if len(term) < TERM or term.isalpha() or term.isdigit()]


#: The methods of abilities whose results are redacted; those of all others are passed on.
_REDACTED = {"terms": _terms, "terms_with": _terms_with}


@cache
def _class_for(kind: type) -> type[RedactingReader]:
    """Return a class with the abilities of a reader's class, as `isinstance` finds them."""
    names = [name for name in dir(kind) if not name.startswith("_") and name not in vars(RedactingReader)]
    content = {name: _REDACTED.get(name) or _passed_on(name) for name in names}
    return type("RedactingReader", (RedactingReader,), content)


def _passed_on(name: str) -> property:
    return property(lambda self: getattr(self._reader, name))
