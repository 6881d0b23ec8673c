"""The parser: finds Codex's sessions, reads them, and resumes them in Codex.

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


class CodexParser:
    """Reads the rollouts of Codex, of every version of its Rust program, one session per file.

    :param line_limit: longest record in bytes, after base64 payloads are removed; of a longer one the middle of its
        longest strings is left out.
    :param thinking: yield the summaries of the agent's reasoning, as messages of source type "thinking".
    """

    version = 1

    def __init__(self, *, line_limit: int = LINE_LIMIT, thinking: bool = False) -> None:
        self._line_limit = line_limit
        self._thinking = thinking

    @classmethod
    def from_options(cls, options: Options) -> CodexParser:
        """Return a parser with a source's `options`.

        :raises ConfigError: an option is unknown or has a value of the wrong type.
        """
        check("the codex parser", options, {"line_limit": COUNT, "thinking": SWITCH})
        return cls(**options)

    def default_roots(self) -> Sequence[Path]:
        """Return where Codex keeps its sessions: `sessions` and `archived_sessions` in `CODEX_HOME`."""
        from . import default_roots

        return default_roots()

    def may_match(self, name: str) -> bool:
        """Return whether the name is that of a session file, plain or compressed."""
        return name.endswith((".jsonl", ".jsonl.zst"))

    def matches(self, path: Path) -> bool:
        """Return whether the file is a rollout, by its first record; a compressed one next to its original is none.

        :raises OSError: the file cannot be read.
        """
        if not self.may_match(path.name) or not path.is_file():
            return False
        from .files import is_rollout

        return is_rollout(path)

    def why_not(self, path: Path) -> str | None:
        """Return why a file that does not match cannot be read as a session; None for Codex's other files.

        :raises OSError: the file cannot be read.
        """
        from sesame_core.sdk.oddities import oddity

        from .files import is_other

        return None if is_other(path) else oddity(str(path))

    def parse(self, path: Path) -> Iterator[Event]:
        """Yield the session, its messages in file order, the session again with all properties, and a checkpoint.

        :raises ParseError: the file has neither a session header nor a session's id in its name, or it is compressed
            and nothing here can decompress it.
        :raises OSError: the file cannot be read.
        """
        from .events import events

        return events(path, limit=self._line_limit, thinking=self._thinking)

    def parse_tail(self, path: Path, checkpoint: Checkpoint) -> Iterator[Event] | None:
        """Yield the events after the checkpoint; None for a compressed file, and when it turns out to be imported."""
        if not checkpoint.offset or not checkpoint.state:
            return None
        from .events import tail_events
        from .imported import origin_of

        if not checkpoint.state["former"] and origin_of(path, checkpoint.state["thread"]):
            return None

        return tail_events(path, checkpoint, limit=self._line_limit, thinking=self._thinking)

    def resumption(self, session: Session, path: Path) -> Resumption:
        """Return how Codex resumes the session: by its id, in the home that has its file.

        :raises ResumeError: its file is gone.
        """
        from .resuming import resumption

        return resumption(session, path)

    def integration(self, command: Sequence[str], skill: str) -> Integration:
        """Return the skill."""
        from .integration import integration

        return integration(command, skill)
