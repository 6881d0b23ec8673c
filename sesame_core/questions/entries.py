"""What happened in one session in a period, in a few lines: quotes of it, none written by a model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ..dataclass import replace
from ..search.handoff import handoff
from ..text.folding import shortened
from ..text.readable import readable
from ..types.export import Point
from ..types.knowing import DigestEntry
from .reach import is_within_period

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..privacy.leaving import Leaving
    from ..types.index import Chunk, StoredSession
    from ..types.query import Filters

#: Most characters of what was asked, of an answer, of a file, failure or task, and of the command in a failure; and
#: most of these.
ASKED, CONCLUDED, LINE, COMMAND = 140, 240, 120, 60
FILES, FAILURES, TASKS = 6, 2, 3
#: Chunks of a session that are read: of a longer one the first, for what was asked, and the last.
FIRST, LAST = 16, 1_500
#: Words of a prompt that says what is wanted: shorter ones are "go on".
WORDS = 3
_MARKS = re.compile(r"^(?:#{1,6}|>|[-*+]|\d+\.) +|\*\*", re.MULTILINE)
#: More bytes than a handoff has: here the lines are cut.
_ALL = 1 << 40


def entry_of(reader: IndexReader, stored: StoredSession, filters: Filters, leaving: Leaving | None) -> DigestEntry:
    """Return what happened in a session between `after` and `before` of filters.

    :param leaving: replaces secrets.
    """
    stored = leaving.session(stored) if leaving else stored
    session = stored.session
    if session.visibility == "metadata":
        first, last = session.created, session.modified
        return DigestEntry(stored=stored, first=_later(first, filters.after), last=last, is_withheld=True)
    chunks = [chunk for chunk in _read(reader, stored) if is_within_period(chunk, filters)]
    found = handoff(stored, chunks, budget=_ALL)
    if leaving:
        # Secrets are recognised in whole texts, and most chunks are not quoted.
        parts = (found.asked, found.decided, found.changed, found.failed, found.open)
        quoted = {point.position for points in parts for point in points}
        calls = {chunk.call_id for chunk in chunks if chunk.seq in quoted and chunk.call_id}
        chunks = [leaving.chunk(c) if c.seq in quoted or c.call_id in calls else c for c in chunks]
        found = handoff(stored, chunks, budget=_ALL)
    times = [chunk.timestamp for chunk in chunks if chunk.timestamp is not None]
    asked = next((p for p in found.asked if len(p.text.split()) >= WORDS), next(iter(found.asked), None))
    changed = [replace(p, text=_below(p.text, session.cwd)) for p in reversed(found.changed)]
    changed.sort(key=lambda point: point.text.startswith(("/", "~")) or point.text[1:2] == ":")  # its own files first
    failed = [replace(p, text=_failure(p.text)) for p in reversed(found.failed)]
    tasks = list(reversed(found.open))
    return DigestEntry(
        stored=stored,
        first=min(times, default=session.created),
        last=max(times, default=session.modified),
        prompts=len(found.asked),
        asked=_cut(asked, ASKED) if asked else None,
        concluded=_cut(found.decided[-1], CONCLUDED) if found.decided else None,
        changed=[_cut(point, LINE, is_prose=False) for point in changed[:FILES]],
        failed=[_cut(point, LINE) for point in failed[:FAILURES]],
        open=[_cut(point, LINE) for point in tasks[:TASKS]],
        left_out=sum(max(0, len(p) - most) for p, most in ((changed, FILES), (failed, FAILURES), (tasks, TASKS))),
    )


def _read(reader: IndexReader, stored: StoredSession) -> Sequence[Chunk]:
    """Return the chunks of a session, of a very long one the first and the last."""
    if stored.chunk_count <= FIRST + LAST:
        return reader.chunks([(stored.number, 0, None)])[0]
    first, last = reader.chunks([(stored.number, 0, FIRST), (stored.number, stored.chunk_count - LAST, None)])
    return [*first, *last]


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return max(one, other) if one and other else one or other


def _failure(text: str) -> str:
    """Return a command that failed and the last line of its output on one line."""
    command, _, output = text.partition("\n")
    last = output.rpartition("\n")[2].strip()
    command = " ".join(command.split())
    return f"{shortened(command, COMMAND)}: {last}" if last else command


def _below(path: str, directory: str | None) -> str:
    """Return a path relative to the session's directory, if it is below it."""
    start = directory.replace("\\", "/").rstrip("/") + "/" if directory else ""
    plain = path.replace("\\", "/")
    return plain[len(start) :] if start and plain.startswith(start) else path


def _cut(point: Point, most: int, *, is_prose: bool = True) -> Point:
    """Return an entry on one line of at most this number of characters; of prose without marks of Markdown."""
    line = " ".join((_MARKS.sub("", readable(point.text)) if is_prose else point.text).split())
    return replace(point, text=shortened(line, most))
