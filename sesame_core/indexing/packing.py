"""The content of a file as bytes, for the way from a worker process to the writer.

Chunks are tuples there, with times in UTC as numbers: pickled as objects they take six times as long.  A session is
pickled when the reader yields it, because the reader changes it afterwards.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from operator import attrgetter

from ..sdk.ingest import OVERHEAD
from ..types.index import Chunk
from ..types.transcript import Session

#: Characters of a block.  Larger ones are not faster, and a block is held twice: as bytes and as chunks.
BLOCK = 1 << 19

_values = attrgetter(
    *("kind", "text", "role", "tool_name", "call_id", "is_error", "paths", "cut", "session_id", "seq"),
    *("entry_id", "source_type", "segment", "origin", "subwords"),
)


def packed(content: Iterable[Session | Chunk]) -> Iterator[bytes]:
    """Yield content in blocks."""
    items: list[object] = []
    held = 0
    for item in content:
        if item.__class__ is Chunk:
            time = item.timestamp
            items += _values(item), time.timestamp() if time is not None and time.tzinfo is UTC else time
            held += OVERHEAD + len(item.text)
        else:
            items.append(pickle.dumps(item, pickle.HIGHEST_PROTOCOL))
            held += OVERHEAD
        if held >= BLOCK:
            yield pickle.dumps(items, pickle.HIGHEST_PROTOCOL)
            items, held = [], 0
    if items:
        yield pickle.dumps(items, pickle.HIGHEST_PROTOCOL)


def unpacked(block: bytes) -> Iterator[Session | Chunk]:
    """Yield the content of a block."""
    items = iter(pickle.loads(block))
    moment = datetime.fromtimestamp
    for item in items:
        if item.__class__ is bytes:
            yield pickle.loads(item)
            continue
        kind, text, role, tool, call, is_error, paths, cut, session, seq, entry, type, segment, origin, parts = item
        time = next(items)
        yield Chunk(
            kind=kind,
            text=text,
            role=role,
            tool_name=tool,
            call_id=call,
            is_error=is_error,
            paths=paths,
            cut=cut,
            session_id=session,
            seq=seq,
            timestamp=moment(time, UTC) if time.__class__ is float else time,
            entry_id=entry,
            source_type=type,
            segment=segment,
            origin=origin,
            subwords=parts,
        )
