"""The records of an index: chunks, files, sessions, scores and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from ..dataclass import dataclass, field
from .transcript import Checkpoint, Role

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from .transcript import Session


@dataclass(slots=True, kw_only=True)
class StoredSession:
    """A session as the index stores it, with the number that the backend assigned."""

    number: int
    session: Session
    #: The file that it was read from.
    path: str
    #: When the file was first found to be deleted; None while it exists.
    missing_since: datetime | None = None
    chunk_count: int = 0


@dataclass(slots=True, kw_only=True)
class ScoredChunk:
    """One chunk that matches a query, with its BM25 score; higher is better."""

    session: int
    seq: int
    #: 0 human prompt, 1 other text and metadata, 2 tool call, 3 tool result.
    weight_class: int
    score: float


@dataclass(slots=True, kw_only=True)
class Candidates:
    """The matches of a query with their raw scores, which `sesame_core.search.ranking` ranks."""

    #: The best chunks by score, best first, over all sessions.
    chunks: list[ScoredChunk]
    #: BM25 of the head rows (title, summary, first prompts) by session number.
    heads: dict[int, float]
    #: BM25 of the conversation rows (everything that people and agents said) of the sessions in `chunks` or `heads`.
    conversations: dict[int, float] = field(default_factory=dict)
    #: For each word of the query, in order, the number of chunks that contain it (exact up to the probe's bound).
    document_frequencies: list[int]
    #: Chunks in the index.
    chunk_total: int
    #: Sessions with at least one match; a lower bound when `is_truncated`.
    session_total: int
    #: Sessions that matched but were left out by default, by reason ("headless"); a reason without any is absent.
    #: Lower bounds when `is_truncated`.
    left_out: dict[str, int]
    #: The budget ran out before every match was scored.
    is_truncated: bool = False
    #: Chunks that were scored.
    scanned: int = 0


@dataclass(slots=True, kw_only=True)
class Statistics:
    """Counts of what the index contains."""

    sessions: int = 0
    chunks: int = 0
    messages: int = 0
    files: int = 0
    #: Bytes on disk of all files of the index.
    size: int = 0
    location: str = ""
    schema_version: int = 0
    #: One for each agent and kind of session.
    agents: tuple[AgentStatistics, ...] = ()
    missing: int = 0
    #: Files whose last read failed, with the reason.
    failed: tuple[tuple[str, str], ...] = ()
    #: Skipped records by reason, over all files, and as `SILENT` the number of silent sessions.
    skipped: Mapping[str, int] | None = None
    last_sync: datetime | None = None
    newest_message: datetime | None = None
    forgotten: int = 0
    #: What each workstation has written, most recently active first; empty in an index of a single workstation.
    workstations: tuple[WorkstationStatistics, ...] = ()

    @property
    def silent(self) -> int:
        """Number of sessions in which nobody has said anything; they are not in the index."""
        return (self.skipped or {}).get(SILENT, 0)


@dataclass(slots=True, kw_only=True)
class WorkstationStatistics:
    """One workstation's share of the index."""

    #: The first part of its sessions' keys.
    id: str
    host: str
    owner: str
    sessions: int
    newest_message: datetime | None = None
    last_sync: datetime | None = None


@dataclass(slots=True, kw_only=True)
class AgentStatistics:
    """One agent's share of the index: its sessions of one kind."""

    agent: str
    #: `Session.kind`.
    kind: str
    sessions: int
    messages: int
    newest_message: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """How far the index can be trusted to reflect the files."""

    #: When a run last changed the index without an error.
    last_sync: datetime | None = None
    #: Files whose last read failed.
    unreadable: int = 0


#: What is known of a file: modification time, parser, parser version, whether the last scan found it missing, and its
#: size; a backend that leaves out the size does not detect that a file has grown without another time.
KnownFile: TypeAlias = tuple[int, str, int, bool] | tuple[int, str, int, bool, int]
#: Consecutive chunks of a session: its number, the position of the first chunk, and how many; None is all that follow.
ChunkRange: TypeAlias = tuple[int, int, int | None]
#: What a chunk was cut from.  Titles, labels, links and summaries are `metadata`.
ChunkKind: TypeAlias = Literal["message", "tool_call", "tool_result", "metadata"]


@dataclass(slots=True, kw_only=True)
class Chunk:
    """The unit of text that is indexed, ranked and shown."""

    kind: ChunkKind
    text: str
    role: Role | None = None
    tool_name: str | None = None
    call_id: str | None = None
    is_error: bool = False
    #: Files that the tool call names as its target.
    paths: tuple[str, ...] = ()
    #: Characters that the formatter left out of `text`.
    cut: int = 0

    # -- set by the indexer, from the message that the chunk was cut from --------------------------------
    session_id: str = ""
    #: Position in the session, from 0; set by the backend.
    seq: int = 0
    timestamp: datetime | None = None
    entry_id: str | None = None
    source_type: str = "message"
    segment: int = 0
    #: 63-bit identity that survives forks: the same chunk in two sessions has the same number.
    origin: int | None = None
    #: Parts of identifiers and CJK bigrams of `text`, indexed in addition to it (`sesame_core.text.tokens`).
    subwords: str = ""

    @property
    def weight_class(self) -> int:
        """The class that decides its weight in ranking: 0 human prompt, 2 tool call, 3 tool result, 1 anything else."""
        return 0 if self.role == "user" and self.kind == "message" else _WEIGHT_CLASSES.get(self.kind, 1)


_WEIGHT_CLASSES = {"tool_call": 2, "tool_result": 3}
#: Takes the place of the parser's name for a metadata file in the index; such a file contains no sessions.
NOTES = "sessions-meta"
#: Reason of `IndexedFile.skipped` that counts sessions, not records: nobody has said anything in them, so they are not
#: stored (`sesame_core.indexing.silence`).
SILENT = "nothing said"
#: Modification time of a file of which the index stores nothing, so that the next run reads it.
UNREAD = -1


@dataclass(slots=True, kw_only=True)
class IndexedFile:
    """What a backend stores about one session file."""

    path: str
    #: Name of its parser.
    parser: str
    #: The parser's version and the settings used: `Source.reading_version`.
    parser_version: int
    mtime_ns: int
    size: int
    #: Where parsing can resume, with hashes of the file's head and of the bytes before the offset.
    checkpoint: Checkpoint | None = None
    head_hash: bytes = b""
    tail_hash: bytes = b""
    #: `origin` of the last messages before the checkpoint, oldest first: a file that has grown may repeat them.
    recent_origins: tuple[int, ...] = ()
    #: Skipped records by reason.
    skipped: dict[str, int] = field(default_factory=dict)
    #: Why the last read failed; the file's earlier content stays indexed.
    error: str | None = None
    #: When a scan first found the file deleted; its sessions are kept.
    missing_since: datetime | None = None

    def drop_content(self) -> None:
        """Drop what says something of its content: the parser's state has text, and hashes confirm a guess of it.

        The file is then read whole when it grows.
        """
        self.checkpoint, self.head_hash, self.tail_hash, self.recent_origins = None, b"", b"", ()
