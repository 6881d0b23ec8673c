"""The content of the backend in memory: sessions with their words, and the states of the index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from datetime import datetime
from functools import cached_property

from ...sdk.filtering import SessionFilter
from ...text.tokens import subwords
from ...types.index import Chunk, IndexedFile, StoredSession
from ...types.query import Condition, Filters, Word
from ...types.transcript import Session
from .words import Document


class Entry:
    """A session of one file with its chunks; never changed, only replaced.

    :param former: documents of the first chunks, from the former entry.
    """

    def __init__(self, session: Session, path: str, chunks: Sequence[Chunk], former: Sequence[Document] = ()) -> None:
        self.session = session
        self.path = path
        self.chunks = chunks
        self.documents = (*former, *(Document(chunk.text, chunk.subwords) for chunk in chunks[len(former) :]))

    @cached_property
    def head(self) -> Document:
        """Title, summary and prompts, with the session's notes."""
        session, notes = self.session, self.session.notes
        about = (notes.description, notes.summary, *notes.tags, subwords(notes.text), *notes.own) if notes else ()
        name = session.title or (notes.name if notes else "")
        return Document(name, "\n".join((session.summary or "", *about)), "\n".join(session.prompts))

    @cached_property
    def conversation(self) -> Document:
        """The title, and everything that people and agents said."""
        said = [chunk for chunk in self.chunks if chunk.kind == "message"]
        texts = ("\n".join(c.text for c in said if c.role == role) for role in ("user", "assistant"))
        return Document(self.session.title or "", *texts)


class State:
    """The whole content of one index at one time."""

    def __init__(self, former: State | None = None) -> None:
        self.entries: dict[int, Entry] = dict(former.entries) if former else {}
        self.files: dict[str, IndexedFile] = dict(former.files) if former else {}
        #: (agent, session id) of forgotten sessions.
        self.tombstones: set[tuple[str, str]] = set(former.tombstones) if former else set()
        self.synced_at: datetime | None = former.synced_at if former else None

    def stored(self, number: int) -> StoredSession:
        """Return a session as readers see it."""
        entry = self.entries[number]
        return StoredSession(
            number=number,
            session=deepcopy(entry.session),
            path=entry.path,
            missing_since=self.files[entry.path].missing_since,
            chunk_count=len(entry.chunks),
        )

    @cached_property
    def sessions(self) -> dict[int, StoredSession]:
        """All sessions, for filters; shared, so readers must not get them."""
        return {number: self.stored(number) for number in self.entries}

    @cached_property
    def documents(self) -> dict[tuple[int, int], Document]:
        """All chunks as documents, by session number and position."""
        return {
            (number, seq): document
            for number, entry in self.entries.items()
            for seq, document in enumerate(entry.documents)
        }

    @cached_property
    def terms(self) -> Counter[str]:
        """The number of chunks with each term."""
        return Counter(term for document in self.documents.values() for term in document.vocabulary)

    def matching(self, filters: Filters, condition: Condition | None) -> list[StoredSession]:
        """Return the sessions that meet filters and a condition, headless ones included."""
        keeps = SessionFilter(self._contains)
        return [
            stored
            for stored in self.sessions.values()
            if keeps.matches(filters, stored, chunks := self.entries[stored.number].chunks)
            and keeps.meets(condition, stored, chunks)
        ]

    def _contains(self, stored: StoredSession, chunk: Chunk, word: Word) -> bool:
        return self.entries[stored.number].documents[chunk.seq].contains(word)
