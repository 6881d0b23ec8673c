"""Reads one file into the index: decides how much of it is read, and hands its content to the writer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import blake2b
from pathlib import Path

from ..plugin.backend import IndexWriter, Positions
from ..plugin.formatter import ChunkFormatter
from ..plugin.parser import Parser, TailParser
from ..sdk.jsonl import BEFORE_BLOCK
from ..types.index import Chunk, IndexedFile
from ..types.transcript import Checkpoint, Notes, Session
from .content import FileContent, Replayed, Stopped
from .redacting import Redacting, RedactingEvents

#: Bytes of a file's head, and before its checkpoint, that are hashed to distinguish growth from a rewrite.
HASHED = 4096


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
        #: Only the new end of the file was indexed; the rest was in the index.
        self.is_tail = False
        #: The first chunk of the requested record: its session, and the number of chunks of the session before it.
        self.located: tuple[str, int] | None = None
        #: Returns whether to stop reading.
        self.is_stopped: Callable[[], bool] = lambda: False
        self._parser = parser
        self._writer = writer
        self._is_excluded = is_excluded
        # Functions and no methods of this object: a run makes no reference cycles.
        self._hashes = partial(_hashes, file.path, key)
        self._new_content = partial(
            FileContent,
            file,
            formatter,
            workstation=workstation,
            is_excluded=is_excluded,
            excluded=set(),
            notes=notes,
            redacting=writer if isinstance(writer, Redacting) else redacting,
            hashes=self._hashes,
        )
        self._content = self._new_content()

    @property
    def losses(self) -> list[tuple[int, str]]:
        """Skipped records that had content: (line, reason)."""
        return self._content.losses

    @property
    def skipped(self) -> dict[str, int]:
        """Number of records skipped in this run, by reason; `file.skipped` counts those of all runs."""
        return self._content.skipped

    @property
    def silent(self) -> int:
        """Number of sessions in which nobody has said anything, which are not stored."""
        return self._content.silent

    @property
    def start(self) -> int:
        """Where reading began, in bytes."""
        return self._content.start

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
        sessions = self._writer.file_sessions(self.file.path)
        if any(self._is_excluded(session.cwd) for session in sessions):
            return None
        self.file.skipped = dict(stored.skipped)
        self._content = self._new_content(
            is_stopped=self.is_stopped, start=at.offset, sessions=sessions, recent=stored.recent_origins
        )
        return self._content.read(events)

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
        self.file.skipped = {}
        self._content = self._new_content(is_stopped=self.is_stopped)
        return self._content.read(self._parser.parse(Path(self.file.path)))

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


def _hashes(path: str, key: bytes, offset: int) -> tuple[bytes, bytes]:
    """Return the hashes of a file's head and of the bytes before an offset."""
    with open(path, "rb", buffering=0) as file:
        head = file.read(min(HASHED, offset))
        file.seek(max(0, offset - HASHED))
        tail = file.read(min(HASHED, offset))
    of_head, of_tail = (blake2b(part, digest_size=16, key=key).digest() for part in (head, tail))
    return of_head, of_tail
