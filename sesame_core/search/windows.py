"""The messages around a passage, in bounded size.

A message may contain a whole log, so a window shows the beginning of each one; `Sesame.list_messages` returns the
whole text page by page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..types.evidence import Window, WindowItem

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.index import Chunk, ChunkRange

#: Most bytes of UTF-8 of one item [seed 003].
MAX_SNIPPET_BYTES = 1024
#: Most items of a window, including the match, whatever the caller requests [seed 003].
MAX_WINDOW_ITEMS = 16


def window(reader: IndexReader, number: int, position: int, *, before: int, after: int) -> Window | None:
    """Return the window around a chunk; None when the session has none at this position.

    :param number: the stored session's number.
    :param before: number of items before the match, as far as there are any and `MAX_WINDOW_ITEMS` allows.
    :param after: likewise, number of items after it.
    """
    return windows(reader, [(number, position)], before=before, after=after)[0]


def windows(reader: IndexReader, places: Sequence[tuple[int, int]], *, before: int, after: int) -> list[Window | None]:
    """Return `window` for each pair of a session's number and a position in it."""
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
    """Return the number of items on each side that fit into a window: all of the shorter side, if at most half."""
    most = MAX_WINDOW_ITEMS - 1
    half_after = most // 2
    kept_before = min(before, max(most - half_after, most - after))
    return kept_before, min(after, most - kept_before)


def item(chunk: Chunk) -> WindowItem:
    """Return the window item of a chunk."""
    snippet = cut(chunk.text)
    return WindowItem(
        role=chunk.role,
        position=chunk.seq,
        snippet=snippet,
        is_truncated=len(snippet) < len(chunk.text),
        tool=chunk.tool_name,
    )


def cut(text: str, size: int = MAX_SNIPPET_BYTES) -> str:
    """Return the longest prefix of a text that takes at most `size` bytes of UTF-8, in whole characters."""
    # Every character takes at least a byte, so the rest need not be encoded.
    return text[:size].encode("utf-8", "surrogatepass")[:size].decode("utf-8", "ignore")
