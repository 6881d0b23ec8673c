"""The session of another agent that a thread was imported from, as far as the thread has it.

It is yielded under its own id, as imported: a copy of the session there, which stays when that agent deletes its file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sesame_core import Event, Message, Session, ToolCall, ToolResult
from sesame_core.dataclass import replace

from .conversation import Conversation
from .headers import AGENT
from .imported import Call, Origin, Output, origin_of, parts_of
from .values import string

#: Most calls that wait for an output in a checkpoint.
CARRIED = 64
#: Beginning of the ids of imported turns.
_TURN = "external-import-turn-"
#: What Claude Code has put into prompts: commands of its own and their output, reminders, the editor's state.
_INJECTED = re.compile(r"\s*(?:</?(?:bash|command|ide|local-command|system|task)[-_]|Caveat: The messages below)")
#: The beginning of Claude Code's summaries.
_SUMMARY = "This session is being continued from a previous conversation"


class FormerSession:
    """Follows the imported turns of a thread.

    :param origin: the session that it was imported from.
    :param own: the session of the thread, in the same directory.
    :param state: of a checkpoint.
    """

    def __init__(self, origin: Origin, own: Session, *, state: Mapping[str, Any] | None = None) -> None:
        self._origin = origin
        self._session = Session(
            id=origin.session,
            parent_id=origin.session,
            agent=AGENT,
            kind="interactive",
            cwd=own.cwd,
            title=origin.title or None,
            created=datetime.fromtimestamp(state["created"], UTC) if state and state["created"] else None,
        )
        self._talk = Conversation(self._session, state=state["talk"] if state else None)
        #: Whether the present turn was imported: the first ones are.
        self._is_open: bool = state["is_open"] if state else True
        self._time: datetime | None = datetime.fromtimestamp(state["time"], UTC) if state and state["time"] else None
        #: The ids, names and commands of calls without an output.
        self._waiting: list[list[str]] = [list(call) for call in state["waiting"]] if state else []
        self._calls: int = state["calls"] if state else 0

    @classmethod
    def of(cls, path: Path, thread: str, own: Session) -> FormerSession | None:
        """Return the session that a thread was imported from; None for a thread of Codex's own."""
        origin = origin_of(path, thread)
        return cls(origin, own) if origin else None

    @property
    def id(self) -> str:
        """The session's id."""
        return self._session.id

    def introduce(self) -> Iterator[Event]:
        """Yield the session as far as it is known."""
        yield replace(self._session)

    def takes(self, kind: str, payload: Mapping[str, Any]) -> bool:
        """Return whether a record is a part of what was imported."""
        if kind == "turn_context" or (kind == "event_msg" and payload.get("type") == "task_started"):
            self._is_open = string(payload, "turn_id").startswith(_TURN)
            started = payload.get("started_at")
            if self._is_open and isinstance(started, int) and 0 < started < 1 << 35:
                # The records themselves have the time of the import.
                self._time = datetime.fromtimestamp(started, UTC)
                self._session.created = self._session.created or self._time
        return self._is_open

    def read(self, kind: str, payload: Mapping[str, Any]) -> Iterator[Event]:
        """Yield the messages of an imported record as the other agent had them."""
        for message in self._talk.read(kind, payload, self._time):
            yield from self._original(message)

    def finish(self) -> Iterator[Event]:
        """Yield what waited for records that did not come, and all properties of the session."""
        for message in self._talk.flush():
            yield from self._original(message)
        yield from self.introduce()

    def _original(self, message: Message) -> Iterator[Event]:
        message.timestamp = self._time
        if message.role == "user" and message.text.startswith(_SUMMARY):
            yield Session(id=self.id, agent=AGENT, summary=message.text)
            yield replace(message, role="summary", source_type="compaction")
        elif message.role != "user":
            for part in parts_of(message.text):
                if isinstance(part, str):
                    yield replace(message, text=part)
                elif isinstance(part, Call):
                    yield self._called(message, part)
                elif part.text or part.is_error:
                    yield self._answered(message, part)
        elif not _INJECTED.match(message.text):
            yield message

    def _called(self, message: Message, part: Call) -> Message:
        self._calls += 1
        call = ToolCall(id=f"imported-{self._calls}", name=part.name, arguments=part.arguments)
        self._waiting.append([call.id, part.name, string(part.arguments, "command")])
        return replace(message, text="", tool_calls=(call,), is_new=False)

    def _answered(self, message: Message, part: Output) -> Message:
        # Outputs are in the order of their calls.
        id, name, command = self._waiting.pop(0) if self._waiting else ("", "", "")
        result = ToolResult(call_id=id, name=name, text=part.text, is_error=part.is_error, command=command)
        return replace(message, role="tool", text="", tool_results=(result,), is_new=False)

    def state(self) -> dict[str, Any]:
        """Return the state from which a new one resumes, as JSON values."""
        return {
            "session": self._origin.session,
            "title": self._origin.title,
            "created": self._session.created.timestamp() if self._session.created else None,
            "talk": self._talk.state(),
            "is_open": self._is_open,
            "time": self._time.timestamp() if self._time else None,
            "waiting": self._waiting[-CARRIED:],
            "calls": self._calls,
        }

    @classmethod
    def restore(cls, state: Mapping[str, Any], own: Session) -> FormerSession:
        """Return a follower that continues from a saved state."""
        return cls(Origin(state["session"], state["title"]), own, state=state)
