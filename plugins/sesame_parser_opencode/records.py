"""What all layouts have in common: a session's row, and messages with their parts, in the order of the conversation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from sesame_core.types.transcript import Skipped

#: Most sessions above a subagent's that are looked up.
DEPTH = 16


class Record(NamedTuple):
    """A message, or a part of one."""

    id: str
    data: Mapping[str, Any]


class Stored(Protocol):
    """One session as it is stored.

    The names in `facts` are those of the database's columns, whatever the layout.
    """

    @property
    def is_new(self) -> bool:
        """Whether it is one of OpenCode 2, whose messages have another form."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """The session's row."""

    def parent_of(self, session_id: str) -> str:
        """Return the id of the session that started another one; "" when none did, or it is not known."""

    def messages(self) -> Iterator[Record | Skipped]:
        """Yield the messages in order."""

    def parts(self, message: Record) -> Iterable[Record | Skipped]:
        """Return the parts of a message in order."""


def lineage(stored: Stored, session_id: str) -> list[str]:
    """Return the ids of the sessions above a session, the nearest first."""
    above: list[str] = []
    while len(above) < DEPTH and (parent := stored.parent_of(above[-1] if above else session_id)):
        if parent in (session_id, *above):
            break
        above.append(parent)
    return above
