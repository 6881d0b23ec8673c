"""What a session had read of a file before it wrote the whole file: those lines it only kept.

An edit says what it left as it was, a whole file does not; but an agent mostly reads a file before it replaces it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..text.readable import readable
from .calls import Call
from .edits import edits, names
from .ownership import key

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.index import Chunk

#: Chunks before a call among which a file was read.
BEFORE = 40


def without_kept_lines(reader: IndexReader, calls: Sequence[Call]) -> dict[tuple[int, int], Call]:
    """Return by place those calls whose whole files have lines that the session had read before, without them."""
    written = [call for call in calls if any(edit.is_whole and edit.block for edit in call.edits)]
    ranges = [(n, max(0, seq - BEFORE), min(BEFORE, seq)) for n, seq in (call.place for call in written)]
    found = {}
    for call, before in zip(written, reader.chunks(ranges), strict=True):
        changed = []
        for edit in call.edits:
            seen = _seen(before, edit.path) if edit.is_whole else set()
            fresh = frozenset(at for at in edit.fresh if key(edit.block[at]) not in seen)
            changed.append(edit._replace(fresh=fresh))
        if tuple(changed) != call.edits:
            found[call.place] = call._replace(edits=tuple(changed))
    return found


def _seen(chunks: Sequence[Chunk], path: str) -> set[str]:
    """Return the keys of the lines that the last reading of a file had shown."""
    calls = [c for c in chunks if c.kind == "tool_call" and c.call_id and path in names(c.text) and not edits(c.text)]
    for call in reversed(calls):
        for chunk in chunks:
            if chunk.kind == "tool_result" and chunk.call_id == call.call_id and not chunk.is_error:
                return set(map(key, readable(chunk.text, chunk.kind).split("\n")))
    return set()
