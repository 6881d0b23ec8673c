"""Converts the records after the header into messages and properties of the session."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

from sesame_core import Event, Message, Session, Skipped, ToolCall, ToolResult
from sesame_core.dataclass import replace
from sesame_core.types.transcript import Role

from .header import HEADER
from .values import moment, string

#: Most stored tool calls without a result, and characters of the shell command in a result.
REMEMBERED = 64
COMMAND_CHARS = 500

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "tool": "tool"}


class RecordReader:
    """Reads records in file order; `state` is everything that it needs to resume.

    An invalid record becomes a `Skipped`; unknown record types and fields are later additions to the format, and are
    ignored.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._calls: OrderedDict[str, tuple[str, str]] = OrderedDict()

    def introduce(self) -> Iterator[Event]:
        """Yield the events of the header."""
        yield replace(self._session)
        if self._session.title:
            yield self._about({}, "metadata", self._session.title, "title")

    def read(self, record: Mapping[str, Any], line: int) -> Iterator[Event]:
        """Yield the events of a record.

        :param line: its line number.
        """
        kind = record.get("type")
        if not isinstance(kind, str):
            yield Skipped(reason="no type", line=line)
        elif kind == "message":
            yield from self._message(record, line)
        elif kind == "compaction":
            if summary := string(record, "summary"):
                yield Session(id=self._session.id, agent=self._session.agent, summary=summary)
                yield self._about(record, "summary", summary, "compaction")
            else:
                yield Skipped(reason="no summary", line=line)
        elif kind == "title":
            if title := " ".join(string(record, "title").split()):
                yield Session(id=self._session.id, agent=self._session.agent, title=title)
                yield self._about(record, "metadata", title, "title")
            else:
                yield Skipped(reason="no title", line=line)
        elif kind == HEADER and string(record, "id") != self._session.id:
            yield Skipped(reason="second header", line=line)
        if record.get("timestamp") is not None and moment(record, "timestamp") is None:
            yield Skipped(reason="invalid timestamp", line=line, is_loss=False)

    def _message(self, record: Mapping[str, Any], line: int) -> Iterator[Event]:
        role = _ROLES.get(string(record, "role"))
        if role is None:
            yield Skipped(reason="unknown role", line=line)
            return
        if not isinstance(record.get("text", ""), str):
            yield Skipped(reason="text is not a string", line=line)
        calls, odd_calls = _objects(record, "toolCalls")
        results, odd_results = _objects(record, "toolResults")
        made = tuple(
            ToolCall(id=string(call, "id"), name=string(call, "name"), arguments=_arguments(call)) for call in calls
        )
        for call in made:
            self._remember(call)
        yield Message(
            session_id=self._session.id,
            role=role,
            text=string(record, "text"),
            tool_calls=made,
            tool_results=tuple(map(self._result, results)),
            timestamp=moment(record, "timestamp"),
            is_error=record.get("isError") is True,
            **self._identity(record),
        )
        for what, is_odd in (("tool call", odd_calls), ("tool result", odd_results)):
            if is_odd:
                yield Skipped(reason=f"invalid {what}", line=line)

    def _result(self, result: Mapping[str, Any]) -> ToolResult:
        call_id = string(result, "callId")
        name, command = self._calls.pop(call_id, ("", ""))
        return ToolResult(
            call_id=call_id,
            name=string(result, "name") or name,
            text=string(result, "text"),
            is_error=result.get("isError") is True,
            command=command,
        )

    def _remember(self, call: ToolCall) -> None:
        self._calls[call.id] = call.name, string(call.arguments, "command")[:COMMAND_CHARS]
        if len(self._calls) > REMEMBERED:
            self._calls.popitem(last=False)

    def _about(self, record: Mapping[str, Any], role: Role, text: str, source_type: str) -> Message:
        return Message(
            session_id=self._session.id,
            role=role,
            text=text,
            timestamp=moment(record, "timestamp"),
            source_type=source_type,
            **self._identity(record),
        )

    def _identity(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return a record's id, and the id that it shares with its copies: ids are only unique in their session."""
        entry = string(record, "id") or None
        return {"entry_id": entry, "origin_id": entry and f"{self._session.id}/{entry}"}

    # -- resuming -----------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the state for `restore`, as JSON values: some kilobytes at most."""
        calls = [[call, *about] for call, about in self._calls.items()]
        return {"id": self._session.id, "agent": self._session.agent, "calls": calls}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> RecordReader:
        """Return a reader that continues from a saved state, which has no properties of the session."""
        self = cls(Session(id=state["id"], agent=state["agent"]))
        self._calls = OrderedDict((call, (name, command)) for call, name, command in state["calls"])
        return self


def _objects(record: Mapping[str, Any], key: str) -> tuple[list[dict[str, Any]], bool]:
    """Return a record's list of objects, and whether it contained anything else; calls need a name."""
    values = record.get(key) or []
    if not isinstance(values, list):
        return [], True
    objects = [value for value in values if isinstance(value, dict) and (key != "toolCalls" or string(value, "name"))]
    return objects, len(objects) < len(values)


def _arguments(call: Mapping[str, Any]) -> dict[str, Any]:
    arguments = call.get("arguments")
    return arguments if isinstance(arguments, dict) else {}
