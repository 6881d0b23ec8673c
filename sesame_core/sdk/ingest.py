"""What a new file, a grown one and a rebuilt index mean for the sessions in it: for backends, whatever they write to.

A writer reads ahead (`read_ahead`), opens a transaction, gives each chunk its place in its session (`place`), and
stores the sessions last, since only the end of a file tells all about them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from ..types.index import Chunk, IndexedFile
from ..types.transcript import Session

#: Chunks per session; those beyond are not stored.  SQLite's row ids have 22 bits for a chunk's position.
MAX_CHUNKS = 1 << 22
#: What an object takes beside its text, in characters.
OVERHEAD = 1_000
#: A file with more characters than this is streamed in a transaction of its own; smaller ones share one, because each
#: commit costs what many rows cost.
SHARED = 8 << 20

#: The row with all that was said in a session (`Candidates.conversations`) costs what the session is long.  So it is
#: written anew when the session has so many more chunks (half of those in the row, and some) …
GROWTH, SOME = 1.5, 64
#: … or has been quiet for so many seconds; and one run renews so many of these.
QUIET_SECONDS = 15 * 60
RENEWED_PER_RUN = 2


class Target:
    """Where the chunks of one session go; a backend may add to it.

    :param number: the session's; None when it is forgotten, and nothing of it is stored.
    :param seq: position of its next chunk.
    :param is_stored: it was there before: the file has grown.
    """

    __slots__ = ("first", "is_stored", "number", "seq", "session")

    def __init__(self, number: int | None, seq: int = 0, *, is_stored: bool = False) -> None:
        self.number = number
        #: Position of the first chunk that this file adds.
        self.first = seq
        self.seq = seq
        self.is_stored = is_stored
        #: As the file describes it; None when it says nothing of it this time.
        self.session: Session | None = None


T = TypeVar("T", bound=Target)


def read_ahead(content: Iterable[Session | Chunk]) -> tuple[list[Session | Chunk], Iterator[Session | Chunk] | None]:
    """Return what a file says; of a large one its beginning, and the rest, which is not read yet.

    A small file is read to its end before anything is written: when that fails, there is nothing to undo.
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

    Chunks of forgotten sessions are dropped, and those beyond the number that a session may have.

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


def lineage(session_id: str) -> list[str]:
    """Return a session's id and those of the sessions it works for; a tombstone of one of them is one of its own."""
    names = [session_id]
    while "/" in names[-1]:
        names.append(names[-1].rpartition("/")[0])
    return names


def is_outgrown(count: int, in_row: int) -> bool:
    """Tell whether a session has grown so much beyond the row with its conversation that the row is renewed.

    :param count: chunks of the session.
    :param in_row: chunks that the row holds.
    """
    return count > GROWTH * in_row + SOME


def is_carried_over(path: str, rebuilt: IndexedFile | None) -> bool:
    """Tell whether a rebuilt index takes over what the old one holds of a file.

    It does when the file is gone, or could not be read this time.  A file that is there but was not indexed belongs to
    no source any more, and is left behind.

    :param rebuilt: the file as the rebuilt index has it; None when it has not.
    """
    return not os.path.exists(path) if rebuilt is None else rebuilt.error is not None


class Transaction(Protocol):
    """What can be kept or dropped as a whole."""

    def commit(self) -> Any:
        """Keep it."""

    def rollback(self) -> Any:
        """Drop it."""


W = TypeVar("W", bound=Transaction)


@contextmanager
def committing(writer: W) -> Iterator[W]:
    """Yield a writer; commit what it wrote, unless the block raises."""
    try:
        yield writer
    except BaseException:  # Ctrl-C, too: nothing half written stays; whatever it is goes on to the caller
        writer.rollback()
        raise
    writer.commit()
