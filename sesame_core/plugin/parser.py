"""What a parser must be able to do, and what it may do besides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from ..types.integration import Integration
from ..types.transcript import Checkpoint, Event, Session


class Parser(Protocol):
    """Reads one agent's session files."""

    @property
    def version(self) -> int:
        """A number that grows when the parser's output changes: files read by an older one are read again."""

    def default_roots(self) -> Sequence[Path]:
        """Return where this agent keeps its sessions, by the agent's own environment variables and settings.

        They need not exist.  Asked only when the configuration names no path.
        """

    def matches(self, path: Path) -> bool:
        """Tell whether the file is one of this agent's sessions; cheap: name first, then a few records."""

    def parse(self, path: Path) -> Iterator[Event]:
        """Yield what the file says, in file order, in bounded memory.

        A session is introduced by a `Session` before its first `Message`.  Odd records become `Skipped`.

        :raises ParseError: the file as a whole is not what `matches` promised.
        :raises OSError: the file cannot be read.
        """


@runtime_checkable
class TailParser(Protocol):
    """A parser that can go on where it stopped when a file has only grown."""

    def parse_tail(self, path: Path, checkpoint: Checkpoint) -> Iterator[Event] | None:
        """Yield what came after the checkpoint, as `parse` would have; None when it cannot tell."""


@runtime_checkable
class Resumer(Protocol):
    """A parser that knows how its agent resumes a session."""

    def resume_command(self, session: Session, path: Path) -> Sequence[str]:
        """Return the command line that resumes the session when run in the session's cwd."""


@runtime_checkable
class Expiring(Protocol):
    """A parser whose agent deletes old session files by itself."""

    def expires_after_days(self) -> int | None:
        """Days after a file's last change when the agent deletes it; None when it keeps files."""


@runtime_checkable
class Integrable(Protocol):
    """A parser that knows how its agent learns of Sesame."""

    def integration(self, command: Sequence[str], skill: str) -> Integration:
        """Return the files and settings that tell the agent of Sesame; nothing is read or written.

        :param command: what starts Sesame, whatever the agent's `PATH` is.
        :param skill: the text of the skill that teaches the command line.
        """
