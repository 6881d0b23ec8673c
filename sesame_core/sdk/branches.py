"""Tracks which parts of a session's tree are on its active branch.

Agents keep rewound and abandoned branches in the same file.  A parser splits the file into segments, numbered in file
order, which are active or abandoned as a whole; most segments follow the previous one, and only the others are
stored.  So the state stays small however long the session grows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from typing import Any

#: Number of recent entries that are kept by id.  An older parent is no longer known.
RECENT = 100_000
#: Number of them in a checkpoint.
CARRIED = 64


class Segments:
    """Numbers the segments of one session and computes which are abandoned."""

    def __init__(self) -> None:
        self.current = 0
        self._parents: dict[int, int] = {}
        self._entries: OrderedDict[str, int] = OrderedDict()

    def add(self, entry_id: str | None) -> int:
        """Add an entry to the current segment and return the segment's number."""
        if entry_id:
            self._entries[entry_id] = self.current
            if len(self._entries) > RECENT:
                self._entries.popitem(last=False)
        return self.current

    def of(self, entry_id: str | None) -> int | None:
        """Return the segment of an entry; None when it is not (or no longer) known."""
        return self._entries.get(entry_id) if entry_id else None

    def start(self, parent_id: str | None) -> int:
        """Start a segment below the segment of `parent_id` (the current one if unknown); return its number."""
        parent = self.of(parent_id)
        following = self.current + 1
        if parent is not None and parent != self.current:
            self._parents[following] = parent
        self.current = following
        return following

    def start_root(self) -> int:
        """Start a segment without a parent, another root of the tree; return its number."""
        self.current += 1
        self._parents[self.current] = -1
        return self.current

    def abandoned(self, leaf_id: str | None = None) -> tuple[int, ...]:
        """Return the segments that are not on the path from the leaf (default: the last entry) to the root."""
        leaf = self.of(leaf_id)
        segment = self.current if leaf is None else leaf
        off = list(range(segment + 1, self.current + 1))
        forks = sorted(self._parents)
        # Between two forks every segment follows the previous one, so only forks are checked.
        while position := bisect_right(forks, segment):
            fork = forks[position - 1]
            segment = self._parents[fork]
            off += range(segment + 1, fork)
        return tuple(sorted(off))

    def state(self) -> dict[str, Any]:
        """Return the state for `restore`, as JSON values."""
        recent = list(self._entries.items())[-CARRIED:]
        return {"current": self.current, "parents": sorted(self._parents.items()), "recent": recent}

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Segments:
        """Return a tracker that continues from a saved state."""
        self = cls()
        self.current = state["current"]
        self._parents = {int(child): int(parent) for child, parent in state["parents"]}
        self._entries = OrderedDict((entry, int(segment)) for entry, segment in state["recent"])
        return self
