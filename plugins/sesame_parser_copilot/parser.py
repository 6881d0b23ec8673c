"""The parser: finds Copilot CLI's sessions, reads them, and resumes them in Copilot CLI.

The modules that read files are imported at first use: a search creates a parser only to find no changed file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sesame_core.sdk.options import COUNT, SWITCH, check
from sesame_core.types.transcript import LINE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sesame_core import Checkpoint, Event, Integration, Options, Resumption, Session


class CopilotParser:
    """Reads the session files of Copilot CLI: event logs, and the single JSON objects of its first versions.

    :param line_limit: longest record in bytes, after base64 payloads are removed; of a longer one the middle of its
        longest strings is left out.
    :param thinking: yield the agent's thoughts, as messages of source type "thinking".
    """

    version = 1

    def __init__(self, *, line_limit: int = LINE_LIMIT, thinking: bool = False) -> None:
        self._line_limit = line_limit
        self._thinking = thinking

    @classmethod
    def from_options(cls, options: Options) -> CopilotParser:
        """Return a parser with a source's `options`.

        :raises ConfigError: an option is unknown or has a value of the wrong type.
        """
        check("the copilot parser", options, {"line_limit": COUNT, "thinking": SWITCH})
        return cls(**options)

    def default_roots(self) -> Sequence[Path]:
        """Return where Copilot CLI keeps its sessions, by its environment variables."""
        from . import default_roots

        return tuple(default_roots())

    def may_match(self, name: str) -> bool:
        """Return whether the name is that of a session file."""
        return name.endswith(".jsonl") or (name.startswith("session_") and name.endswith(".json"))

    def matches(self, path: Path) -> bool:
        """Return whether the file is a session, by its place and its first 64 KiB.

        :raises OSError: the file cannot be read.
        """
        if not self.may_match(path.name) or not path.is_file():
            return False
        from .files import is_session

        return is_session(path)

    def why_not(self, path: Path) -> str | None:
        """Return why a file that does not match cannot be read as a session; None for files that an agent made.

        :raises OSError: the file cannot be read.
        """
        from sesame_core.sdk.oddities import oddity

        from .files import is_other

        return None if is_other(path) else oddity(str(path))

    def parse(self, path: Path) -> Iterator[Event]:
        """Yield the session and its subagents' with their messages in file order, and a checkpoint.

        :raises ParseError: the file is one JSON object and cannot be decoded.
        :raises OSError: the file cannot be read.
        """
        if path.suffix == ".json":
            from .history import events

            return events(path)
        return self._read(path)

    def parse_tail(self, path: Path, checkpoint: Checkpoint) -> Iterator[Event] | None:
        """Yield the events after the checkpoint; None when nothing was read before it.

        :raises OSError: the file cannot be read.
        """
        if not checkpoint.offset or not checkpoint.state:
            return None
        return self._read(path, checkpoint)

    def resumption(self, session: Session, path: Path) -> Resumption:
        """Return how Copilot CLI resumes the session: by its id, from the home that has its file.

        :raises ResumeError: it would not find the session.
        """
        from .resuming import resumption

        return resumption(session, path)

    def integration(self, command: Sequence[str], skill: str) -> Integration:
        """Return the MCP server for all of the user's projects, and the skill."""
        from .integration import integration

        return integration(command, skill)

    def _read(self, path: Path, checkpoint: Checkpoint | None = None) -> Iterator[Event]:
        from .files import SessionFile
        from .lines import EventLines
        from .transcript import Transcript

        offset, line = (checkpoint.offset, checkpoint.line) if checkpoint else (0, 0)
        lines = EventLines(path, offset=offset, line=line, limit=self._line_limit)
        state = checkpoint.state if checkpoint else None
        return Transcript(SessionFile(path), thinking=self._thinking, state=state).read(lines)
