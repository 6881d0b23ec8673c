"""The nouns that flow through Sesame, in the order they appear on the way from a file to an answer.

`Session`, `Message`, `Skipped` and `Checkpoint` come out of a parser; `Chunk` out of a chunk formatter;
`IndexedFile` is what a backend remembers about a file.  What a search asks and answers stands in
`types.query` and `types.answer`.

All of them are keyword-only dataclasses; a new field has a default, so plugins keep working.  Treat
them as values: only the indexer fills the fields marked "set by the indexer".
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, TypeAlias

from ..dataclass import dataclass, field

#: Who speaks.  `user` is only what a person typed; text that an agent or a tool put into a user record is
#: `system`.  `summary` is a compaction or branch summary, `tool` a tool's answer, `metadata` something said
#: *about* the session: a title, a label, a pull-request link.
Role: TypeAlias = Literal["user", "assistant", "system", "summary", "tool", "metadata"]

#: How a session came about: a person at the keyboard, an agent started by an agent, or a script.
SessionKind: TypeAlias = Literal["interactive", "subagent", "headless"]


@dataclass(slots=True, kw_only=True)
class ToolCall:
    """One call of a tool by an agent (or of a shell by the user)."""

    id: str
    name: str
    #: The arguments as the agent gave them: decoded values, any shape.
    arguments: Mapping[str, Any] = field(default_factory=dict)
    #: Name of the tool that made this call on the agent's behalf (pi's nested calls).
    via: str | None = None


@dataclass(slots=True, kw_only=True)
class ToolResult:
    """What a tool answered."""

    call_id: str
    #: The tool's name, "" when the call is not known.
    name: str = ""
    text: str = ""
    is_error: bool = False
    #: The shell command this answers, "" when it was not one or is not known.
    command: str = ""


@dataclass(slots=True, kw_only=True)
class Message:
    """One utterance in a session: its text, the tool calls it makes, the tool results it carries."""

    session_id: str
    role: Role
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()
    #: When it was said, timezone-aware; None when the record does not tell.
    timestamp: datetime | None = None
    #: The record's own id inside its file.
    entry_id: str | None = None
    #: Identity that survives forks and resumed copies; equal ids mean the same message in two places.
    origin_id: str | None = None
    #: The agent's own name for this record: "message", "compaction", "title", "label", "queued_command" …
    source_type: str = "message"
    is_error: bool = False
    #: Part of the session's tree this message sits in; see `sesame_core.sdk.branches`.
    segment: int = 0
    #: False when it continues a message that was reported before, so that it is not counted twice.
    is_new: bool = True


@dataclass(slots=True, kw_only=True)
class Notes:
    """What was written about a session afterwards, by a model or a person (`sesame_core.metadata.files`)."""

    #: A title, for a session that has none of its own.
    name: str
    #: One or two sentences.
    description: str
    summary: str
    tags: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join((self.name, self.description, self.summary, *self.tags))


@dataclass(slots=True, kw_only=True)
class Session:
    """What is known about one session.

    A parser yields one whenever it learned something, the first time before the session's first message.
    A later one updates the former: fields that are None (or empty) leave the known value alone.
    """

    #: The agent's own id; a subagent's is `<parent id>/<agent id>`.
    id: str
    agent: str
    kind: SessionKind | None = None
    #: Id of the session this one was forked from or started by.
    parent_id: str | None = None
    #: Working directory at the start, as the records tell it.
    cwd: str | None = None
    #: The title a person or the agent gave, never a made-up one.
    title: str | None = None
    #: The latest compaction summary, or a curated one.
    summary: str | None = None
    git_branch: str | None = None
    #: The repository's remote, `host/owner/name`.
    repository: str | None = None
    model: str | None = None
    #: When the session began by its own header, for sessions without dated messages.
    created: datetime | None = None
    #: Segments that are off the active branch (rewound, abandoned); None leaves the known value.
    abandoned: tuple[int, ...] | None = None

    # -- set by the indexer, which sees the messages go by ------------------------------------------------
    #: First and last message of a person or an agent; modified falls back to created, then to mtime.
    modified: datetime | None = None
    message_count: int = 0
    #: Human prompts, each with the answer that followed (seed 004's exchanges).
    exchange_count: int = 0
    tool_counts: dict[str, int] = field(default_factory=dict)
    #: The first two human prompts, cut to `session_facts.PROMPT_CHARS`.
    prompts: tuple[str, ...] = ()
    #: `origin` of the first message that has one: forks and resumed copies share it.
    first_origin: int | None = None
    #: `workstation:project:session`, the same session's key on every backend (seed 004, INV-003).
    key: str = ""
    #: Names of the machine and of the person that indexed it, "" when not known.
    host: str = ""
    owner: str = ""
    #: "shared", or "metadata" when only counts, names and dates of it are stored.
    visibility: str = "shared"
    #: What its metadata file says about it.
    notes: Notes | None = None

    @property
    def name(self) -> str | None:
        """The title, or the name in the notes; None when it has neither."""
        return self.title or (self.notes.name if self.notes else None)

    @property
    def workstation(self) -> str:
        """The workstation's id, the first part of the key."""
        return self.key.partition(":")[0]


#: Longest record, in bytes, after base64 payloads are dropped (seed 004, INV-006).
LINE_LIMIT = 1 << 20


@dataclass(slots=True, kw_only=True)
class Skipped:
    """A record that was left out, with the reason; the run goes on and counts it."""

    #: Short and countable: "damaged", "oversized", "not an object", …
    reason: str
    #: 1-based line number.
    line: int
    #: Worth showing by itself (data was lost), not only in the count.
    is_loss: bool = True


@dataclass(slots=True, kw_only=True)
class Checkpoint:
    """Where a parser can go on when the file has only grown; a parser yields it last."""

    #: Bytes consumed: the end of the last complete record.
    offset: int
    #: Lines consumed, so that later line numbers are right.
    line: int
    #: Whatever the parser needs to go on, JSON-serialisable and small.
    state: dict[str, Any] = field(default_factory=dict)


#: What a parser yields.
Event: TypeAlias = Session | Message | Skipped | Checkpoint
