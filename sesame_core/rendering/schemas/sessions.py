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


class SessionJson(TypedDict):
    """A session."""

    sessionId: Annotated[str, Doc("The argument session of the other tools.")]
    source: Annotated[str, Doc("The agent.")]
    path: str
    cwd: str | None
    directories: Annotated[list[str], Doc("Others that it was in.")]
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
    exchangeCount: Annotated[int, Doc("Prompts that were answered.")]
    chunkCount: Annotated[int, Doc("Positions of list_messages are below it.")]
    toolCounts: Annotated[dict[str, int], Doc("Calls by tool.")]
    gitBranch: str | None
    repository: str | None
    model: str | None
    parentId: str | None
    missingSince: Annotated[str | None, Doc("Since when its file is missing.")]
    key: Annotated[str, Doc("workstation:project:session, the same on every backend.")]
    workstation: str | None
    host: str | None
    owner: str | None


class MarkedJson(VersionedJson):
    """Sessions that were marked: `sesame star`, `tag`, `rename`, `note`."""

    sessions: list[SessionJson]


class SessionsJson(VersionedJson):
    """A page of sessions: `sesame sessions`."""

    sessionCount: int
    offset: int
    total: int
    hints: Annotated[list[str], Doc("If nothing was found, what each filter kept out.")]
    leftOut: Annotated[dict[str, int], Doc("If nothing was found, sessions by the filter that kept them out.")]
    index: Annotated[IndexJson, Doc("How fresh the answer is.")]
    sessions: list[SessionJson]


class ChunkJson(TypedDict):
    """A chunk of a session."""

    position: int
    type: Annotated[str, Doc("message, tool_call, tool_result or metadata.")]
    role: str | None
    tool: str | None
    callId: Annotated[str | None, Doc("Equal for a call and its result.")]
    isError: bool
    at: str | None
    entryId: str | None
    sourceType: Annotated[str | None, Doc("The kind of the record in the file.")]
    cut: Annotated[int, Doc("Characters that are not in the index.")]
    text: str


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
