"""The types of a transcript: what a parser yields.

A parser yields `Session`, `Message`, `Skipped` and `Checkpoint`; a chunk formatter makes `Chunk`s of them, and a
backend stores an `IndexedFile` for each file (`types.index`).  `types.query` and `types.answer` are the two ends
of a search.

All are keyword-only dataclasses; a new field has a default, so plugins keep working.  Treat them as values: only
the indexer sets the fields marked "set by the indexer".
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, TypeAlias

from ..dataclass import dataclass, field

#: Who speaks.  `user` is only what a person typed; text that an agent or a tool put into a user record is
#: `system`.  `summary` is a compaction or branch summary, `tool` the output of a tool, `metadata` information
#: *about* the session: a title, a label, a pull-request link.
Role: TypeAlias = Literal["user", "assistant", "system", "summary", "tool", "metadata"]

#: Most directories of a session besides its first: in the labelled corpus of the benchmarks none has half as many.
DIRECTORIES = 100

#: Most characters of each prompt in `Session.prompts`, and of `Session.summary`: of a longer one the beginning.
PROMPT_CHARS = 2_000
SUMMARY_CHARS = 8_000

#: How a session was started: by a person at the keyboard, by another agent, or by a script.
SessionKind: TypeAlias = Literal["interactive", "subagent", "headless"]


@dataclass(slots=True, kw_only=True)
class ToolCall:
    """One call of a tool by an agent (or of a shell by the user)."""

    id: str
    name: str
    #: The arguments that the agent passed: decoded values of any shape.
    arguments: Mapping[str, Any] = field(default_factory=dict)
    #: Name of the tool that made this call on the agent's behalf (pi's nested calls).
    via: str | None = None


@dataclass(slots=True, kw_only=True)
class ToolResult:
    """The result of a tool call."""

    call_id: str
    #: The tool's name, "" when the call is not known.
    name: str = ""
    text: str = ""
    is_error: bool = False
    #: The shell command that produced it, "" when there was none or it is not known.
    command: str = ""


@dataclass(slots=True, kw_only=True)
class Message:
    """One message in a session: its text, its tool calls and its tool results."""

    session_id: str
    role: Role
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()
    #: Time of the message, timezone-aware; None when the record has none.
    timestamp: datetime | None = None
    #: The record's own id in its file.
    entry_id: str | None = None
    #: Identity that survives forks and resumed copies: the same message in two files has the same id.
    origin_id: str | None = None
    #: The agent's own type of this record: "message", "compaction", "title", "label", "queued_command" …
    source_type: str = "message"
    is_error: bool = False
    #: The segment of the session's tree that contains this message; see `sesame_core.sdk.branches`.
    segment: int = 0
    #: False when it continues a message that was already yielded, so that it is not counted twice.
    is_new: bool = True


@dataclass(slots=True, kw_only=True)
class Notes:
    """What a model or a person wrote about a session afterwards (`metadata.files`, `metadata.marks`)."""

    #: A title for a session that has none of its own.
    name: str
    #: One or two sentences.
    description: str
    summary: str
    tags: tuple[str, ...] = ()
    #: The name that a person gave it, in place of its title; "" for none.
    title: str = ""
    #: What a person noted about it.
    note: str = ""
    #: Whether its reader starred it; no index stores that.
    is_starred: bool = False

    @property
    def text(self) -> str:
        """All texts as one string."""
        return "\n".join((self.name, self.description, self.summary, *self.tags, *self.own))

    @property
    def own(self) -> tuple[str, ...]:
        """The texts that only a person writes: the name and the note, without empty ones."""
        return tuple(filter(None, (self.title, self.note)))

    @property
    def is_described(self) -> bool:
        """Whether there is a description, and not only what a person marked."""
        return bool(self.name or self.description or self.summary)


@dataclass(slots=True, kw_only=True)
class Session:
    """The properties of one session.

    A parser yields one whenever a property becomes known, the first time before the session's first message.
    A later one updates the former: fields that are None (or empty) leave the known value unchanged.
    """

    #: The agent's own id; a subagent's is `<parent id>/<agent id>`.
    id: str
    agent: str
    kind: SessionKind | None = None
    #: Id of the session that this one was forked from or started by; its own id, if another agent has imported it.
    parent_id: str | None = None
    #: Working directory at the start, according to the records.
    cwd: str | None = None
    #: The title that a person or the agent gave, never a derived one.
    title: str | None = None
    #: The latest compaction summary, or one that a person wrote.
    summary: str | None = None
    git_branch: str | None = None
    #: The repository's remote, `host/owner/name`.
    repository: str | None = None
    model: str | None = None
    #: Start of the session according to its header, for sessions without dated messages.
    created: datetime | None = None
    #: Directories that it was in besides `cwd`, in order: it moved, or went to a worktree.  They are added to the known
    #: ones, and so is a former `cwd`; the first `DIRECTORIES` are kept.
    directories: tuple[str, ...] = ()
    #: Segments off the active branch (rewound, abandoned); None leaves the known value unchanged.
    abandoned: tuple[int, ...] | None = None

    # -- set by the indexer, from the messages ------------------------------------------------------------
    #: Times of the first and last message of a person or an agent; `modified` falls back to `created`, then to mtime.
    modified: datetime | None = None
    message_count: int = 0
    #: Number of human prompts, each with the answer that followed (seed 004's exchanges).
    exchange_count: int = 0
    tool_counts: dict[str, int] = field(default_factory=dict)
    #: The first two human prompts, cut to `PROMPT_CHARS` characters.
    prompts: tuple[str, ...] = ()
    #: `origin` of the first message that has one: forks and resumed copies share it.
    first_origin: int | None = None
    #: `workstation:project:session`, the session's key on every backend (seed 004, INV-003).
    key: str = ""
    #: Names of the machine and of the person that indexed it, "" when unknown.
    host: str = ""
    owner: str = ""
    #: "shared", or "metadata" when only its counts, names and dates are stored.
    visibility: str = "shared"
    #: The content of its metadata file.
    notes: Notes | None = None

    @property
    def name(self) -> str | None:
        """The name that a person gave, the title, or the name in the notes; None when the session has none."""
        given = self.notes.title if self.notes else ""
        return given or self.title or (self.notes.name if self.notes else "") or None

    @property
    def places(self) -> tuple[str, ...]:
        """All directories that it was in, the first one first."""
        return (self.cwd, *self.directories) if self.cwd else self.directories

    @property
    def is_imported(self) -> bool:
        """Whether it is a copy that another agent has made of the session by importing it."""
        return self.parent_id == self.id

    @property
    def workstation(self) -> str:
        """The workstation's id, the first part of the key."""
        return self.key.partition(":")[0]


#: Longest record, in bytes, after base64 payloads are removed (seed 004, INV-006).
LINE_LIMIT = 1 << 20
#: `Skipped.reason` of a record that was longer: it is yielded, without the middle of its longest strings.
SHORTENED = "shortened"


@dataclass(slots=True, kw_only=True)
class Skipped:
    """A record that was skipped, or read only in part, with the reason; the run continues and counts it."""

    #: Short and countable: "damaged", "oversized", "not an object", `SHORTENED`, …
    reason: str
    #: 1-based line number.
    line: int
    #: Data was lost, so it is shown individually and not only counted.
    is_loss: bool = True


@dataclass(slots=True, kw_only=True)
class Checkpoint:
    """Where a parser can resume when the file has only grown; a parser yields it last."""

    #: Bytes consumed: the end of the last complete record.
    offset: int
    #: Lines consumed, so that later line numbers are correct.
    line: int
    #: What the parser needs to resume, JSON-serialisable and small.
    state: dict[str, Any] = field(default_factory=dict)


#: What a parser yields.
Event: TypeAlias = Session | Message | Skipped | Checkpoint
