"""Reads a session that is a log of records, one per line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sesame_core import JsonLines, Skipped
from sesame_core.types.transcript import SHORTENED

from .documents import Member, members_in
from .records import Step
from .values import string

#: Bytes read at once in search of long lines.
BLOCK = 1 << 20
#: A list of all messages, up to the object that has it; each resume writes one, which may be as long as the file.
_LIST = re.compile(rb'\{\s*"\$set"\s*:\s*(?=\{\s*"messages"\s*:\s*\[)')
_HEAD = 64
_BLANK = b" \t\r\n\0"


class Log:
    """The steps of a log, from an offset on: iterate over it for `Step` and `Skipped`.

    A list of all messages that is longer than the limit of a record is read message by message.

    :param limit: longest record, and longest message in a list, in bytes.
    """

    def __init__(self, path: Path, *, offset: int = 0, line: int = 0, limit: int) -> None:
        self._path = path
        self._limit = limit
        #: As of `JsonLines`.
        self.offset = offset
        self.line = line

    def __iter__(self) -> Iterator[Step | Skipped]:
        for begin, end, start, lines in self._long_lists():
            yield from self._records_until(begin)
            self.line += lines
            yield from self._list(start, end)
            self.offset = end
        yield from self._records_until(None)

    def _records_until(self, end: int | None) -> Iterator[Step | Skipped]:
        """Yield the steps of the records before an offset at which a line starts."""
        if end is not None and self.offset >= end:
            return
        lines = JsonLines(self._path, offset=self.offset, line=self.line, limit=self._limit)
        for record in lines:
            self.offset, self.line = lines.offset, lines.line
            yield from [record] if isinstance(record, Skipped) else _steps(record)
            if end is not None and lines.offset >= end:
                return
        self.offset, self.line = lines.offset, lines.line

    def _list(self, start: int, end: int) -> Iterator[Step | Skipped]:
        """Yield the steps of a list, from the object that has it on."""
        held: Step | None = Step("list", None)
        for item in members_in(self._path, start, end, self._limit, closing=b"}"):
            if isinstance(item, Skipped) and item.reason == SHORTENED and held is not None:
                held = held._replace(is_shortened=True)
                continue
            if held is not None:
                yield held
                held = None
            if isinstance(item, Skipped):
                yield Skipped(reason=item.reason, line=self.line)
            elif not isinstance(item, Member):
                yield Step("about", item)
            elif item.name == "messages":
                held = Step("listed", item.value)
        if held is not None:
            yield held

    def _long_lists(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield each list over the limit: where its line begins and ends, where the object with it begins, its lines.

        Blank lines before it belong to it, because `JsonLines` reads on over them.
        """
        if os.path.getsize(self._path) - self.offset <= self._limit:
            return
        with self._path.open("rb", buffering=0) as file:
            begin = after = position = file.seek(self.offset)
            head, blank = b"", 0
            while block := file.read(BLOCK):
                start = 0
                while (newline := block.find(b"\n", start)) >= 0:
                    end = position + newline + 1
                    head = (head + block[start : min(newline, start + _HEAD)])[:_HEAD]
                    if end - begin > self._limit and (found := _LIST.match(head)):
                        yield after, end, begin + found.end(), blank + 1
                    if head.strip(_BLANK) or os.pread(file.fileno(), min(end - begin, BLOCK), begin).strip(_BLANK):
                        after, blank = end, 0
                    else:
                        blank += 1
                    begin, start, head = end, newline + 1, b""
                head = (head + block[start : start + _HEAD])[:_HEAD]
                position += len(block)


def _steps(record: dict[str, Any]) -> Iterator[Step]:
    if isinstance(record.get("$rewindTo"), str):
        yield Step("rewind", string(record, "$rewindTo"))
    elif isinstance(changes := record.get("$set"), dict):
        yield from _changes(changes)
    elif isinstance(record.get("id"), str) or (isinstance(record.get("type"), str) and "content" in record):
        yield Step("message", record)
    elif "sessionId" in record or "messages" in record:
        yield from _changes(record)


def _changes(changes: dict[str, Any]) -> Iterator[Step]:
    messages = changes.get("messages")
    yield Step("about", {key: value for key, value in changes.items() if key != "messages"})
    if isinstance(messages, list):
        yield Step("list", None)
        yield from (Step("listed", message) for message in messages if isinstance(message, dict))
