"""The parser itself: finds pi's sessions, streams them, goes on where it stopped, resumes them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sesame_core import Checkpoint, ConfigError, Event, JsonLines, Options, ParseError, Session, Skipped
from sesame_core.dataclass import replace
from sesame_core.jsonl import LINE_LIMIT

from .headers import describe, is_header, read_header
from .reader import SessionReader
from .roots import default_roots


class PiParser:
    """Reads the session files of pi (versions 1 to 3), one session per file.

    :param line_limit: longest record in bytes, after base64 payloads are dropped.
    :param thinking: report the agent's thoughts, as messages of source type "thinking".
    :param excluded_bash: report shell commands that the user kept from the model (`!!`).
    """

    version = 1

    def __init__(self, *, line_limit: int = LINE_LIMIT, thinking: bool = False, excluded_bash: bool = False) -> None:
        self._line_limit = line_limit
        self._options = {"thinking": thinking, "excluded_bash": excluded_bash}
        self._roots = default_roots()

    @classmethod
    def from_options(cls, options: Options) -> PiParser:
        """Make a parser from a source's `options`.

        :raises ConfigError: an option is unknown or has a value of the wrong type.
        """
        known = ("line_limit", "thinking", "excluded_bash")
        for name, value in options.items():
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1, cutoff=0)
                raise ConfigError(f"the parser 'pi' has no option {name!r}; did you mean {near[0]!r}?")
            if name == "line_limit":
                if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                    raise ConfigError(f"option {name!r} of the parser 'pi' must be a positive whole number")
            elif not isinstance(value, bool):
                raise ConfigError(f"option {name!r} of the parser 'pi' must be true or false")
        return cls(**options)

    @property
    def default_roots(self) -> Sequence[Path]:
        """Where pi keeps its sessions, by its environment variables and settings."""
        return tuple(self._roots)

    def matches(self, path: Path) -> bool:
        """Tell whether the file is a pi session: its first readable record is a header with an id.

        :raises OSError: the file cannot be read.
        """
        return path.name.endswith(".jsonl") and path.is_file() and read_header(path) is not None

    def parse(self, path: Path) -> Iterator[Event]:
        """Yield the session, its messages in file order, the session again with all facts, and a checkpoint.

        :raises ParseError: the file holds no session header.
        :raises OSError: the file cannot be read.
        """
        lines = JsonLines(path, limit=self._line_limit)
        records = iter(lines)
        for record in records:
            if isinstance(record, Skipped):
                yield record
            elif is_header(record):
                session = describe(record, path, self._roots)
                break
            else:
                yield Skipped(reason="before the header", line=lines.line)
        else:
            raise ParseError(path, "no session header")
        yield from _rest(lines, records, SessionReader(session, **self._options))

    def parse_tail(self, path: Path, checkpoint: Checkpoint) -> Iterator[Event] | None:
        """Yield what came after the checkpoint; None when it branches off an entry that is not remembered."""
        reader = SessionReader.restore(checkpoint.state, **self._options)
        if not reader.tree.knows_parents(self._lines_after(path, checkpoint)):
            return None
        lines = self._lines_after(path, checkpoint)
        return _rest(lines, iter(lines), reader)

    def resume_command(self, session: Session, path: Path) -> Sequence[str]:
        """Return the command line that resumes the session: by its file, which works for every layout."""
        return ["pi", "--session", str(path) if path.exists() else session.id]

    def _lines_after(self, path: Path, checkpoint: Checkpoint) -> JsonLines:
        return JsonLines(path, offset=checkpoint.offset, line=checkpoint.line, limit=self._line_limit)


def _rest(lines: JsonLines, records: Iterator[dict[str, Any] | Skipped], reader: SessionReader) -> Iterator[Event]:
    """Yield what the records after the header say; `lines` is where they come from."""
    yield replace(reader.session)
    for record in records:
        if isinstance(record, Skipped):
            reader.tree.skip()
            yield record
        else:
            yield from reader.read(record)
    yield reader.finish()
    yield Checkpoint(offset=lines.offset, line=lines.line, state=reader.state())
