"""What was said around a passage, in bounded size.

A message may hold a whole log, so a window shows the beginning of each one; the whole text is read page by page
with `Sesame.list_messages`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..types.answer import Window, WindowItem

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.index import Chunk, ChunkRange

#: Bytes of UTF-8 that one item shows at most [seed 003].
MAX_SNIPPET_BYTES = 1024
#: Items of a window, the match among them, whatever the caller asks for [seed 003].
MAX_WINDOW_ITEMS = 16


def window(reader: IndexReader, number: int, position: int, *, before: int, after: int) -> Window | None:
    """Return the window around a chunk; None when the session has none at this position.

    :param number: the stored session's number.
    :param before: items before the match, as far as there are any and `MAX_WINDOW_ITEMS` allows.
    :param after: likewise, items after it.
    """
    return windows(reader, [(number, position)], before=before, after=after)[0]


def windows(reader: IndexReader, places: Sequence[tuple[int, int]], *, before: int, after: int) -> list[Window | None]:
    """Return what `window` would for each number of a session and position in it."""
    most = MAX_WINDOW_ITEMS - 1
    wanted: list[ChunkRange] = []
    for number, position in places:
        first = max(0, position - min(max(before, 0), most))
        wanted.append((number, first, position - first + 1 + min(max(after, 0), most)))
    found = reader.chunks(wanted)
    return [_window(chunks, position) for (_, position), chunks in zip(places, found, strict=True)]


def _window(chunks: Sequence[Chunk], position: int) -> Window | None:
    earlier = [chunk for chunk in chunks if chunk.seq < position]
    later = [chunk for chunk in chunks if chunk.seq > position]
    matches = [chunk for chunk in chunks if chunk.seq == position]
    if not matches:
        return None
    kept_before, kept_after = split_budget(len(earlier), len(later))
    return Window(
        match=item(matches[0]),
        before=tuple(map(item, earlier[len(earlier) - kept_before :])),
        after=tuple(map(item, later[:kept_after])),
    )


def split_budget(before: int, after: int) -> tuple[int, int]:
    """Return how many of the items on each side fit into a window: all of the shorter side, if half or less."""
    most = MAX_WINDOW_ITEMS - 1
    half_after = most // 2
    kept_before = min(before, max(most - half_after, most - after))
    return kept_before, min(after, most - kept_before)


def item(chunk: Chunk) -> WindowItem:
    """Return what a window shows of a chunk."""
    snippet = cut(chunk.text)
    return WindowItem(
        role=chunk.role,
        position=chunk.seq,
        snippet=snippet,
        is_truncated=len(snippet) < len(chunk.text),
        tool=chunk.tool_name,
    )


def cut(text: str, size: int = MAX_SNIPPET_BYTES) -> str:
    """Return the longest beginning of a text that takes so many bytes of UTF-8 at most, in whole characters."""
    # No character has less than a byte, so what is behind needs no encoding.
    return text[:size].encode("utf-8", "surrogatepass")[:size].decode("utf-8", "ignore")
