"""The content of the index, the workstations that share it, and the installed plugins."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypedDict

from .doc import Doc
from .freshness import UnreadableFileJson
from .reports import RootJson, UnreadRootJson
from .sessions import VersionedJson


class AgentJson(TypedDict):
    """Counts of the sessions of one agent and one kind."""

    agent: str
    kind: str
    sessions: int
    messages: int
    newestMessage: str | None


class WorkstationJson(TypedDict):
    """Counts of the sessions of one workstation."""

    workstation: Annotated[str, Doc("Its id, the first part of its sessions' keys.")]
    host: str | None
    owner: str | None
    sessions: int
    newestMessage: str | None
    lastSync: str | None


class WorkstationsJson(VersionedJson):
    """The workstations that share an index: `sesame workstations`."""

    workstations: list[WorkstationJson]


class PluginJson(TypedDict):
    """An installed plugin; `sesame plugins` prints a list of them."""

    name: str
    kind: Annotated[str, Doc("parser, formatter or backend; plugin when it failed to load.")]
    distribution: str
    version: str
    summary: str
    error: str | None


class TransactionJson(TypedDict):
    """A transaction on a server that has been open for a minute, or keeps others from writing to a table."""

    role: str
    process: int
    since: Annotated[str | None, Doc("null if this login may not see it.")]
    tables: Annotated[list[str], Doc("Tables of the index that it has locked.")]


class ServerJson(TypedDict):
    """The state of the server of a shared index, as far as the login may see it."""

    version: str
    role: Annotated[str, Doc("The login that asks.")]
    schema: str
    bytes: Annotated[int, Doc("Bytes of the whole database.")]
    replica: bool
    replayedAt: Annotated[str | None, Doc("When a replica last followed its primary.")]
    connections: int
    maxConnections: int
    transactions: list[TransactionJson]
    allVisible: Annotated[bool, Doc("Whether the times of others' transactions are visible.")]
    unvalidated: Annotated[list[str], Doc("Rules that stored rows were not checked against yet.")]
    orphans: Annotated[dict[str, str], Doc("Logins that do not exist, by their workstation.")]
    problems: Annotated[list[str], Doc("What someone should do something about.")]


class StatusJson(VersionedJson):
    """The content of the index: `sesame status`."""

    location: str
    indexSchema: int
    sessions: int
    messages: int
    chunks: int
    files: int
    bytes: Annotated[int, Doc("Bytes on disk, the write-ahead log included.")]
    lastSync: str | None
    newestMessage: str | None
    missingFiles: int
    forgottenSessions: int
    silentSessions: Annotated[int, Doc("Sessions left out because nobody has said anything in them yet.")]
    skipped: Annotated[dict[str, int], Doc("Records left out, or shortened, by reason.")]
    failedFiles: Annotated[list[UnreadableFileJson], Doc("Files, directories and links that could not be read.")]
    absentRoots: Annotated[list[str], Doc("Directories of sources that do not exist.")]
    unrecognised: Annotated[
        list[UnreadableFileJson], Doc("Files with the name of a session that no parser recognises.")
    ]
    lookedIn: Annotated[list[RootJson], Doc("The sources, and agents' directories that do not exist.")]
    unreadAgents: Annotated[list[UnreadRootJson], Doc("Agents' sessions that no installed plugin reads.")]
    expiringSessions: Annotated[dict[str, int], Doc("Sessions whose agent deletes them within a week, by agent.")]
    agents: list[AgentJson]
    workstations: list[WorkstationJson]
    server: ServerJson | None
    plugins: list[PluginJson]
