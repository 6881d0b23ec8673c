"""The parser of Claude Code's session files.

The modules that read files are imported at first use: a search creates a parser only to find no changed file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sesame_core.sdk.options import COUNT, SWITCH, check
from sesame_core.types.transcript import LINE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import Any

    from sesame_core import Checkpoint, Event, Integration, Options, Resumption, Session


class ClaudeCodeParser:
    """Reads Claude Code's transcripts: main sessions and those of subagents.

    :param line_limit: longest record in bytes, after base64 payloads are removed; of a longer one the middle of its
        longest strings is left out.
    :param thinking: index the agent's thinking, if the file contains its text, as the agent's text.
    """

    version = 4

    def __init__(self, *, line_limit: int = LINE_LIMIT, thinking: bool = False) -> None:
        self._line_limit = line_limit
        self._thinking = thinking

    @classmethod
    def from_options(cls, options: Options) -> ClaudeCodeParser:
        """Return a parser with a source's `options`.

        :raises ConfigError: an option is unknown or has a value of the wrong type.
        """
        check("the claude-code parser", options, {"line_limit": COUNT, "thinking": SWITCH})
        return cls(**options)

    def default_roots(self) -> Sequence[Path]:
        """Return Claude Code's session directory: `projects` in its configuration directory."""
        from . import default_roots

        return default_roots()

    def may_match(self, name: str) -> bool:
        """Return whether the name is that of a session file."""
        return name.endswith(".jsonl")

    def matches(self, path: Path) -> bool:
        """Return whether the file is a transcript, by its name and its first 64 KiB.

        :raises OSError: the file cannot be read.
        """
        if path.suffix != ".jsonl":
            return False
        from .files import is_transcript

        return is_transcript(path)

    def why_not(self, path: Path) -> str | None:
        """Return why a file that does not match cannot be read as a session; None for Claude Code's other files.

        :raises OSError: the file cannot be read.
        """
        from sesame_core.sdk.oddities import oddity

        from .files import is_other

        return None if is_other(path) else oddity(str(path))

    def parse(self, path: Path) -> Iterator[Event]:
        """Yield the session, its messages in file order, the session with all properties, and a checkpoint.

        A file without any message or title yields the session without messages.

        :raises OSError: the file cannot be read.
        """
        return self._read(path, offset=0, line=0, state=None)

    def parse_tail(self, path: Path, checkpoint: Checkpoint) -> Iterator[Event] | None:
        """Yield the events after the checkpoint; None when nothing was read before it.

        :raises OSError: the file cannot be read.
        """
        if not checkpoint.offset or not checkpoint.state:
            return None
        return self._read(path, offset=checkpoint.offset, line=checkpoint.line, state=checkpoint.state)

    def resumption(self, session: Session, path: Path) -> Resumption:
        """Return how Claude Code finds the session: in its profile, from the directory that has its file.

        :raises ResumeError: it would not find the session.
        """
        from .resuming import resumption

        return resumption(session, path)

    def expires_after_days(self) -> int:
        """Return the number of days after a file's last change when Claude Code deletes it (`cleanupPeriodDays`)."""
        from .retention import cleanup_days

        return cleanup_days()

    def integration(self, command: Sequence[str], skill: str) -> Integration:
        """Return the MCP server for all of the user's projects, and the skill."""
        from .integration import integration

        return integration(command, skill)

    def _read(self, path: Path, *, offset: int, line: int, state: dict[str, Any] | None) -> Iterator[Event]:
        from sesame_core import JsonLines

        from .files import SessionFile
        from .transcript import Transcript

        transcript = Transcript(SessionFile(path), thinking=self._thinking, state=state)
        return transcript.read(JsonLines(path, offset=offset, line=line, limit=self._line_limit))
