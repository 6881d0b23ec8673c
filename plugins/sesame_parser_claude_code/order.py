"""The order of messages: what is said while a reply is written comes after it."""

from __future__ import annotations

from sesame_core.types.transcript import Message

from .facts import SessionFacts
from .replies import Replies, Reply

#: Bytes of the file for which an unfinished reply delays the messages after it.
PATIENCE = 1 << 22


class Order:
    """The messages of a file, in the order in which they are yielded.

    :param replies: remembers those that are yielded.
    """

    def __init__(self, facts: SessionFacts, replies: Replies) -> None:
        self._facts = facts
        self._replies = replies
        #: Messages that can be yielded, and those that wait until the open reply is complete.
        self.ready: list[Message] = []
        self._held: list[Message] = []
        #: The open reply, and the position in the file at which it began.
        self.reply: Reply | None = None
        self._opened_at = 0

    def say(self, message: Message) -> None:
        """Add a message, after the open reply."""
        (self.ready if self.reply is None else self._held).append(message)

    def open(self, reply: Reply, position: int) -> None:
        """Begin a reply; none is open."""
        self.reply, self._opened_at = reply, position

    def expire(self, position: int) -> None:
        """Close the open reply when it has delayed others for too long."""
        if position - self._opened_at > PATIENCE:
            self.close()

    def close(self) -> None:
        """Close the open reply, if any: it can be yielded, followed by the messages that waited for it."""
        reply, self.reply = self.reply, None
        if reply is None:
            return
        message = reply.message(self._facts.id)
        if message:
            self._replies.remember(reply)
            self.ready.append(message)
        self.ready += self._held
        self._held.clear()

    def taken(self) -> list[Message]:
        """Remove and return what can be yielded."""
        taken, self.ready = self.ready, []
        return taken
