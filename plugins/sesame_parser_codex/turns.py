"""Follows the turns of a thread: a rewind drops the last ones, which stay in the file."""

from __future__ import annotations

from typing import Any

from sesame_core import Segments

#: Most turns that a rewind can drop after a checkpoint.
CARRIED = 64


class Turns:
    """Assigns the records between two prompts to a segment."""

    def __init__(self) -> None:
        self.segments = Segments()
        #: The segments of the turns on the active branch.
        self._active: list[int] = []
        self._was_rewound = False

    @property
    def current(self) -> int:
        """The segment of the current turn."""
        return self.segments.current

    def start(self) -> None:
        """Start a turn with a prompt."""
        if self._was_rewound and not self._active:
            self.segments.start_root()
        else:
            self.segments.start(str(self._active[-1]) if self._active else None)
        self._was_rewound = False
        self.segments.add(str(self.segments.current))
        self._active.append(self.segments.current)

    def rewind(self, count: int) -> None:
        """Drop the last turns."""
        if count > 0:
            del self._active[-count:]
            self._was_rewound = True

    def abandoned(self) -> tuple[int, ...]:
        """Return the segments that were dropped."""
        if self._was_rewound and not self._active:
            return tuple(range(1, self.segments.current + 1))
        return self.segments.abandoned(str(self._active[-1]) if self._active else None)

    def state(self) -> dict[str, Any]:
        """Return the state for `restore`, as JSON values."""
        return {
            "segments": self.segments.state(),
            "active": self._active[-CARRIED:],
            "was_rewound": self._was_rewound,
        }

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Turns:
        """Return a tracker that continues from a saved state."""
        self = cls()
        self.segments = Segments.restore(state["segments"])
        self._active = list(state["active"])
        self._was_rewound = state["was_rewound"]
        return self
