"""The Protocols of a storage backend: the required ones, and the optional abilities.

22 methods are required: 4 of the backend, 9 of its reader, 9 of its writer.  An ability that not every backend has is a
Protocol of its own, found with `isinstance`; those for an index that several people share are in `shared`.
`sesame_core.testing.BackendConformance` tests a backend against every rule of both modules;
`sesame_core.testing.memory` is the reference: the whole contract in plain Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol, TypeAlias, runtime_checkable

from ..types.index import (
    Candidates,
    Chunk,
    ChunkRange,
    Freshness,
    IndexedFile,
    KnownFile,
    ScoredChunk,
    Statistics,
    StoredSession,
)
from ..types.query import Condition, Filters, Query, Word
from ..types.transcript import Notes, Session

#: The positions that one call assigned to its chunks, by session id, in the order of the chunks.
#: A session is absent when nothing of it was stored: it has a tombstone, or the call had no chunk of it.
Positions: TypeAlias = dict[str, range]


class IndexReader(Protocol):
    """The read half of a backend.  Safe to use from several threads; never waits for a writer."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Show one state of the index to all calls inside the context, whatever a writer does at the same time.

        Contexts may be nested.
        """

    def candidates(self, query: Query, filters: Filters) -> Candidates:
        """Find and score the chunks that match a query.

        - Words are alternatives: a chunk matches when it has one of them (`Word.alternatives`, each a phrase of
          consecutive words; a final `*` marks a prefix).  Words are compared by their Porter stems, without stop
          words (`running` finds `run`): `text.tokens.light_stem` is not enough, SQLite's and PostgreSQL's stemmers and
          `snowballstemmer`'s "porter" are.  The word before a `*` is stemmed, too.
        - Scores are BM25 with k1 1.2, b 0.75 and FTS5's idf; higher is better.
        - Filters and the query's condition apply before any limit; `filters` includes `query.filters`.  `tool`,
          `role` and `tools_only` narrow chunks: heads and conversations do not count under them.  All other fields are
          about the session.
        - Headless sessions are left out unless `filters.all_kinds`; the number that would have matched is
          `Candidates.left_out["headless"]`.
        - Never raises for a query, whatever is in it.
        """

    def sessions(self, numbers: Iterable[int]) -> list[StoredSession]:
        """Return the sessions with these numbers that exist, in any order."""

    def find_sessions(self, prefix: str) -> list[StoredSession]:
        """Return the sessions of this id, or else those whose ids begin with it; in several files once for each.

        The sessions of a whole id come without its subagents, whose ids begin with it.  "" finds nothing.
        """

    def find_by_id(self, ids: Iterable[str]) -> list[StoredSession]:
        """Return the sessions that have one of these full ids, in any order; in several files once for each."""

    def list_sessions(
        self, filters: Filters, *, limit: int, offset: int = 0, condition: Condition | None = None
    ) -> tuple[list[StoredSession], int]:
        """Return sessions by modified time, newest first, and their total number.

        Of sessions with one key (one session in several files) one is listed: the copy whose file exists, then one that
        was not imported (`Session.is_imported`), then the one with most chunks, then the latest
        (`search.grouping.copy_rank`).
        """

    def chunks(self, ranges: Sequence[ChunkRange]) -> list[list[Chunk]]:
        """Return for each range a session's chunks by position, in order; an empty list if there are none."""

    def matching(self, query: Query, chunks: Sequence[tuple[int, int]]) -> list[frozenset[int]]:
        """Return for each (session number, position) the indexes of the query's words that the chunk contains."""

    def statistics(self) -> Statistics:
        """Return counts of the content; a session in several files counts once, its messages and chunks in each."""


@runtime_checkable
class Vocabulary(Protocol):
    """A reader that lists the words of its index: rare words of a query are then also searched in other spellings."""

    def terms(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Return indexed terms that start with a prefix and the number of chunks with each, the commonest first.

        Terms are folded and stemmed, as the index stores them; rare ones (one chunk) may be left out.
        """


@runtime_checkable
class Phrases(Protocol):
    """A reader that finds a phrase without scoring it, in a fraction of the time that `candidates` takes.

    A search uses it to find pasted text; with other readers it asks `candidates` for the phrase.
    """

    def phrase(
        self, word: Word, filters: Filters, condition: Condition | None, limit: int, *, beside: Sequence[Word] = ()
    ) -> list[ScoredChunk]:
        """Return chunks that contain the word, as `candidates` finds them for a query of this word; scores are 0.

        :param word: a word or a phrase, without a prefix.
        :param limit: most chunks; of more the newest sessions'.
        :param beside: words of which the chunks must contain one, too; empty: any chunks.
        """


@runtime_checkable
class Bounding(Protocol):
    """A reader whose `phrase` looks at some chunks only, the newest, if too many have the words, and can say so.

    Answers then say that there may be more.  Of other readers `phrase` is expected to look at all chunks.
    """

    def bounded_phrase(
        self, word: Word, filters: Filters, condition: Condition | None, limit: int, *, beside: Sequence[Word] = ()
    ) -> tuple[list[ScoredChunk], bool]:
        """Return what `phrase` returns, and whether chunks that were not looked at may have the phrase, too."""


@runtime_checkable
class Turns(Protocol):
    """A reader that finds the ends of turns without reading texts.

    A search for several passages of each hit uses it to find what answers one; with other readers it reads the chunks.
    """

    def closings(self, places: Sequence[tuple[int, int]]) -> list[int | None]:
        """Return, for each chunk, the position of the first message of the assistant from it on that closes a turn.

        After such a message comes a message of the user, or the session ends; what is neither a message of one of them
        nor a tool's call or result does not count.  A turn that was interrupted is not closed: the next one counts.
        None if there is no such message.

        :param places: a session's number, and a position in it.
        """


@runtime_checkable
class Counting(Protocol):
    """A reader that counts the chunks with each of many words.

    Of a long query, the rarest words are then searched; and words also joined (`web socket`) or split.
    """

    def frequencies(self, words: Sequence[Word]) -> list[int]:
        """Return the number of chunks with each word, in the order of the words; 0 only if no chunk has it.

        Like `Candidates.document_frequencies`, but for hundreds of words and without a search.  The numbers of common
        words and of phrases may be estimates.  Never raises for a word, whatever is in it.
        """


@runtime_checkable
class Values(Protocol):
    """A reader that lists what its sessions have for a field: an answer that a filter emptied then suggests a value."""

    def values(self, field: str, limit: int) -> list[tuple[str, int]]:
        """Return the values of a field and the number of sessions with each, the commonest first.

        Headless sessions count, too; a session in several files counts once.

        :param field: a field of `Filters`: "agents", "branch", "cwd", "host", "model", "owner", "repo" (remotes),
            "tool" (the names in `Session.tool_counts`) or "workstation".
        """


@runtime_checkable
class Directories(Protocol):
    """A reader that lists the directories of its sessions without counting them.

    A search in a directory looks for its other names among them; with `Values` alone that takes several times as long.
    """

    def directories(self, limit: int) -> list[str]:
        """Return the directories in which sessions were (`Session.places`), each once, in any order.

        Those of headless sessions, too.

        :param limit: most directories; of more, any.
        """


@runtime_checkable
class SearchesTerms(Protocol):
    """A reader that finds terms by any part of them: a word that is nowhere is then searched inside other words."""

    def terms_with(self, part: str, limit: int) -> list[tuple[str, int]]:
        """Return indexed terms that contain a string and the number of chunks with each, the commonest first.

        The search may be limited, and stop before all terms were compared.
        """


@runtime_checkable
class Abbreviating(Protocol):
    """A reader that shortens the ids of a whole list at once, since a call may be a round trip to a server."""

    def abbreviated(self, ids: Sequence[str], lengths: Sequence[int]) -> list[str]:
        """Return the beginning of each id: of the first length at which only its own session and its subagents have it.

        Like `find_sessions`, an id that is no longer than a length means its own session.  The whole id if no length is
        enough.

        :param lengths: numbers of characters, the smallest first.
        """


@runtime_checkable
class Tallying(Protocol):
    """A reader that counts what the sessions themselves do not tell."""

    def tallies(self) -> Mapping[int, tuple[int, int]]:
        """Return by number of a session its chunks with an error, and the files that its tool calls named.

        Sessions with neither may be missing.
        """


@runtime_checkable
class Lineage(Protocol):
    """A reader that finds what was made from a session: the page then shows its forks where they leave it."""

    def children(self, session_id: str) -> list[int]:
        """Return the numbers of the sessions whose parent has this id, in any order; of those in several files, all."""

    def origins(self, number: int) -> list[int | None]:
        """Return the `Chunk.origin` of each chunk of a session by position, without reading texts."""


@runtime_checkable
class TracksFiles(Protocol):
    """A reader that reports which files the index knows: a search then writes nothing when no file has changed."""

    def known_files(self, first_ns: int | None = None, last_ns: int | None = None) -> dict[str, KnownFile]:
        """Return the known files by path; with bounds, those modified between them and those with `UNREAD` time.

        The time of a file whose last read failed, or for which a run has other work to do, is `UNREAD`.

        :param first_ns: nanoseconds since 1970, less than 2**63, inclusive, like `last_ns`; None for no bound.
        """

    def freshness(self) -> Freshness:
        """Return the time of the last update of the index, and the number of files that could not be read."""

    def scan_cache_path(self) -> str | None:
        """Return where a scan cache of this index may be stored; another path after another index replaces it.

        None if it may not be stored, or there is no index yet.
        """


class IndexWriter(Protocol):
    """The write half of a backend, held by one process at a time.

    Arguments and results belong to the caller, who may change them after the call.
    """

    def files(self) -> dict[str, IndexedFile]:
        """Return every file that the index knows, by path; checkpoints may be left out (see `file`)."""

    def file(self, path: str) -> IndexedFile | None:
        """Return one file, with its checkpoint; None when the index does not know it."""

    def file_sessions(self, path: str) -> list[Session]:
        """Return the sessions read from a file, with their counts."""

    def replace(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> Positions:
        """Replace the stored content of a file with its present content, in one transaction.

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
        """Update the rows of files whose content did not change: missing, present again, failed, or touched.

        A file without a checkpoint keeps the one that is stored, even if its last read failed: so do its sessions.
        """

    def delete_file(self, path: str) -> int:
        """Delete a file and its sessions, without a tombstone; return the number of deleted chunks."""

    def forget(self, number: int) -> int:
        """Delete a session, with a tombstone against adding it again; return the number of deleted chunks.

        Its copies in other files and its subagents' sessions, whose ids start with its own and `/`, are deleted too. Of
        their files, nothing is kept that says something of their content (`IndexedFile.drop_content`).
        """

    def finish(self, *, synced_at: datetime | None) -> None:
        """End a run: do bounded maintenance and, when given, store the time of the sync."""


@runtime_checkable
class Annotating(Protocol):
    """A writer that stores the notes of sessions, and ranks them with titles and summaries."""

    def annotate(self, session_id: str, notes: Notes | None) -> int:
        """Set the notes of this workstation's sessions with this id; return the number that changed.

        A session whose texts are not stored (`visibility` "metadata") gets no notes.
        """


class StorageBackend(Protocol):
    """Stores sessions and searches them."""

    def reader(self) -> IndexReader:
        """Open for reading, without any schema change.  An index that does not exist yet reads as an empty one.

        A shared one (`SharedBackend`) that nobody has prepared is an `UnpreparedError` at the first call: it is another
        database than was meant, or the role may not see it, and an empty answer would hide that.
        """

    def writer(self) -> AbstractContextManager[IndexWriter]:
        """Open for writing, creating or upgrading the schema.

        All writes are stored when the context is left.  Leaving it by an exception may drop finished calls, but never
        a part of a call.

        :raises LockedError: another process is writing.
        """

    def rebuild(self, wrap: Callable[[IndexWriter], IndexWriter] | None = None) -> AbstractContextManager[IndexWriter]:
        """Open an empty index that will replace the present one.

        Leaving the context carries over the sessions of deleted files, which are marked as missing, those of files
        that could not be read this time, whose error stays, and tombstones (`sdk.ingest.is_carried_over`).  It then
        replaces the old index with the new one atomically.  Leaving it by an exception keeps the old one unchanged.

        :param wrap: makes the writer that the context yields; what is carried over is written through it, too.
        """

    def close(self) -> None:
        """Release all resources; a later call opens the backend again."""
