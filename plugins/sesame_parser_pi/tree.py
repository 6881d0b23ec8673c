"""The tree of pi's entries: each names its parent, and the last one in the file is the active leaf."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sesame_core import Segments, Skipped
from sesame_core.types.transcript import SHORTENED

from .values import string


class Tree:
    """Assigns entries, in file order, to segments."""

    def __init__(self) -> None:
        self.segments = Segments()
        #: Id of the previous entry, "" when it has none or could not be read.
        self._previous = ""

    def place(self, entry: Mapping[str, Any], entry_id: str, *, is_turn: bool) -> int:
        """Return the segment of an entry with this id; prompts, answers and branches start a new one."""
        parent = string(entry, "parentId")
        if self._previous and entry_id and "parentId" in entry and entry["parentId"] is None:
            self.segments.start_root()
        elif is_turn or (parent and parent != self._previous):
            self.segments.start(parent)
        self._previous = entry_id
        return self.segments.add(entry_id)

    def skip(self) -> None:
        """Record that an entry could not be read."""
        self._previous = ""

    def knows_parents(self, records: Iterable[dict[str, Any] | Skipped]) -> bool:
        """Return whether the parents of the entries that follow are known; a restored tree has lost old ones.

        The parent of an entry after an unreadable one may be that one, which is unknown.
        """
        previous = self._previous
        ids = {previous}
        for record in records:
            if isinstance(record, Skipped):
                previous = previous if record.reason == SHORTENED else ""
                continue
            parent = string(record, "parentId")
            if parent and previous and parent not in ids and self.segments.of(parent) is None:
                return False
            previous = string(record, "id")
            ids.add(previous)
        return True

    def state(self) -> dict[str, Any]:
        """Return the state for `restore`, as JSON values."""
        return {"segments": self.segments.state(), "previous": self._previous}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Tree:
        """Return a tree that continues from a saved state."""
        self = cls()
        self.segments = Segments.restore(state["segments"])
        self._previous = state["previous"]
        return self
