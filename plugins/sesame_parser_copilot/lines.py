"""Reads event logs as `JsonLines` does, and joins an event that was written over several lines.

Copilot CLI 1.0.24 wrote newlines inside strings as they are, so that a tool's output divided its event.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

from sesame_core import JsonLines, Skipped

#: What decides whether a line ends inside a string: quotes without a backslash before them.
_QUOTES = re.compile(rb'\\.|"', re.DOTALL)
#: The beginning of an event: inside a string its quote would have a backslash before it.
_EVENT = re.compile(rb'\{\s*"\w')


class EventLines:
    """The events of one file from an offset on: iterate over it for dicts and `Skipped`.

    :param path: the file.
    :param offset: where to start: the start of a line, or the `offset` of an earlier reader.
    :param line: number of lines before the offset.
    :param limit: longest event in bytes, as for `JsonLines`; an event over several lines is not longer.
    :raises OSError: the file cannot be read.
    """

    def __init__(self, path: Path, *, offset: int = 0, line: int = 0, limit: int) -> None:
        self._path = path
        self._limit = limit
        self._lines = JsonLines(path, offset=offset, line=line, limit=limit)

    @property
    def offset(self) -> int:
        """Bytes consumed."""
        return self._lines.offset

    @property
    def line(self) -> int:
        """Number of the last line read, from 1, in the whole file."""
        return self._lines.line

    def __iter__(self) -> Iterator[dict[str, Any] | Skipped]:
        while (yield from self._until_divided()):
            pass

    def _until_divided(self) -> Generator[dict[str, Any] | Skipped, None, bool]:
        """Yield records up to one that is divided, and this one; return whether there was one."""
        records = iter(self._lines)
        start = self.offset
        for record in records:
            # What was recovered from a line comes before what is damaged in it, and has moved the offset already.
            if isinstance(record, Skipped) and record.reason == "damaged" and self.offset > start:
                divided = self._joined(start)
                if divided is not None:
                    event, size, count = divided
                    first = self.line
                    records.close()  # type: ignore[attr-defined]
                    self._lines = JsonLines(self._path, offset=start + size, line=first + count - 1, limit=self._limit)
                    yield event
                    return True
            start = self.offset
            yield record
        return False

    def _joined(self, start: int) -> tuple[dict[str, Any], int, int] | None:
        """Return the event that starts at an offset and ends on a later line, its bytes and its lines; None if none."""
        with self._path.open("rb") as file:
            file.seek(start)
            first = file.readline(self._limit)
            if not first.startswith(b"{") or not _ends_inside_string(first, is_inside=False):
                return None
            parts, size = [first], len(first)
            while (line := file.readline(self._limit)) and size + len(line) <= self._limit:
                if _EVENT.match(line):
                    return None
                parts.append(line)
                size += len(line)
                if not _ends_inside_string(line, is_inside=True):
                    event = _decoded(b"".join(parts))
                    return None if event is None else (event, size, len(parts))
        return None


def _ends_inside_string(line: bytes, *, is_inside: bool) -> bool:
    quotes = sum(found == b'"' for found in _QUOTES.findall(line))
    return is_inside != bool(quotes % 2)


def _decoded(raw: bytes) -> dict[str, Any] | None:
    try:
        event = json.loads(raw.replace(b"\0", b"").decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and isinstance(event.get("type"), str) else None
