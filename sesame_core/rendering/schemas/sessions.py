"""Sessions, pages of them, and their transcripts."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypedDict

from .doc import Doc
from .freshness import IndexJson


class VersionedJson(TypedDict):
    """The first field of each printed object."""

    #: `rendering.text.SCHEMA_VERSION`.
    schemaVersion: int


class ListedSessionJson(TypedDict):
    """What a list has of a session."""

    sessionId: Annotated[str, Doc("The argument session of the other tools.")]
    source: Annotated[str, Doc("The agent.")]
    path: str
    cwd: str | None
    name: Annotated[str | None, Doc("Its title, if it was given one.")]
    description: Annotated[str | None, Doc("What it is about, if it was described.")]
    tags: Annotated[list[str], Doc("Those of the user first.")]
    starred: Annotated[bool, Doc("The user starred it.")]
    note: Annotated[str | None, Doc("What the user noted about it.")]
    firstPrompt: str | None
    kind: Annotated[str | None, Doc("interactive, subagent or headless.")]
    created: str | None
    modified: str | None
    messageCount: int
    chunkCount: Annotated[int, Doc("Positions of list_messages are below it.")]
    gitBranch: str | None
    repository: str | None
    model: str | None
    parentId: str | None
    missingSince: Annotated[str | None, Doc("Since when its file is missing.")]


class SessionJson(ListedSessionJson):
    """A session."""

    directories: Annotated[list[str], Doc("Others that it was in.")]
    exchangeCount: Annotated[int, Doc("Prompts that were answered.")]
    toolCounts: Annotated[dict[str, int], Doc("Calls by tool.")]
    key: Annotated[str, Doc("workstation:project:session, the same on every backend.")]
    workstation: str | None
    host: str | None
    owner: str | None


class MarkedJson(VersionedJson):
    """Sessions that were marked: `sesame star`, `tag`, `rename`, `note`."""

    sessions: list[SessionJson]


class SessionPageJson(VersionedJson):
    """A page of sessions, without them."""

    sessionCount: int
    offset: int
    total: int
    hints: Annotated[list[str], Doc("If nothing was found, what each filter kept out.")]
    leftOut: Annotated[dict[str, int], Doc("Sessions that are not listed: headless, or, of an empty list, by filter.")]
    index: Annotated[IndexJson, Doc("How fresh the answer is.")]


class SessionsJson(SessionPageJson):
    """A page of sessions: `sesame sessions`."""

    sessions: list[SessionJson]


class ReadChunkJson(TypedDict):
    """What a reader has of a chunk."""

    position: int
    type: Annotated[str, Doc("message, tool_call, tool_result or metadata.")]
    role: str | None
    tool: str | None
    isError: bool
    at: str | None
    entryId: str | None
    cut: Annotated[int, Doc("Characters that are not in the index.")]
    text: str


class ChunkJson(ReadChunkJson):
    """A chunk of a session."""

    callId: Annotated[str | None, Doc("Equal for a call and its result.")]
    sourceType: Annotated[str | None, Doc("The kind of the record in the file.")]


class TranscriptJson(VersionedJson, SessionJson):
    """A session with its chunks: `sesame show`."""

    summary: str | None
    index: Annotated[IndexJson, Doc("How fresh the answer is.")]
    chunks: list[ChunkJson]


class ResumeJson(TypedDict):
    """How a session is resumed."""

    command: Annotated[list[str], Doc("Empty when the agent cannot resume it here.")]
    cwd: Annotated[str | None, Doc("The directory to run it in.")]
    environment: Annotated[dict[str, str | None], Doc("Variables to set; null unsets one.")]
    problem: Annotated[str | None, Doc("Why it does not work at present.")]
    nearest: Annotated[str | None, Doc("An existing directory in place of cwd.")]


class ResumptionJson(VersionedJson, ResumeJson):
    """How a session is resumed: `sesame resume --json`."""

    sessionId: str
    shell: Annotated[str | None, Doc("The command for a shell; null when there is a problem.")]
