"""Writes sessions of your own program: durable and searchable when the call returns.

    from sesame_core import Runtime, Sesame

    with Sesame() as sesame:
        runtime = Runtime(sesame)
        session = runtime.new_session("researcher", "ann")
        runtime.append_message(session, "user", "why does the build take ten minutes?")

Each session is a file of the native format (docs/native-format.md).  The file is authoritative: the next run indexes
what could not be indexed at once.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config import paths
from ..dataclass import dataclass
from ..errors import ParseError, UnknownSessionError
from ..indexing.session_facts import learn
from ..indexing.silence import is_said
from ..types.transcript import Message, Session, ToolCall, ToolResult
from . import records
from .incremental import FileIndexer
from .records import Speaker
from .session_files import SessionFiles

if TYPE_CHECKING:
    from ..api.sesame import Sesame

#: The parser of the native format.
PARSER = "sesame"
#: Seconds that a call waits for another process that is indexing; one that appends needs a millisecond.
PATIENCE = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """The result of appending a record: it is in the file, and in the index unless `reason` says why not."""

    #: The record's id; its chunks have it as `entry_id`.
    id: str
    #: Position of its first chunk in the session; None when the index contains no chunk of it.
    position: int | None = None
    #: Why it is not in the index yet; None when it is.
    reason: str | None = None

    @property
    def is_indexed(self) -> bool:
        """Whether it is indexed, so that a search finds it from now on."""
        return self.reason is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The result of importing a file."""

    session_id: str
    path: Path
    #: False when the session existed already.
    is_new: bool
    #: Number of chunks added to the index.
    chunks: int
    #: Why it is not in the index yet; None when it is.
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionMeta:
    """The properties of a session: the first three from its header, the others from the index."""

    id: str
    agent: str
    created_by: str
    created_at: datetime | None
    title: str = ""
    #: Time of the last message of a person or an agent.
    updated_at: datetime | None = None
    #: Number of messages of people and agents.
    message_count: int = 0
    #: The last summary passed to `compact`.
    summary: str | None = None


class Runtime:
    """Writes sessions, and imports those that others wrote in the same format.

    :param sesame: the library object whose index they are added to.
    :param directory: directory of their files; default: `sessions` in the data directory, which is a source by itself
        unless config.jsonc names sources.
    :param patience: seconds that a call waits for another process that is indexing.

    Several processes may write, even to the same session.  In one process, write from one thread at a time.
    """

    def __init__(
        self, sesame: Sesame, directory: str | os.PathLike[str] | None = None, *, patience: float = PATIENCE
    ) -> None:
        place = Path(os.path.realpath(directory or paths.data_dir() / "sessions"))
        self._sesame = sesame
        self._files = SessionFiles(place)
        self._follower = FileIndexer(sesame, PARSER, place, patience=patience)

    # -- writing ------------------------------------------------------------------------------------------

    def new_session(self, agent: str, created_by: str, *, cwd: str | None = None, title: str | None = None) -> str:
        """Create a session and return its id.

        It is durable at once; searches and lists have it from its first message.

        :param agent: name of the agent, as searches filter by it.
        :param created_by: the person whom the agent talks to.
        :raises SesameError: the agent has no name, or the file cannot be written.
        """
        session = str(uuid.uuid4())
        header = records.header(session, agent, created_by, _now(), cwd=cwd, title=title)
        self._follower.follow(self._files.create(session, header))
        return session

    def append_message(
        self,
        session: str,
        role: Speaker,
        text: str,
        tool_calls: Iterable[ToolCall] = (),
        tool_results: Iterable[ToolResult] = (),
    ) -> Appended:
        """Append a message; it is on disk when this returns, and searchable unless the result says otherwise.

        :raises UnknownSessionError: the session does not exist.
        :raises SesameError: the role is not one of `Speaker`, a call has no name, its arguments are not JSON, a text is
            not a string (nothing is written then), or the file cannot be written.
        """
        return self._append(session, "message", records.message(role, text, tool_calls, tool_results))

    def compact(self, session: str, summary: str) -> Appended:
        """Store a summary of the session so far; searches rank it with the title.  Raises like `append_message`."""
        return self._append(session, "compaction", records.summary(summary))

    def set_title(self, session: str, title: str) -> Appended:
        """Set the title of the session.  Raises like `append_message`."""
        return self._append(session, "title", records.title(title))

    def import_file(self, source: str | os.PathLike[str]) -> Imported:
        """Copy a session file of the native format into the directory, and index it; an existing copy stays.

        :raises ParseError: the file, or a record in it, is not valid; nothing is copied then.
        :raises SesameError: another session with this id exists, or a file cannot be read or written.
        """
        path, is_new = self._files.take(Path(source), self._follower.parser)
        followed = self._follower.follow(path)
        return Imported(session_id=path.stem, path=path, is_new=is_new, chunks=followed.chunks, reason=followed.reason)

    def _append(self, session: str, kind: str, values: dict[str, Any]) -> Appended:
        record = uuid.uuid4().hex
        path = self._files.append(session, {"type": kind, "id": record, "timestamp": _now(), **values})
        followed = self._follower.follow(path, record)
        return Appended(id=record, position=followed.position, reason=followed.reason)

    # -- reading ------------------------------------------------------------------------------------------

    def sessions(self, *, limit: int = 50, offset: int = 0) -> list[SessionMeta]:
        """Return the sessions in the directory, last written first.

        :raises BackendError: the index cannot be read.
        """
        return [self.session(session) for session in self._files.ids()[offset : offset + limit]]

    def session(self, session: str) -> SessionMeta:
        """Return the properties of one session; `Sesame.list_messages` returns its content, page by page.

        :raises UnknownSessionError: the session does not exist.
        :raises BackendError: the index cannot be read.
        """
        header = self._files.header(session)
        try:
            found = self._sesame.get_session(session).session
        except UnknownSessionError:  # nothing is said in it yet, or it is forgotten
            found = None
        known = found if found and found.id == session else self._silent(session, str(header.get("agent", "")))
        return SessionMeta(
            id=session,
            agent=known.agent,
            created_by=str(header.get("createdBy", "")),
            created_at=known.created,
            title=known.title or "",
            updated_at=known.modified,
            message_count=known.message_count,
            summary=known.summary,
        )

    def _silent(self, session: str, agent: str) -> Session:
        """Return what the file of a session says of it before the first message."""
        known = Session(id=session, agent=agent)
        with suppress(ParseError):  # a damaged header: its file is an error of the next run
            for event in self._follower.parser.parse(self._files.path(session)):
                if isinstance(event, Message) and is_said(event):
                    return Session(id=session, agent=agent)
                if isinstance(event, Session):
                    learn(known, event)
                    known.modified = known.created
        return known


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
