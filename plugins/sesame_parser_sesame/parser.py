"""The parser: finds sessions of the native format, reads them, and resumes where it stopped.

The modules that read files are imported at first use: a search creates a parser only to find no changed file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sesame_core.sdk.options import COUNT, check
from sesame_core.types.transcript import LINE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sesame_core import Checkpoint, Event, Options


class SesameParser:
    """Reads files of the native format (docs/native-format.md), one session per file.

    :param line_limit: longest record in bytes, after base64 payloads are removed; of a longer one the middle of its
        longest strings is left out.
    """

    version = 2

    def __init__(self, *, line_limit: int = LINE_LIMIT) -> None:
        self._line_limit = line_limit

    @classmethod
    def from_options(cls, options: Options) -> SesameParser:
        """Return a parser with a source's `options`.

        :raises ConfigError: an option is unknown or has a value of the wrong type.
        """
        check("the sesame parser", options, {"line_limit": COUNT})
        return cls(**options)

    def default_roots(self) -> Sequence[Path]:
        """Return the directory in which `sesame import` and `sesame_core.Runtime` write sessions."""
        from . import default_roots

        return default_roots()

    def may_match(self, name: str) -> bool:
        """Return whether the name is that of a session file."""
        return name.endswith(".jsonl")

    def matches(self, path: Path) -> bool:
        """Return whether the file's first readable record is a header of this format.

        :raises OSError: the file cannot be read.
        """
        if path.suffix != ".jsonl" or not path.is_file():
            return False
        from .events import is_session

        return is_session(path)

    def parse(self, path: Path) -> Iterator[Event]:
        """Yield the session, its messages in file order, and a checkpoint.

        :raises ParseError: the file has no header, or one that this program cannot read.
        :raises OSError: the file cannot be read.
        """
        from .events import events

        return events(path, limit=self._line_limit)

    def parse_tail(self, path: Path, checkpoint: Checkpoint) -> Iterator[Event]:
        """Yield the events after the checkpoint."""
        from .events import tail_events

        return tail_events(path, checkpoint, limit=self._line_limit)
