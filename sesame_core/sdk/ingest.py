"""How a backend ingests the content of a new file and of one that has grown, and what a rebuild keeps.

A writer reads ahead (`read_ahead`), opens a transaction, assigns each chunk its position in its session (`place`), and
stores the sessions last, since they are only complete at the end of the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from ..dataclass import replace
from ..types.index import Chunk, IndexedFile
from ..types.transcript import Session

#: Most chunks per session; further ones are not stored.  SQLite's row ids have 22 bits for a chunk's position.
MAX_CHUNKS = 1 << 22
#: Size of an object without its text, in characters.
OVERHEAD = 1_000
#: A file with more characters than this is streamed in a transaction of its own; smaller ones share one, because each
#: commit costs what many rows cost.
SHARED = 8 << 20

#: Writing the row with everything said in a session (`Candidates.conversations`) costs time proportional to the
#: session.  So it is rewritten only when the session has grown by this factor and this number of chunks since …
GROWTH, SOME = 1.5, 64
#: … or has been quiet for this number of seconds; and one run rewrites at most this number of quiet ones.
QUIET_SECONDS = 15 * 60
RENEWED_PER_RUN = 2


class Target:
    """The destination of the chunks of one session; a backend may subclass it.

    :param number: number of the session; None when it is forgotten, and nothing of it is stored.
    :param seq: position of its next chunk.
    :param is_stored: the session is stored already: the file has grown.
    """

    __slots__ = ("first", "is_stored", "number", "seq", "session")

    def __init__(self, number: int | None, seq: int = 0, *, is_stored: bool = False) -> None:
        self.number = number
        #: Position of the first chunk that this file adds.
        self.first = seq
        self.seq = seq
        self.is_stored = is_stored
        #: As the file describes it; None when the new content does not describe it.
        self.session: Session | None = None


T = TypeVar("T", bound=Target)


def read_ahead(content: Iterable[Session | Chunk]) -> tuple[list[Session | Chunk], Iterator[Session | Chunk] | None]:
    """Return the content of a file; of a large one the first part, and an iterator of the rest.

    A small file is read to its end before anything is written, so that a failure leaves nothing to undo.
    """
    waiting = iter(content)
    first: list[Session | Chunk] = []
    held = 0
    for item in waiting:
        first.append(item)
        held += OVERHEAD + (len(item.text) if isinstance(item, Chunk) else 0)
        if held >= SHARED:
            return first, waiting
    return first, None


def place(
    content: Iterable[Session | Chunk],
    targets: dict[str, T],
    made: Callable[[Session], T],
    add: Callable[[T, Chunk, int], None],
    most: int = MAX_CHUNKS,
) -> dict[str, range]:
    """Add each chunk with its position in its session; return the positions by session id, as a writer does.

    Chunks of forgotten sessions are dropped, and those beyond the limit of a session.

    :param targets: those of the sessions that are stored already, by id; the file's others are added.
    :param made: makes the target of a session that has none.
    :param add: gets a target, a chunk, which it does not change, and the chunk's position.
    :param most: chunks of one session.
    """
    for item in content:
        if isinstance(item, Session):
            target = targets.get(item.id)
            if target is None:
                target = targets[item.id] = made(item)
            target.session = item
            continue
        target = targets[item.session_id]
        if target.number is None or target.seq >= most:
            continue
        seq = target.seq
        target.seq = seq + 1
        add(target, item, seq)
    return {id: range(target.first, target.seq) for id, target in targets.items() if target.seq > target.first}


def as_stored(file: IndexedFile, targets: Iterable[Target]) -> IndexedFile:
    """Return a file as a backend stores it after `place`: of a forgotten session, it stores no parser's state either.

    :param targets: those of all sessions of the file that were described.
    """
    if all(target.number is not None for target in targets):
        return file
    stored = replace(file)
    stored.drop_content()
    return stored


def lineage(session_id: str) -> list[str]:
    """Return the ids of a session and its ancestors; a tombstone of an ancestor applies to the session too."""
    names = [session_id]
    while "/" in names[-1]:
        names.append(names[-1].rpartition("/")[0])
    return names


def is_outgrown(count: int, in_row: int) -> bool:
    """Return whether a session has outgrown the row with its conversation, so that the row is rewritten.

    :param count: chunks of the session.
    :param in_row: chunks in the row.
    """
    return count > GROWTH * in_row + SOME


def is_deleted(path: str, is_missing: bool) -> bool:
    """Return whether a file that the index knows is deleted.

    Of a unit of a database (`sesame_core.plugin.parser.Listing`), whose path is below that of a file, the last run
    tells, unless the file itself is deleted.

    :param is_missing: the index says so (`IndexedFile.missing_since`).
    """
    if os.path.exists(path):
        return False
    container = os.path.dirname(path)
    while not os.path.exists(container) and os.path.dirname(container) != container:
        container = os.path.dirname(container)
    return is_missing or not os.path.isfile(container)


def is_carried_over(path: str, rebuilt: IndexedFile | None, *, is_missing: bool = False) -> bool:
    """Return whether a rebuilt index carries over the old content of a file.

    It does when the file is deleted, or could not be read this time.  A file that exists but was not indexed belongs to
    no source any more, and is dropped.

    :param rebuilt: the file in the rebuilt index; None when it is not there.
    :param is_missing: the old index has the file as missing.
    """
    return is_deleted(path, is_missing) if rebuilt is None else rebuilt.error is not None


class Transaction(Protocol):
    """A transaction, committed or rolled back as a whole."""

    def commit(self) -> Any:
        """Commit it."""

    def rollback(self) -> Any:
        """Roll it back."""


W = TypeVar("W", bound=Transaction)


@contextmanager
def committing(writer: W) -> Iterator[W]:
    """Yield a writer; commit its transaction, or roll it back if the block raises."""
    try:
        yield writer
    except BaseException:  # Ctrl-C too: nothing half-written stays, and the exception is raised again
        writer.rollback()
        raise
    writer.commit()
