"""The content of one file: the sessions and chunks that the events of its parser become.

It deduplicates replayed messages by their origin, collects the facts of each session, and completes the chunks that the
formatter made.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b

from ..config import identity
from ..errors import ParseError, PluginError, SesameError
from ..plugin.formatter import ChunkFormatter
from ..text.tokens import as_seen, clean, subwords
from ..types.index import SILENT, Chunk, IndexedFile
from ..types.transcript import Checkpoint, Event, Message, Notes, Session, Skipped
from .redacting import RedactingEvents
from .session_facts import count, learn
from .silence import Silence

#: Messages before a checkpoint whose origins are stored: agents repeat recent messages, or all of them.
REMEMBERED = 128

_ORIGIN_MASK = (1 << 63) - 1


class Replayed(Exception):
    """A file must be read from its start: it replays a session, or a session turned out to be excluded."""


class Stopped(Exception):
    """The run was stopped while a file was read: nothing of the file changes in the index."""


class FileContent:
    """The content of one file, read once: whole, or from where the index has it.

    :param file: the file's row in the index; filled while the content is consumed.
    :param is_excluded, notes: as of `FileReader`.
    :param excluded: ids of the sessions that are left out; those that turn out to be excluded are added.
    :param redacting: redacts the events.
    :param hashes: returns the hashes of the file's head and of the bytes before an offset.
    :param is_stopped: returns whether to stop reading; called for each event.
    :param start: where reading begins, in bytes.
    :param sessions: those of the file that are stored.
    :param recent: origins of the messages before the start.
    """

    def __init__(
        self,
        file: IndexedFile,
        formatter: ChunkFormatter,
        *,
        workstation: str,
        is_excluded: Callable[[str | None], bool],
        excluded: set[str],
        notes: Callable[[str], Notes | None],
        redacting: RedactingEvents | None,
        hashes: Callable[[int], tuple[bytes, bytes]],
        is_stopped: Callable[[], bool] = lambda: False,
        start: int = 0,
        sessions: Sequence[Session] = (),
        recent: Sequence[int] = (),
    ) -> None:
        #: As of `FileReader`.
        self.losses: list[tuple[int, str]] = []
        self.skipped: dict[str, int] = {}
        self.silent = 0
        self.start = start
        self._file = file
        self._formatter = formatter
        self._workstation = workstation
        self._is_excluded = is_excluded
        self._excluded = excluded
        self._notes = notes
        self._redacting = redacting
        self._hashes = hashes
        self._is_stopped = is_stopped
        #: Whether the directory of the session that is read is excluded.
        self._is_out = False
        self._sessions = {session.id: session for session in sessions}
        self._silence = Silence(self._sessions)
        self._recent = deque(recent, maxlen=REMEMBERED)
        self._seen = set(self._recent)
        self._first_origins = {session.first_origin for session in sessions}

    def read(self, events: Iterable[Event]) -> Iterator[Session | Chunk]:
        """Yield what the events of the parser become.

        :raises Replayed: the file must be read from its start.
        """
        events = self._guarded(events)
        if self._redacting is not None:
            events = self._redacting.redacted(self._file, events)
        for event in events:
            if self._is_stopped():
                raise Stopped
            if isinstance(event, Message):
                chunks = self._chunks(event)
                if session := self._sessions.get(event.session_id):
                    yield from self._silence.passed(session, event, chunks)
            elif isinstance(event, Session):
                if (session := self._learn(event)) and not self._silence.is_silent(session.id):
                    yield session
            elif isinstance(event, Skipped):
                self._skip(event.reason)
                if event.is_loss:
                    self.losses.append((event.line, event.reason))
            elif isinstance(event, Checkpoint):
                if self._excluded:
                    continue  # the rest of the file may not say which session it belongs to
                self._file.checkpoint = event
                self._file.head_hash, self._file.tail_hash = self._hashes(event.offset)
                self._file.recent_origins = tuple(self._recent)
        self.silent = 0
        for session in self._sessions.values():
            if self._silence.is_silent(session.id):
                self.silent += 1
                continue
            session.modified = session.modified or session.created
            yield session
        if self.silent:
            self._file.skipped[SILENT] = self.silent
            # What is held back is not stored: when the file grows, all of it is read.
            self._file.checkpoint = None

    def _guarded(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield a parser's events; name the parser when it fails, so that the index is not blamed.

        Whether a session is excluded is decided here, before its directory is redacted.
        """
        try:
            for event in events:
                if isinstance(event, Session):
                    self._is_out = self._is_excluded(event.cwd)
                yield event
        except (SesameError, OSError, Stopped):
            raise
        except Exception as error:
            raise PluginError(f"the parser {self._file.parser!r} failed: {error!r}") from error

    def _formatted(self, message: Message) -> list[Chunk]:
        try:
            return list(self._formatter.format(message))
        except Exception as error:
            raise PluginError(f"the chunk formatter failed: {error!r}") from error

    def _chunks(self, message: Message) -> list[Chunk]:
        session = self._sessions.get(message.session_id)
        if session is None:
            # The tail of a file does not repeat the `Session` of one that was forgotten since.
            if message.session_id in self._excluded or self.start:
                return []
            raise ParseError(
                self._file.path, f"the parser {self._file.parser!r} did not introduce session {message.session_id!r}"
            )
        origin = _origin(message.origin_id)
        if origin is not None:
            if origin in self._first_origins and self.start:
                raise Replayed
            if origin in self._seen:
                self._skip("repeated")
                return []
            self._seen.add(origin)
            self._recent.append(origin)
        count(session, message, origin)
        chunks = self._formatted(message)
        entry_id = message.entry_id and clean(message.entry_id)
        for position, chunk in enumerate(chunks):
            text = chunk.text = as_seen(chunk.text)
            chunk.subwords = subwords(text)
            chunk.session_id = message.session_id
            chunk.timestamp = message.timestamp
            chunk.entry_id = entry_id
            if chunk.tool_name:
                chunk.tool_name = clean(chunk.tool_name)
            if chunk.call_id:
                chunk.call_id = clean(chunk.call_id)
            if chunk.paths:
                chunk.paths = tuple(map(clean, chunk.paths))
            chunk.source_type = message.source_type
            chunk.segment = message.segment
            if origin is not None:
                chunk.origin = origin + position & _ORIGIN_MASK
        return chunks

    def _skip(self, reason: str) -> None:
        for counts in (self.skipped, self._file.skipped):
            counts[reason] = counts.get(reason, 0) + 1

    def _learn(self, facts: Session) -> Session | None:
        """Merge a parser's facts into the known session and return it; None when the session is excluded."""
        if facts.id in self._excluded:
            return None
        session = self._sessions.get(facts.id)
        if session is None:
            if self._is_out:
                self._excluded.add(facts.id)
                return None
            if clean(facts.id) != facts.id:
                raise ParseError(self._file.path, f"its session id is not a string: {facts.id!r}")
            session = Session(id=facts.id, agent=facts.agent, notes=self._notes(facts.id))
            self._sessions[facts.id] = session
        elif facts.cwd and facts.cwd != session.cwd and self._is_out:
            self._excluded.add(facts.id)
            raise Replayed
        learn(session, facts)
        session.host, session.owner = identity.host(), identity.owner()
        session.key = identity.session_key(self._workstation, identity.project_id(session.cwd or ""), session.id)
        return session


def _origin(origin_id: str | None) -> int | None:
    """Return a 63-bit hash of an origin id; a message's n-th chunk adds n."""
    if not origin_id:
        return None
    digest = blake2b(origin_id.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big") & _ORIGIN_MASK
