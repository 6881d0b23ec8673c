"""The parser: finds pi's sessions, reads them, and resumes them in pi.

The modules that read files are imported at first use: a search creates a parser only to find no changed file.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from sesame_core.sdk.options import COUNT, SWITCH, check
from sesame_core.types.transcript import LINE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sesame_core import Checkpoint, Event, Integration, Options, Resumption, Session


class PiParser:
    """Reads the session files of pi (versions 1 to 3), one session per file.

    :param line_limit: longest record in bytes, after base64 payloads are removed; of a longer one the middle of its
        longest strings is left out.
    :param thinking: yield the agent's thoughts, as messages of source type "thinking".
    :param excluded_bash: yield shell commands that the user hid from the model (`!!`).
    """

    version = 2

    def __init__(self, *, line_limit: int = LINE_LIMIT, thinking: bool = False, excluded_bash: bool = False) -> None:
        self._line_limit = line_limit
        self._options = {"thinking": thinking, "excluded_bash": excluded_bash}

    @classmethod
    def from_options(cls, options: Options) -> PiParser:
        """Return a parser with a source's `options`.

        :raises ConfigError: an option is unknown or has a value of the wrong type.
        """
        kinds = {"line_limit": COUNT, "thinking": SWITCH, "excluded_bash": SWITCH}
        check("the pi parser", options, kinds)
        return cls(**options)

    def default_roots(self) -> Sequence[Path]:
        """Return where pi keeps its sessions, by its environment variables and settings."""
        return self._roots

    @cached_property
    def _roots(self) -> Sequence[Path]:
        from . import default_roots

        return tuple(default_roots())

    def may_match(self, name: str) -> bool:
        """Return whether the name is that of a session file."""
        return name.endswith(".jsonl")

    def matches(self, path: Path) -> bool:
        """Return whether the file is a pi session: its first readable record is a header with an id.

        :raises OSError: the file cannot be read.
        """
        if not path.name.endswith(".jsonl") or not path.is_file():
            return False
        from .headers import read_header

        return read_header(path) is not None

    def parse(self, path: Path) -> Iterator[Event]:
        """Yield the session, its messages in file order, the session again with all facts, and a checkpoint.

        :raises ParseError: the file has no session header.
        :raises OSError: the file cannot be read.
        """
        from .events import events

        return events(path, self._roots, limit=self._line_limit, **self._options)

    def parse_tail(self, path: Path, checkpoint: Checkpoint) -> Iterator[Event] | None:
        """Yield the events after the checkpoint; None when they branch off an entry that is not stored."""
        from .events import tail_events

        return tail_events(path, checkpoint, limit=self._line_limit, **self._options)

    def resumption(self, session: Session, path: Path) -> Resumption:
        """Return how pi resumes the session: by its file, in its profile.

        :raises ResumeError: it would not find the session.
        """
        from .resuming import resumption

        return resumption(session, path)

    def integration(self, command: Sequence[str], skill: str) -> Integration:
        """Return the extension, and the skill."""
        from .integration import integration

        return integration(command, skill)
