"""The parser: finds OpenCode's sessions, reads them, and resumes them in OpenCode.

The modules that read sessions are imported at first use: a search creates a parser only to find no changed session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sesame_core.sdk.options import SWITCH, check

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from sesame_core import Container, Event, Integration, Options, Resumption, Session, Unit


class OpenCodeParser:
    """Reads the sessions of OpenCode: JSON trees (up to 1.1) and SQLite databases (since 1.2).

    :param thinking: yield the agent's thoughts, as messages of source type "thinking".
    """

    version = 2

    def __init__(self, *, thinking: bool = False) -> None:
        self._thinking = thinking

    @classmethod
    def from_options(cls, options: Options) -> OpenCodeParser:
        """Return a parser with a source's `options`.

        :raises ConfigError: an option is unknown or has a value of the wrong type.
        """
        check("the opencode parser", options, {"thinking": SWITCH})
        return cls(**options)

    def default_roots(self) -> Sequence[Path]:
        """Return OpenCode's data directory, and the database that `OPENCODE_DB` names elsewhere."""
        from . import default_roots

        return tuple(default_roots())

    def containers(self, place: Path) -> Iterator[Container]:
        """Yield the databases and trees below a directory, or the one that a file belongs to.

        :raises OSError: the place cannot be read.
        """
        from .places import containers

        return containers(str(place))

    def units(self, container: Container) -> Iterator[Unit]:
        """Yield the sessions of a container.

        :raises OSError: it cannot be read.
        """
        from .places import units

        return units(container.path)

    def unit(self, path: Path) -> Unit:
        """Return one session.

        :raises FileNotFoundError: there is none.
        :raises OSError: its container cannot be read.
        """
        from .places import unit

        return unit(str(path))

    def matches(self, path: Path) -> bool:
        """Return whether a path is that of a session: a row of a database, or a session's file in a tree.

        :raises OSError: its container cannot be read.
        """
        try:
            self.unit(path)
        except FileNotFoundError:
            return False
        return True

    def parse(self, path: Path) -> Iterator[Event]:
        """Yield the session, its messages in order, and the session again with all facts.

        :raises ParseError: it is no session.
        :raises OSError: it cannot be read.
        """
        from .events import events

        return events(path, thinking=self._thinking)

    def resumption(self, session: Session, path: Path) -> Resumption:
        """Return how OpenCode resumes the session: by its id, in its directory.

        :raises ResumeError: it would not find the session.
        """
        from .resuming import resumption

        return resumption(session, path)

    def current_session(self, environment: Mapping[str, str], directory: str) -> str | None:
        """Return the id of the session from which OpenCode has started this program; None if it has not.

        :param directory: where the program runs.
        """
        if environment.get("OPENCODE") != "1":
            return None
        from .own import current_session

        return current_session(environment, directory)

    def integration(self, command: Sequence[str], skill: str) -> Integration:
        """Return the MCP server in the user's configuration, and the skill."""
        from .integration import integration

        return integration(command, skill)
