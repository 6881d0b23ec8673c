"""What a storage backend must be able to do, and what it may do besides.

Required are 22 methods: 4 of the backend, 9 of its reader, 9 of its writer.  An ability that not every backend has is a
Protocol of its own, found with `isinstance`.  `sesame_core.testing.BackendConformance` holds a backend to every rule
that is told here; `sesame_core.testing.memory` is the reference: the whole contract in plain Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol, TypeAlias, runtime_checkable

from ..types.index import Candidates, Chunk, ChunkRange, Freshness, IndexedFile, KnownFile, Statistics, StoredSession
from ..types.query import Condition, Filters, Query
from ..types.transcript import Notes, Session

#: The positions that the chunks of one call were given, by session id, in the order in which they were given to it.
#: A session is absent when nothing of it was stored: it has a tombstone, or the call had no chunk of it.
Positions: TypeAlias = dict[str, range]


class IndexReader(Protocol):
    """The read half of a backend.  Safe to use from several threads; never waits for a writer."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Show one state of the index to all calls inside the context, whatever a writer does meanwhile.

        Contexts may be nested.
        """

    def candidates(self, query: Query, filters: Filters) -> Candidates:
        """Find and score the chunks that match a query.

        - Words are alternatives: a chunk matches when it has one of them (`Word.alternatives`, each a phrase whose
          words follow each other; a final `*` is a prefix).  Words are compared by their Porter stems, without stop
          words (`running` finds `run`): `text.tokens.light_stem` is not enough, SQLite's and PostgreSQL's stemmers and
          `snowballstemmer`'s "porter" are.  The word before a `*` is stemmed, too.
        - Scores are BM25 with k1 1.2, b 0.75 and FTS5's idf; higher is better.
        - Filters and the query's condition apply before any limit; `filters` holds `query.filters` already.  `tool`,
          `role` and `tools_only` narrow chunks: heads and conversations do not count under them.  All other fields are
          about the session.
        - Headless sessions are left out unless `filters.all_kinds`; how many would have matched is
          `Candidates.left_out["headless"]`.
        - Never raises for a query, whatever is in it.
        """

    def sessions(self, numbers: Iterable[int]) -> list[StoredSession]:
        """Return the sessions of these numbers that exist, in any order."""

    def find_sessions(self, prefix: str) -> list[StoredSession]:
        """Return the sessions of this id, or else those whose ids begin with it; in several files once for each.

        The sessions of a whole id come without its subagents, whose ids begin with it.  "" finds nothing.
        """

    def find_by_id(self, ids: Iterable[str]) -> list[StoredSession]:
        """Return the sessions that have one of these whole ids, in any order; in several files once for each."""

    def list_sessions(
        self, filters: Filters, *, limit: int, offset: int = 0, condition: Condition | None = None
    ) -> tuple[list[StoredSession], int]:
        """Return sessions by modified time, newest first, and how many there are in all.

        Of sessions with one key (one session in several files) one is listed, the copy that speaks for them: whose
        file is there, then the one with most chunks, then the latest (`search.grouping.copy_rank`).
        """

    def chunks(self, ranges: Sequence[ChunkRange]) -> list[list[Chunk]]:
        """Return for each range a session's chunks by position, in order; an empty list where there are none."""

    def matching(self, query: Query, chunks: Sequence[tuple[int, int]]) -> list[frozenset[int]]:
        """Return for each (session number, position) which of the query's words, by index, the chunk contains."""

    def statistics(self) -> Statistics:
        """Count what is there; a session in several files counts once, its messages and chunks in each."""


@runtime_checkable
class Vocabulary(Protocol):
    """A reader that knows the words in its index: rare words of a query are then looked for in other spellings."""

    def terms(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Return indexed terms that begin with a prefix and in how many chunks each occurs, the commonest first.

        Terms are folded and stemmed, as the index holds them; rare ones (one chunk) may be left out.
        """


@runtime_checkable
class TracksFiles(Protocol):
    """A reader that reports what the index knows of files: a search then writes nothing when no file has changed."""

    def known_files(self, first_ns: int | None = None, last_ns: int | None = None) -> dict[str, KnownFile]:
        """Return the known files by path; with bounds, those modified between them and those with `UNREAD` time.

        The time of a file whose last read failed, or for which a run has something else to do, is `UNREAD`.

        :param first_ns: nanoseconds since 1970, less than 2**63, inclusive, as `last_ns`; None is no bound.
        """

    def freshness(self) -> Freshness:
        """Return when the index was last brought up to date, and how many files could not be read."""

    def scan_cache_path(self) -> str | None:
        """Return where a file about this index may be kept; another path when another index takes its place.

        None: nowhere, or there is no index yet.
        """


class IndexWriter(Protocol):
    """The write half of a backend, held by one process at a time.

    What is passed in belongs to the caller, who may change it after the call; so does what is returned.
    """

    def files(self) -> dict[str, IndexedFile]:
        """Return every file that the index knows, by path; checkpoints may be left out (see `file`)."""

    def file(self, path: str) -> IndexedFile | None:
        """Return what is known of one file, with its checkpoint."""

    def file_sessions(self, path: str) -> list[Session]:
        """Return the sessions that were read from a file, with their counts."""

    def replace(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> Positions:
        """Delete what the file said and store what it says now, in one transaction.

        The iterable is consumed inside the transaction.  It describes a session before the session's first chunk and
        may do so again: the last `Session` of an id counts.  Fields of `file` may change until the iterable ends.
        Sessions with a tombstone, or whose parent has one, are dropped.  When the iterable raises, nothing changes.
        Chunks are not changed: their positions are returned.
        """

    def append(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> Positions:
        """Add what a grown file says beyond its checkpoint, in one transaction; otherwise like `replace`.

        A session that is stored already and gets chunks is described, too, before them or after them.
        """

    def update_files(self, files: Iterable[IndexedFile]) -> None:
        """Store facts of files whose content did not change: missing, back again, failed, or touched.

        A file without a checkpoint keeps the one that is stored, even if its last read failed: so do its sessions.
        """

    def delete_file(self, path: str) -> int:
        """Delete a file and its sessions, without a tombstone and without a trace; return how many chunks went."""

    def forget(self, number: int) -> int:
        """Delete a session and leave a tombstone, so that no later run brings it back; return how many chunks went.

        Its copies in other files and its subagents' sessions, whose ids begin with its own and `/`, are deleted too.
        """

    def finish(self, *, synced_at: datetime | None) -> None:
        """End a run: tidy up within bounds and, when given, store the time of the sync."""


@runtime_checkable
class Annotating(Protocol):
    """A writer that stores the notes of sessions, and ranks them with titles and summaries."""

    def annotate(self, session_id: str, notes: Notes | None) -> int:
        """Give the sessions of this id, which this workstation wrote, these notes; return how many changed.

        A session whose texts are not stored (`visibility` "metadata") gets none.
        """


class StorageBackend(Protocol):
    """Stores sessions and finds them again."""

    def reader(self) -> IndexReader:
        """Open for reading; runs no schema change.  An index that does not exist yet reads as an empty one."""

    def writer(self) -> AbstractContextManager[IndexWriter]:
        """Open for writing, creating or upgrading the schema.

        What was written is there when the context is left.  Leaving it by an exception may drop finished calls, but
        nothing of a call stays by half.

        :raises LockedError: another process is writing.
        """

    def rebuild(self, wrap: Callable[[IndexWriter], IndexWriter] | None = None) -> AbstractContextManager[IndexWriter]:
        """Open an empty index beside the present one.

        Leaving the context takes over the sessions of files that are gone, which are marked as missing, those of files
        that could not be read this time, whose error stays, and tombstones (`sdk.ingest.is_carried_over`).  It puts
        the new index in the place of the old one at once.  Leaving it by an exception leaves the old one as it was.

        :param wrap: makes the writer that the context yields, and through which is written what is taken over.
        """

    def close(self) -> None:
        """Release what is held; a later call opens the backend again."""


@runtime_checkable
class SharedBackend(Protocol):
    """A backend that others can read and several workstations write to: what is stored there leaves this machine."""

    def audience(self) -> str:
        """Return who can read it, for people: the address of a server, without secrets."""

    def prepare(self) -> None:
        """Make or upgrade the schema, and write nothing else: for whoever has the right to, and no sessions.

        :raises BackendError: the right is missing, or the schema is a newer one.
        """

    def claim(self) -> None:
        """Take this workstation's sessions over from another installation of Sesame: the machine has moved.

        :raises BackendError: they are another person's.
        """
