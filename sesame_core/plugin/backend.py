"""What a storage backend must be able to do, and what it may do besides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol, runtime_checkable

from ..types.index import Candidates, Chunk, Freshness, IndexedFile, KnownFile, Statistics, StoredSession, Stretch
from ..types.query import Condition, Filters, Query
from ..types.transcript import Event, Notes, Session


class IndexReader(Protocol):
    """The read half of a backend.  Safe to use from several threads; never blocks on a writer."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Let all calls inside see one state of the index, whatever a writer does meanwhile."""

    def candidates(self, query: Query, filters: Filters) -> Candidates:
        """Find and score chunks for a query; filters and condition are applied before any limit.

        A chunk of the session has a word of the query, and the session meets the condition.  Never raises for a query.
        """

    def sessions(self, numbers: Iterable[int]) -> list[StoredSession]:
        """Return the sessions of these numbers that exist, in any order."""

    def list_sessions(
        self, filters: Filters, *, limit: int, offset: int = 0, condition: Condition | None = None
    ) -> tuple[list[StoredSession], int]:
        """Return sessions that meet a condition by modified time, newest first, and how many there are in all."""

    def find_sessions(self, prefix: str) -> list[StoredSession]:
        """Return the sessions whose id begins with the prefix (all with that id when it is a whole one)."""

    def chunks(self, number: int, first: int = 0, count: int | None = None) -> list[Chunk]:
        """Return a session's chunks by position, in order."""

    def matching(self, query: Query, chunks: Sequence[tuple[int, int]]) -> list[frozenset[int]]:
        """For each (session number, seq) tell which of the query's words, by position, it contains."""

    def statistics(self) -> Statistics:
        """Count what is there."""


@runtime_checkable
class Gathering(Protocol):
    """A reader that returns many stretches of sessions at once: each would be a way to the server and back."""

    def stretches(self, wanted: Sequence[Stretch]) -> list[list[Chunk]]:
        """Return for each stretch what `chunks` would, in the order of the stretches."""


@runtime_checkable
class Naming(Protocol):
    """A reader that finds many sessions by their ids at once."""

    def named(self, ids: Iterable[str]) -> list[StoredSession]:
        """Return the sessions that have one of these ids, in any order; the beginning of an id is none."""


@runtime_checkable
class Vocabulary(Protocol):
    """A reader that knows the words in its index."""

    def terms(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Return indexed terms that begin with a prefix and in how many chunks each occurs, the commonest first.

        Terms are folded and stemmed, as the index holds them; rare ones (one chunk) may be left out.
        """


@runtime_checkable
class Dated(Protocol):
    """A reader that can tell cheaply how fresh its index is."""

    def freshness(self) -> Freshness:
        """Tell when the index was last brought up to date, and how many files could not be read."""


@runtime_checkable
class Remembering(Protocol):
    """A reader that can tell what the index knows of files: a search does not write when none has changed."""

    def known_files(self) -> dict[str, KnownFile]:
        """Return all files by path.

        The time of a file whose last reading failed, or for which a run has something else to do, is `types.UNREAD`.
        """


@runtime_checkable
class Recalling(Protocol):
    """A reader that can tell of some files alone: those of a time."""

    def known_between(self, first_ns: int, last_ns: int) -> dict[str, KnownFile]:
        """Return of `known_files` those last modified between two times, and those for which a run has more to do.

        :param first_ns: nanoseconds since 1970, less than 2**63, as `last_ns`.
        """


@runtime_checkable
class Noting(Protocol):
    """A reader beside whose index a note can lie, for other processes: what the last look at all files found."""

    def note_path(self) -> str | None:
        """Return where a file may be kept that goes with this index: elsewhere when another takes its place.

        None: nowhere, or there is no index yet.
        """


class IndexWriter(Protocol):
    """The write half of a backend, held by one process at a time."""

    def files(self) -> dict[str, IndexedFile]:
        """Return every file the index knows, by path; checkpoints may be left out (see `file`)."""

    def file(self, path: str) -> IndexedFile | None:
        """Return what is remembered about one file, with its checkpoint."""

    def file_sessions(self, path: str) -> list[Session]:
        """Return the sessions that were read from a file, with their counts."""

    def replace(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> int:
        """Forget what the file said and store what it says now, in one transaction; return the chunks stored.

        The iterable is consumed inside the transaction.  A chunk's session may be described after it; the last
        `Session` of an id counts.  Fields of `file` may change until the iterable ends.  Sessions with a
        tombstone are dropped.  When the iterable raises, nothing changes.
        """

    def append(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> int:
        """Add what a grown file says beyond its checkpoint, in one transaction; return the chunks stored."""

    def update_files(self, files: Iterable[IndexedFile]) -> None:
        """Remember files whose content did not change: missing, back again, failed, or touched."""

    def forget(self, number: int) -> int:
        """Delete a session and leave a tombstone, so that no later run brings it back; return chunks deleted."""

    def finish(self, *, synced_at: datetime | None) -> None:
        """End a run: tidy up within bounds and, when given, record the time of the sync."""


@runtime_checkable
class Redacting(Protocol):
    """A writer that takes secrets out of what it stores."""

    def redacted(self, file: IndexedFile, events: Iterable[Event]) -> Iterator[Event]:
        """Take them out of what a parser says of a file, before parts of it are cut off."""


@runtime_checkable
class Reticent(Protocol):
    """A writer that does not store private sessions."""

    def withheld(self) -> int:
        """Return of how many files nothing is stored, because all their sessions are private."""


@runtime_checkable
class Withdrawing(Protocol):
    """A writer that can take back what others could read."""

    def withdraw(self, path: str) -> int:
        """Delete a file and its sessions, without a tombstone and without a trace; return chunks deleted."""


@runtime_checkable
class Carrying(Protocol):
    """A writer of a rebuilt index that takes over what the old one holds through the writers that stand before it."""

    def carry_through(self, writer: IndexWriter) -> None:
        """Store what is taken over by giving it to a writer that stands before this one."""


@runtime_checkable
class Annotating(Protocol):
    """A writer that keeps the notes of sessions, and ranks them with titles and summaries."""

    def annotate(self, session_id: str, notes: Notes | None) -> int:
        """Let the sessions of this id, which this workstation wrote, have these notes; return how many changed.

        A session whose texts are not stored (`visibility` "metadata") gets none.
        """


class StorageBackend(Protocol):
    """Keeps sessions and finds them again."""

    def reader(self) -> IndexReader:
        """Open for reading; runs no schema change.  An index that does not exist yet reads as an empty one."""

    def writer(self) -> AbstractContextManager[IndexWriter]:
        """Open for writing, creating or upgrading the schema.

        :raises LockedError: another process is writing.
        """

    def rebuild(self) -> AbstractContextManager[IndexWriter]:
        """Open an empty index beside the present one.

        Leaving the context takes over sessions whose files are gone, and tombstones, and puts the new index in
        the place of the old at once.  Leaving it by an exception leaves the old one as it was.
        """

    def close(self) -> None:
        """Release what is held; the backend can be opened again by another call."""


@runtime_checkable
class Preparable(Protocol):
    """A backend whose schema one person makes for others who have no right to."""

    def prepare(self) -> None:
        """Make or upgrade the schema, and write nothing else: for whoever has the right to, and no sessions.

        :raises BackendError: the right is missing, or the schema is a newer one.
        """


@runtime_checkable
class Shared(Protocol):
    """A backend that others can read: what is stored there leaves this machine."""

    def audience(self) -> str:
        """Who can read it, for people: the address of a server, without secrets."""


@runtime_checkable
class Claimable(Protocol):
    """A backend that several workstations write to, and that tells a machine from a copy of it."""

    def claim(self) -> None:
        """Take this workstation's sessions over from another installation of Sesame: the machine has moved.

        :raises BackendError: they are another person's.
        """
