"""What a backend tells of the sessions it holds."""

from __future__ import annotations

from typing import TypeAlias

from .dataclass import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from .types import Session


@dataclass(slots=True, kw_only=True)
class StoredSession:
    """A session as the index holds it, with the number the backend gave it."""

    number: int
    session: Session
    #: The file it was read from.
    path: str
    #: When the file was found gone; None while it is there.
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
    """What a backend found: raw scores, to be ranked by `sesame_core.ranking`."""

    #: The best chunks by score, best first, over all sessions.
    chunks: list[ScoredChunk]
    #: BM25 of the head rows (title, summary, first prompts) by session number.
    heads: dict[int, float]
    #: BM25 of the conversation rows (all that people and agents said), of sessions that have one of the above.
    conversations: dict[int, float] = field(default_factory=dict)
    #: For each word of the query, in order, in how many chunks it occurs (exact up to the probe's bound).
    document_frequencies: list[int]
    #: Chunks in the index.
    chunk_total: int
    #: Sessions with at least one match; a lower bound when `is_truncated`.
    session_total: int
    #: Sessions that matched but were left out by default, by reason ("headless"); lower bounds when `is_truncated`.
    left_out: dict[str, int]
    #: The budget ran out before every match was scored.
    is_truncated: bool = False
    #: Chunks that were scored.
    scanned: int = 0


@dataclass(slots=True, kw_only=True)
class Statistics:
    """What the index holds."""

    sessions: int = 0
    chunks: int = 0
    messages: int = 0
    files: int = 0
    #: Bytes on disk, all files of the index.
    size: int = 0
    location: str = ""
    schema_version: int = 0
    #: By (parser, agent): sessions, messages, newest message.
    agents: tuple[AgentStatistics, ...] = ()
    missing: int = 0
    #: Files whose last read failed, with the reason.
    failed: tuple[tuple[str, str], ...] = ()
    #: Skipped records by reason, over all files.
    skipped: Mapping[str, int] | None = None
    last_sync: datetime | None = None
    newest_message: datetime | None = None
    forgotten: int = 0
    #: Who has written what, the last active first; empty where one workstation has an index of its own.
    workstations: tuple[WorkstationStatistics, ...] = ()


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
    """One agent's share of the index."""

    agent: str
    kind: str
    sessions: int
    messages: int
    newest_message: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """How far an index can be trusted to hold what the files say."""

    #: When a run last changed something without an error.
    last_sync: datetime | None = None
    #: Files whose last read failed.
    unreadable: int = 0


#: What is known of a file: modification time, parser and its version, and whether it was missing at the last look.
KnownFile: TypeAlias = tuple[int, str, int, bool]
#: A stretch of a session: the session's number, the position of the first chunk, and how many chunks.
Stretch: TypeAlias = tuple[int, int, int]
