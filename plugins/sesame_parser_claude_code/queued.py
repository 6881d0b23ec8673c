"""Prompts that were typed while the agent worked, which the records tell up to twice.

Claude Code writes a `queue-operation` when the prompt is typed and usually a `queued_command` attachment or
a user record when the agent gets it.  Only the latter knows its place in the tree, so the former is kept
back for a while and reported only when nothing came of it.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Mapping
from typing import Any

from sesame_core.types.transcript import Message

from .records import digest

#: Lines after which a prompt is reported although no other record told it.
PATIENCE = 200
#: Prompts kept back at once, and told ones that are recognised when they come again.
REMEMBERED = 32


class QueuedPrompts:
    """Keeps prompts back until it is clear that no other record tells them."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        #: Prompts that are kept back: where they were put, by their short names.
        self.waiting: OrderedDict[str, tuple[int, Message]] = OrderedDict()
        #: Prompts of attachments, which may come before their queue-operation.
        self._attached: deque[str] = deque(state["attached"] if state else (), maxlen=REMEMBERED)
        #: Prompts that were reported from their queue-operation.
        self._reported: deque[str] = deque(state["reported"] if state else (), maxlen=REMEMBERED)

    def put(self, text: str, line: int, message: Message) -> None:
        """Keep back a prompt that a queue-operation at this line tells."""
        name = digest(text.strip())
        if name in self._attached:
            self._attached.remove(name)
        else:
            self.waiting[name] = (line, message)

    def was_reported(self, text: str, *, attached: bool = False) -> bool:
        """Tell whether a prompt that another record tells was reported before; it need not wait any more."""
        if not (self.waiting or self._reported or attached):
            return False
        name = digest(text.strip())
        if self.waiting.pop(name, None) is not None:
            return False
        if name in self._reported:
            self._reported.remove(name)
            return True
        if attached:
            self._attached.append(name)
        return False

    def due(self, line: int | None = None) -> list[Message]:
        """Take out the prompts that have waited long enough at this line; all of them at the end (None)."""
        due = []
        while self.waiting:
            name, (put_at, message) = next(iter(self.waiting.items()))
            if line is not None and line - put_at < PATIENCE and len(self.waiting) <= REMEMBERED:
                break
            del self.waiting[name]
            self._reported.append(name)
            due.append(message)
        return due

    def state(self) -> dict[str, Any]:
        """Return what a new tracker goes on from, as JSON values; nothing may be waiting."""
        return {"attached": list(self._attached), "reported": list(self._reported)}
