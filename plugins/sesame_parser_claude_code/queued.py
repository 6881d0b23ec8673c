"""Deduplicates prompts that were typed while the agent worked, which have up to two records.

Claude Code writes a `queue-operation` when the prompt is typed and usually a `queued_command` attachment or a user
record when the agent gets it.  Only the latter has its position in the tree, so the former is delayed and only
yielded if no other record follows.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Mapping
from typing import Any

from sesame_core.types.transcript import Message

from .records import digest

#: Number of lines after which a prompt is yielded although no other record has it.
PATIENCE = 200
#: Most delayed prompts, and most yielded ones that are recognised when they are repeated.
REMEMBERED = 32


class QueuedPrompts:
    """Delays prompts until it is clear that no other record has them."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        #: Delayed prompts with their line numbers, by digest.
        self.waiting: OrderedDict[str, tuple[int, Message]] = OrderedDict()
        #: Prompts of attachments, which may precede their queue-operation.
        self._attached: deque[str] = deque(state["attached"] if state else (), maxlen=REMEMBERED)
        #: Prompts that were yielded from their queue-operation.
        self._reported: deque[str] = deque(state["reported"] if state else (), maxlen=REMEMBERED)

    def put(self, text: str, line: int, message: Message) -> None:
        """Delay a prompt of a queue-operation at this line."""
        name = digest(text.strip())
        if name in self._attached:
            self._attached.remove(name)
        else:
            self.waiting[name] = (line, message)

    def was_reported(self, text: str, *, attached: bool = False) -> bool:
        """Return whether a prompt of another record was yielded before; it is no longer delayed."""
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
        """Remove and return the prompts that are due at this line; all of them at the end (None)."""
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
        """Return the state from which a new tracker resumes, as JSON values; no prompt may be waiting."""
        return {"attached": list(self._attached), "reported": list(self._reported)}
