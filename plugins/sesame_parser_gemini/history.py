"""The history of a session: which messages are in it, which were rewound, and what each has said already."""

from __future__ import annotations

from typing import Any

from sesame_core.dataclass import dataclass, field

#: Number of the latest messages, and of calls, in a checkpoint.
CARRIED = 64


@dataclass(slots=True)
class Said:
    """A message that was read."""

    key: str
    segment: int
    #: Digests of the texts that were yielded of it.
    digests: list[str] = field(default_factory=list)
    #: Number of events that were yielded of it.
    count: int = 0
    #: One of them counts as a message.
    is_counted: bool = False
    #: Number of calls that were yielded of it.
    calls: int = 0


class History:
    """Keeps the messages in order.  Each turn is a segment of its own, so that any of them can be rewound."""

    def __init__(self) -> None:
        self.segment = 0
        #: Time of the latest message, as it is written: later ones are greater.
        self.latest = ""
        #: Whether all messages are known, and not only the last ones.
        self.is_complete = True
        self._known: dict[str, Said] = {}
        self._active: dict[str, int] = {}
        self._abandoned: set[int] = set()
        self._digests: set[str] = set()

    def place(self, key: str, *, is_turn: bool, stamp: str = "") -> Said:
        """Return a message, which is in the history from now on; a new turn starts a segment."""
        said = self._known.get(key)
        if said is None:
            self.segment += is_turn
            said = self._known[key] = Said(key, self.segment)
            self.latest = max(self.latest, stamp)
        if key not in self._active:
            self._active[key] = said.segment
            self._abandoned.discard(said.segment)
        return said

    def say(self, said: Said, mark: str) -> None:
        """Keep that a text of a message was yielded."""
        said.digests.append(mark)
        self._digests.add(mark)

    def has_said(self, mark: str) -> bool:
        """Return whether a text was yielded of any message."""
        return mark in self._digests

    def get(self, key: str) -> Said | None:
        """Return a message; None if it is not known."""
        return self._known.get(key)

    def has_id(self, message_id: str) -> bool:
        """Return whether a message of an id can be rewound to."""
        return self._key_of(message_id) is not None

    def restart(self) -> None:
        """Start a new list of messages.  Those that it leaves out were summarized, not rewound."""
        self._active = {}

    def rewind(self, message_id: str) -> None:
        """Remove the message and all that follow; all if it is not known."""
        keys = list(self._active)
        first = self._key_of(message_id)
        removed = keys[keys.index(first) :] if first else keys
        kept = {self._active[key] for key in keys[: len(keys) - len(removed)]}
        for key in removed:
            if (segment := self._active.pop(key)) not in kept:
                self._abandoned.add(segment)

    def abandoned(self) -> tuple[int, ...]:
        """Return the segments that were rewound."""
        return tuple(sorted(self._abandoned))

    def _key_of(self, message_id: str) -> str | None:
        return next((key for key in self._active if key.partition(":")[2] == message_id), None)

    def state(self, *, is_complete: bool) -> dict[str, Any]:
        """Return the state for `restore`, as JSON values.

        :param is_complete: whether what else is kept of the messages is complete.
        """
        recent = list(self._known.values())[-CARRIED:]
        return {
            "segment": self.segment,
            "latest": self.latest,
            "is_complete": is_complete and self.is_complete and len(self._known) <= CARRIED,
            "known": [[s.key, s.segment, s.digests, s.count, s.is_counted, s.calls] for s in recent],
            "active": list(self._active.items())[-CARRIED:],
            "abandoned": self.abandoned(),
        }

    @classmethod
    def restore(cls, state: dict[str, Any]) -> History:
        """Return a history that continues from a saved state."""
        self = cls()
        self.segment, self.latest, self.is_complete = state["segment"], state["latest"], state["is_complete"]
        said = (Said(key, segment, list(marks), *counts) for key, segment, marks, *counts in state["known"])
        self._known = {one.key: one for one in said}
        self._active = {key: int(segment) for key, segment in state["active"]}
        self._abandoned = set(state["abandoned"])
        self._digests = {mark for said in self._known.values() for mark in said.digests}
        return self
