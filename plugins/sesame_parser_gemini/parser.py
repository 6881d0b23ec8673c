"""The parser: finds Gemini CLI's sessions, reads them, and resumes them.

The modules that read files are imported at first use: a search creates a parser only to find no changed file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sesame_core.sdk.options import COUNT, SWITCH, check
from sesame_core.types.transcript import LINE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from sesame_core import Checkpoint, Event, Integration, Options, Resumption, Session


#: Gemini CLI's files with such a name that are not sessions.
_OTHER_FILES = frozenset({"logs.json", "projects.json", "settings.json"})


class GeminiParser:
    """Reads the session files of Gemini CLI: one JSON object up to 0.38, a log of records from 0.39 on.

    :param line_limit: longest record in bytes, after base64 payloads are removed; of a longer one the middle of its
        longest strings is left out.
    :param thinking: yield the agent's thoughts, as messages of source type "thinking".
    """

    version = 2

    def __init__(self, *, line_limit: int = LINE_LIMIT, thinking: bool = False) -> None:
        self._line_limit = line_limit
        self._thinking = thinking

    @classmethod
    def from_options(cls, options: Options) -> GeminiParser:
        """Return a parser with a source's `options`.

        :raises ConfigError: an option is unknown or has a value of the wrong type.
        """
        check("the gemini parser", options, {"line_limit": COUNT, "thinking": SWITCH})
        return cls(**options)

    def default_roots(self) -> Sequence[Path]:
        """Return `tmp` in Gemini CLI's directory, which has a directory for each project."""
        from . import default_roots

        return default_roots()

    def may_match(self, name: str) -> bool:
        """Return whether the name may be that of a session file."""
        return name.endswith((".jsonl", ".json")) and name not in _OTHER_FILES

    def matches(self, path: Path) -> bool:
        """Return whether the file is a session, by its name, its place and its first 64 KiB.

        :raises OSError: the file cannot be read.
        """
        if not self.may_match(path.name):
            return False
        from .files import is_session

        return is_session(path)

    def why_not(self, path: Path) -> str | None:
        """Return why a file that does not match cannot be read as a session; None for Gemini CLI's other files.

        :raises OSError: the file cannot be read.
        """
        if path.name.endswith(".json") and path.name.startswith("session-") and path.stat().st_size:
            return "it has no session id, or is damaged"
        if not path.name.endswith(".jsonl"):
            # Copies of damaged files (`….jsonl.unreadable-<ms>`), unfinished ones (`….jsonl.tmp-<pid>`), settings.
            return None
        from sesame_core.sdk.oddities import oddity

        return oddity(str(path))

    def parse(self, path: Path) -> Iterator[Event]:
        """Yield the session, its messages in file order, the session with all properties, and a checkpoint.

        :raises ParseError: the file is not a session.
        :raises OSError: the file cannot be read.
        """
        from .events import events

        return events(path, limit=self._line_limit, thinking=self._thinking)

    def parse_tail(self, path: Path, checkpoint: Checkpoint) -> Iterator[Event] | None:
        """Yield the events after the checkpoint; None when they change what was read before it.

        :raises OSError: the file cannot be read.
        """
        from .events import tail_events

        return tail_events(path, checkpoint, limit=self._line_limit, thinking=self._thinking)

    def resumption(self, session: Session, path: Path) -> Resumption:
        """Return how Gemini CLI finds the session: by its id, from the directory of its project.

        :raises ResumeError: it would not find the session.
        """
        from .resuming import resumption

        return resumption(session, path)

    def current_session(self, environment: Mapping[str, str], directory: str) -> str | None:
        """Return the id of the session from which a program was started; None if Gemini CLI did not start it.

        :param environment: the program's environment variables.
        :param directory: where it runs.
        """
        if "GEMINI_CLI" not in environment:
            return None
        from .own import current_session

        return current_session(environment, directory)

    def expires_after_days(self) -> int | None:
        """Return the days after a session's last change when Gemini CLI deletes it; None when it keeps sessions."""
        from .retention import retention_days

        return retention_days()

    def integration(self, command: Sequence[str], skill: str) -> Integration:
        """Return the MCP server for all of the user's projects, and the skill."""
        from .integration import integration

        return integration(command, skill)
