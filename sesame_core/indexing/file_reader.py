"""Reads one file into the index: events in, sessions and chunks out.

It decides how much of a changed file is read, deduplicates replayed messages by their origin, collects the facts of
each session, and completes the chunks that the formatter made.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

from ..config import identity
from ..errors import ParseError, PluginError, SesameError
from ..plugin.backend import IndexWriter, Positions
from ..plugin.formatter import ChunkFormatter
from ..plugin.parser import Parser, TailParser
from ..sdk.jsonl import BEFORE_BLOCK
from ..text.tokens import as_seen, clean, subwords
from ..types.index import SILENT, Chunk, IndexedFile
from ..types.transcript import Checkpoint, Event, Message, Notes, Session, Skipped
from .session_facts import count, learn
from .silence import Silence

#: Bytes of a file's head, and before its checkpoint, that are hashed to distinguish growth from a rewrite.
HASHED = 4096
#: Messages before a checkpoint whose origins are stored: agents repeat recent messages, or all of them.
REMEMBERED = 128

_ORIGIN_MASK = (1 << 63) - 1


#: Sessions and chunks that are read from a file for the index.
Content: TypeAlias = Iterator[Session | Chunk]


class RedactingEvents(Protocol):
    """Redacts the events of a parser before a formatter cuts them into chunks."""

    def redacted(self, file: IndexedFile, events: Iterable[Event]) -> Iterator[Event]:
        """Yield the events of a file without secrets."""


@runtime_checkable
class Redacting(RedactingEvents, Protocol):
    """A writer that redacts what it stores, and the events of a parser."""

    #: As `Source.redaction`.
    redaction: int

    def stored_path(self, path: str) -> str:
        """Return a file's path as in `files`: a secret in it is stored as a placeholder."""

    def elsewhere(self) -> RedactingEvents:
        """Return what redacts events in another process, which it is sent to."""

    def was_redacted(self, file: IndexedFile) -> None:
        """Take the content of a file, which the next call passes, as redacted: its events were."""


class Replayed(Exception):
    """A file must be read from its start: it replays a session, or a session turned out to be excluded."""


class Stopped(Exception):
    """The run was stopped while a file was read: nothing of the file changes in the index."""


class FileReader:
    """Reads one file into the index.

    :param file: the file's row in the index; filled while the content is consumed.
    :param writer: the index; None where only `whole` is called.
    :param is_excluded: returns, from a session's cwd, whether to leave the session out.
    :param notes: returns the notes of a session, by its id.
    :param redacting: redacts the events; the writer, if it redacts, when None.
    :param key: of the hashes of the file's head and tail, which contain what the index does not: without it, whoever
        reads the index could try out what a placeholder stands for.
    """

    def __init__(
        self,
        file: IndexedFile,
        parser: Parser,
        formatter: ChunkFormatter,
        writer: IndexWriter | None,
        *,
        workstation: str,
        is_excluded: Callable[[str | None], bool],
        notes: Callable[[str], Notes | None],
        redacting: RedactingEvents | None = None,
        key: bytes = b"",
    ) -> None:
        self.file = file
        #: Skipped records that had content: (line, reason).
        self.losses: list[tuple[int, str]] = []
        #: Number of records skipped in this run, by reason; `file.skipped` counts those of all runs.
        self.skipped: dict[str, int] = {}
        #: Number of sessions in which nobody has said anything, which are not stored.
        self.silent = 0
        #: Where reading began, in bytes.
        self.start = 0
        #: Only the new end of the file was indexed; the rest was in the index.
        self.is_tail = False
        #: The first chunk of the requested record: its session, and the number of chunks of the session before it.
        self.located: tuple[str, int] | None = None
        #: Returns whether to stop reading.
        self.is_stopped: Callable[[], bool] = lambda: False
        self._parser = parser
        self._formatter = formatter
        self._writer = writer
        self._redacting = writer if isinstance(writer, Redacting) else redacting
        self._workstation = workstation
        self._is_excluded = is_excluded
        self._notes = notes
        self._key = key
        self._sessions: dict[str, Session] = {}
        self._silence = Silence()
        self._excluded: set[str] = set()
        #: Whether the directory of the session that is read is excluded.
        self._is_out = False
        self._seen: set[int] = set()
        self._recent: deque[int] = deque(maxlen=REMEMBERED)
        self._first_origins: set[int | None] = set()

    def tail(self, known: IndexedFile | None) -> Iterator[Session | Chunk] | None:
        """Return the content after the known part, when the file has only grown; None when it must be read whole.

        The content raises `Replayed` when it turns out later that the file must be read whole.
        """
        assert self._writer is not None
        if not isinstance(self._parser, TailParser) or (grown := self._grown(known)) is None:
            return None
        stored, at = grown
        events = self._parser.parse_tail(Path(self.file.path), at)
        if events is None:
            return None
        self.file.skipped = dict(stored.skipped)
        self.start = at.offset
        self._sessions = {session.id: session for session in self._writer.file_sessions(self.file.path)}
        if any(self._is_excluded(session.cwd) for session in self._sessions.values()):
            return None
        self._silence = Silence(self._sessions)
        self._recent.extend(stored.recent_origins)
        self._seen = set(self._recent)
        self._first_origins = {session.first_origin for session in self._sessions.values()}
        return self._content(events)

    def _grown(self, known: IndexedFile | None) -> tuple[IndexedFile, Checkpoint] | None:
        """Return the stored file when its content is still a prefix of the file; None when it must be read whole."""
        if known is None or known.error or known.parser_version != self.file.parser_version:
            return None
        assert self._writer is not None
        stored = known if known.checkpoint else self._writer.file(self.file.path)
        at = stored.checkpoint if stored else None
        if stored is None or at is None or self.file.size < at.offset:
            return None
        return (stored, at) if self._hashes(at.offset) == (stored.head_hash, stored.tail_hash) else None

    def whole(self) -> Iterator[Session | Chunk]:
        """Return the content of the whole file.

        It raises `Replayed` when a session turns out to be excluded after its start; from then on it is left out.
        """
        self.start = 0
        self.losses, self.skipped, self.file.skipped = [], {}, {}
        self._sessions, self._seen, self._first_origins = {}, set(), set()
        self._silence = Silence()
        self._recent.clear()
        return self._content(self._parser.parse(Path(self.file.path)))

    def bring_in(self, known: IndexedFile | None, *, entry_id: str | None = None) -> Positions:
        """Index the new end of the file, or else all of it; return the positions of the stored chunks.

        :param known: the file as the index knows it.
        :param entry_id: id of the record whose first chunk `located` will be.
        """
        assert self._writer is not None
        reset = BEFORE_BLOCK.set(self._stop_if_asked)
        try:
            return self._brought_in(self._writer, known, entry_id)
        finally:
            BEFORE_BLOCK.reset(reset)

    def _brought_in(self, writer: IndexWriter, known: IndexedFile | None, entry_id: str | None) -> Positions:
        try:
            if (tail := self.tail(known)) is not None:
                positions = writer.append(self.file, self._locating(tail, entry_id))
                self.is_tail = True
                return positions
        except Replayed:
            pass  # while it was read, it turned out that all of it must be read
        while True:
            try:
                return writer.replace(self.file, self._locating(self.whole(), entry_id))
            except Replayed:
                continue  # one more of its sessions turned out to be excluded

    def _stop_if_asked(self) -> None:
        if self.is_stopped():
            raise Stopped

    def _locating(self, content: Iterator[Session | Chunk], entry_id: str | None) -> Iterator[Session | Chunk]:
        """Return content that sets `located` as it is consumed."""
        self.located = None
        return content if entry_id is None else self._counting(content, entry_id)

    def _counting(self, content: Iterator[Session | Chunk], entry_id: str) -> Iterator[Session | Chunk]:
        counts: Counter[str] = Counter()
        for item in content:
            if isinstance(item, Chunk) and self.located is None:
                if item.entry_id == entry_id:
                    self.located = item.session_id, counts[item.session_id]
                counts[item.session_id] += 1
            yield item

    # -- from events to content ---------------------------------------------------------------------------

    def _content(self, events: Iterable[Event]) -> Iterator[Session | Chunk]:
        events = self._guarded(events)
        if self._redacting is not None:
            events = self._redacting.redacted(self.file, events)
        for event in events:
            self._stop_if_asked()
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
                self.file.checkpoint = event
                self.file.head_hash, self.file.tail_hash = self._hashes(event.offset)
                self.file.recent_origins = tuple(self._recent)
        self.silent = 0
        for session in self._sessions.values():
            if self._silence.is_silent(session.id):
                self.silent += 1
                continue
            session.modified = session.modified or session.created
            yield session
        if self.silent:
            self.file.skipped[SILENT] = self.silent
            # What is held back is not stored: when the file grows, all of it is read.
            self.file.checkpoint = None

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
            raise PluginError(f"the parser {self.file.parser!r} failed: {error!r}") from error

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
                self.file.path, f"the parser {self.file.parser!r} did not introduce session {message.session_id!r}"
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
        for counts in (self.skipped, self.file.skipped):
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
                raise ParseError(self.file.path, f"its session id is not a string: {facts.id!r}")
            session = Session(id=facts.id, agent=facts.agent, notes=self._notes(facts.id))
            self._sessions[facts.id] = session
        elif facts.cwd and facts.cwd != session.cwd and self._is_out:
            self._excluded.add(facts.id)
            raise Replayed
        learn(session, facts)
        session.host, session.owner = identity.host(), identity.owner()
        session.key = identity.session_key(self._workstation, identity.project_id(session.cwd or ""), session.id)
        return session

    def _hashes(self, offset: int) -> tuple[bytes, bytes]:
        """Return the hashes of the file's head and of the bytes before an offset."""
        with open(self.file.path, "rb", buffering=0) as file:
            head = file.read(min(HASHED, offset))
            file.seek(max(0, offset - HASHED))
            tail = file.read(min(HASHED, offset))
        of_head, of_tail = (blake2b(part, digest_size=16, key=self._key).digest() for part in (head, tail))
        return of_head, of_tail


def _origin(origin_id: str | None) -> int | None:
    """Return a 63-bit hash of an origin id; a message's n-th chunk adds n."""
    if not origin_id:
        return None
    digest = blake2b(origin_id.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big") & _ORIGIN_MASK
