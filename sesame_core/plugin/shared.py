"""What a backend can do whose index several people share; a module of its own, which a search does not load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from ..types.query import Filters
    from ..types.server import ServerState


@runtime_checkable
class SharedBackend(Protocol):
    """A backend that others can read and several workstations write to: stored sessions leave this machine."""

    def audience(self) -> str:
        """Return who can read it, as a text for people: the address of a server, without secrets."""

    def prepare(self) -> None:
        """Create or upgrade the schema, and write nothing else: for a role that has the right to, and no sessions.

        :raises BackendError: the role lacks the right, or the schema is a newer one.
        """

    def claim(self) -> None:
        """Take over this workstation's sessions from another installation of Sesame: the machine was replaced.

        :raises BackendError: they belong to another person.
        """


@runtime_checkable
class Belongings(Protocol):
    """A reader of a shared index that returns what else of this installation is in it than its sessions.

    The rules for what others see apply under each id that the workstation had.  `IndexWriter.delete_file` also deletes
    a file of these ids, and storing a session with the visibility "metadata" deletes its file of these ids.
    """

    def former_ids(self) -> tuple[str, ...]:
        """Return other ids under which this installation has written, and may write."""

    def forgotten(self) -> set[tuple[str, str]]:
        """Return agent and id of the forgotten sessions of this workstation."""


@runtime_checkable
class Withholding(Protocol):
    """A reader of a shared index that counts the sessions of which only metadata is visible.

    Answers about files and commands say how many sessions they could not look into.
    """

    def withheld(self, filters: Filters) -> int:
        """Return the number of sessions with the visibility "metadata" that filters about sessions select.

        What a filter on texts, calls or files would say of them is not known, so these filters do not count: `path`,
        `cmd`, `is_error`, `tool`, `tools_only`, `role`, `branch`, `tags`, `starred`.
        """


@runtime_checkable
class Granted(Protocol):
    """A reader of an index that not everyone who reads it may write."""

    def may_write(self) -> bool:
        """Return whether this login may write to the index, wherever it is connected to."""


@runtime_checkable
class Monitored(Protocol):
    """A reader of an index on a server, whose state it reports."""

    def server_state(self) -> ServerState:
        """Return the state of the server, as far as the login may see it, with what someone should do about it."""


@runtime_checkable
class Fingerprinted(Protocol):
    """A writer of a shared index that detects whether anyone else has changed what this workstation has stored.

    After a backup of the server was restored, the rules for what others see must be applied again.
    """

    def fingerprint(self) -> str:
        """Return a text that changes with what is stored of this workstation, under each of its ids."""

    def forgotten(self) -> set[tuple[str, str]]:
        """Return agent and id of the forgotten sessions of this workstation."""
