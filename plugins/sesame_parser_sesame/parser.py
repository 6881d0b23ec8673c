"""The parser itself: finds sessions of the native format, streams them, goes on where it stopped."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from sesame_core import Checkpoint, ConfigError, Event, JsonLines, Options, ParseError, Skipped
from sesame_core.jsonl import LINE_LIMIT
from sesame_core.paths import data_dir

from .header import HEADER, read_header
from .records import RecordReader

#: Bytes within which the header must end, for a file to be recognised.
SNIFFED = 1 << 16


class SesameParser:
    """Reads files of the native format (docs/native-format.md), one session per file.

    :param line_limit: longest record in bytes, after base64 payloads are dropped.
    """

    version = 1

    def __init__(self, *, line_limit: int = LINE_LIMIT) -> None:
        self._line_limit = line_limit

    @classmethod
    def from_options(cls, options: Options) -> SesameParser:
        """Make a parser from a source's `options`.

        :raises ConfigError: an option is unknown or has a value of the wrong type.
        """
        for name, value in options.items():
            if name != "line_limit":
                near = difflib.get_close_matches(name, ["line_limit"], n=1, cutoff=0)
                raise ConfigError(f"the parser 'sesame' has no option {name!r}; did you mean {near[0]!r}?")
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ConfigError(f"option {name!r} of the parser 'sesame' must be a positive whole number")
        return cls(**options)

    @property
    def default_roots(self) -> Sequence[Path]:
        """Where `sesame import` and `sesame_core.Runtime` put sessions."""
        return (data_dir() / "sessions",)

    def matches(self, path: Path) -> bool:
        """Tell whether the file's first readable record is a header of this format.

        :raises OSError: the file cannot be read.
        """
        if path.suffix != ".jsonl" or not path.is_file():
            return False
        with path.open("rb") as file:
            head = file.read(SNIFFED)
        for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
            try:
                record = orjson.loads(line.replace(b"\0", b""))
            except orjson.JSONDecodeError:
                # Blank and damaged lines may stand before the header.
                continue
            return isinstance(record, dict) and record.get("type") == HEADER
        return False

    def parse(self, path: Path) -> Iterator[Event]:
        """Yield the session, its messages in file order, and a checkpoint.

        :raises ParseError: the file has no header, or one that this program cannot read.
        :raises OSError: the file cannot be read.
        """
        lines = JsonLines(path, limit=self._line_limit)
        records = iter(lines)
        for record in records:
            if isinstance(record, Skipped):
                yield record
                continue
            if record.get("type") != HEADER:
                break
            reader = RecordReader(read_header(record, path, lines.line))
            yield from reader.introduce()
            yield from _rest(lines, records, reader)
            return
        raise ParseError(path, f'no header: the first record must be {{"type": "{HEADER}", …}}')

    def parse_tail(self, path: Path, checkpoint: Checkpoint) -> Iterator[Event]:
        """Yield what came after the checkpoint."""
        lines = JsonLines(path, offset=checkpoint.offset, line=checkpoint.line, limit=self._line_limit)
        return _rest(lines, iter(lines), RecordReader.restore(checkpoint.state))


def _rest(lines: JsonLines, records: Iterator[dict[str, Any] | Skipped], reader: RecordReader) -> Iterator[Event]:
    """Yield what the records after the header say; `lines` is where they come from."""
    for record in records:
        if isinstance(record, Skipped):
            yield record
        else:
            yield from reader.read(record, lines.line)
    yield Checkpoint(offset=lines.offset, line=lines.line, state=reader.state())
