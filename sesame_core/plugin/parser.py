"""The Protocols of a parser: the required one, and the optional abilities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from ..types.integration import Integration
from ..types.listing import Container, Unit
from ..types.resumption import Resumption
from ..types.transcript import Checkpoint, Event, Session


class Parser(Protocol):
    """Reads one agent's session files."""

    @property
    def version(self) -> int:
        """A number that grows when the parser's output changes: files read by an older version are read again."""

    def default_roots(self) -> Sequence[Path]:
        """Return the directories of this agent's sessions, by the agent's own environment variables and settings.

        They need not exist.  Called only when the configuration names no path.
        """

    def matches(self, path: Path) -> bool:
        """Return whether the file is one of this agent's sessions; cheap: check its name, then a few records."""

    def parse(self, path: Path) -> Iterator[Event]:
        """Yield the events of the file, in file order, in bounded memory.

        A session's `Session` comes before its first `Message`.  Invalid records become `Skipped`.

        :raises ParseError: the file as a whole is not a session of this agent, although `matches` returned True.
        :raises OSError: the file cannot be read.
        """


@runtime_checkable
class Naming(Protocol):
    """A parser whose sessions are recognised by name: thousands of files are then counted without opening them."""

    def may_match(self, name: str) -> bool:
        """Return False when a file of this name is no session, whatever is in it; `matches` decides about the others.

        :param name: the last part of the path.
        """


@runtime_checkable
class Listing(Protocol):
    """A parser whose sessions are not files of their own: rows of a database, trees of many small files.

    It finds its sessions itself, as units with paths of their own, which `matches` and `parse` get like those of files.
    Units are listed before each search, within milliseconds: by indexes and times, not by reading what is in them.
    """

    def containers(self, place: Path) -> Iterator[Container]:
        """Yield the containers below a directory, or the one that the place is, or is a part of.

        :param place: a real path: a root, or any file or directory in one, such as a database's log that has changed.
        :raises OSError: the place cannot be read.
        """

    def units(self, container: Container) -> Iterator[Unit]:
        """Yield the units of a container, those of an empty or unfinished container too: none.

        :raises OSError: it cannot be read: locked, damaged.  Its units are then neither new nor missing.
        """

    def unit(self, path: Path) -> Unit:
        """Return one unit as it is at present, as `units` would yield it.

        :raises FileNotFoundError: there is no such unit (any more).
        :raises OSError: its container cannot be read.
        """


@runtime_checkable
class TailParser(Protocol):
    """A parser that can resume where it stopped when a file has only grown."""

    def parse_tail(self, path: Path, checkpoint: Checkpoint) -> Iterator[Event] | None:
        """Yield the events after the checkpoint, as `parse` would; None when the whole file must be read."""


@runtime_checkable
class Explaining(Protocol):
    """A parser that knows which files with the name of a session are none."""

    def why_not(self, path: Path) -> str | None:
        """Return why a file that does not match cannot be read as a session, in a few words; None if it is no session.

        Called for files whose name contains `.jsonl`, and for those that the user names.  Without this ability the
        first bytes of a file decide (`sesame_core.sdk.oddities`).

        :raises OSError: the file cannot be read.
        """


@runtime_checkable
class Resumer(Protocol):
    """A parser that knows how its agent resumes a session."""

    def resume_command(self, session: Session, path: Path) -> Sequence[str]:
        """Return the command line that resumes the session when run in the session's cwd."""


@runtime_checkable
class Resuming(Protocol):
    """A parser that knows where its agent looks for a session; it takes precedence over `Resumer`."""

    def resumption(self, session: Session, path: Path) -> Resumption:
        """Return the command that resumes the session, its directory and its environment.

        Sesame checks whether the directory exists; `session.places` has all in which the session was.

        :param path: the session's file.
        :raises ResumeError: the agent cannot find the session; the message says why and what to do.
        """


@runtime_checkable
class Expiring(Protocol):
    """A parser whose agent deletes old session files by itself."""

    def expires_after_days(self) -> int | None:
        """Return the days after a file's last change when the agent deletes it; None when it keeps files."""


@runtime_checkable
class Calling(Protocol):
    """A parser that finds the session from which its agent has started a program, where no variable has its id."""

    def current_session(self, environment: Mapping[str, str], directory: str) -> str | None:
        """Return the id of the session; None when the program was not started by this agent, or by which is not known.

        Called where a variable of `plugin.agents.SIGNS` is set, before each search and each call of a tool.

        :param directory: where the program runs.
        """


@runtime_checkable
class Integrable(Protocol):
    """A parser that knows how to integrate Sesame into its agent."""

    def integration(self, command: Sequence[str], skill: str) -> Integration:
        """Return the files and settings that make Sesame known to the agent; nothing is read or written.

        :param command: the command that starts Sesame, whatever the agent's `PATH` is.
        :param skill: the text of the skill that teaches the command line.
        """
