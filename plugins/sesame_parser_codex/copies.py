"""Recognises the records of another thread at the beginning of a file: of what a fork or a subagent continues."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from .files import created_at
from .values import mapping, moment, string

#: `Skipped.reason` of a copied record.
COPIED = "copied from the session that it continues"
#: Copies are written at once, all with the time of the fork: a longer pause between two records ends them.  In the six
#: files with 300 to 600 copies of the labelled corpus they are 1 ms apart, and own records follow after 0.7 s or more.
PAUSE = timedelta(seconds=0.5)
#: Events of a turn, which have its id.
_TURNS = frozenset({"task_started", "turn_context"})


class Copies:
    """Follows the copied records of a file to their end.

    :param thread: the file's own thread.
    """

    def __init__(self, thread: str) -> None:
        self._thread = thread
        self._created = created_at(thread)
        self._last: datetime | None = None
        #: Whether the next record is a copy, unless it says otherwise.
        self.are_open = False

    def start(self) -> None:
        """Start with the header of the thread that the records are copied from."""
        self.are_open = True

    def has(self, record: Mapping[str, Any], payload: Mapping[str, Any]) -> bool:
        """Return whether a record is a copy; the first one that is not ends them."""
        if not self.are_open:
            return False
        time = moment(record.get("timestamp"))
        is_late = time is not None and self._last is not None and time - self._last > PAUSE
        self._last = time or self._last
        self.are_open = not (is_late or self._is_own(record, payload))
        return self.are_open

    def _is_own(self, record: Mapping[str, Any], payload: Mapping[str, Any]) -> bool:
        kind = record.get("type")
        event = string(payload, "type") if kind == "event_msg" else kind
        if event in ("item_completed", "thread_settings_applied"):
            return string(payload, "thread_id") == self._thread
        if event not in _TURNS or self._created is None:
            return False
        started = created_at(string(payload, "turn_id"))
        return started is not None and started >= self._created

    def state(self) -> dict[str, Any]:
        """Return the state for `restore`, as JSON values."""
        return {"is_open": self.are_open, "last": self._last.isoformat() if self._last else None}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state."""
        self.are_open, self._last = state["is_open"], moment(state["last"])


def is_of_other(payload: Mapping[str, Any], thread: str) -> bool:
    """Return whether an item belongs to another thread, whose file has it."""
    owner = string(payload, "thread_id")
    return bool(owner) and bool(mapping(payload, "item")) and owner != thread
