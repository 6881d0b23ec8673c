"""Converts the messages of OpenCode 2 into events: the type of a message is a column, and its content is in it."""

from __future__ import annotations

from collections.abc import Iterator

from sesame_core import Skipped, ToolCall, ToolResult
from sesame_core.types.transcript import Event

from .calls import call_and_result
from .conversation import SHELL_INPUT, Conversation, file_name, prompt, prompt_role
from .facts import SessionFacts
from .records import Record
from .values import objects, string

#: The first line of a subagent's task.
_SPAWNED = "You are a subagent spawned by another session.\n"
#: Messages of the program: reminders, renamed tools, switches, pauses.
_NOISE = frozenset({"synthetic", "system", "agent-switched", "model-switched", "idle"})


class Conversation2(Conversation):
    """The messages of one session of OpenCode 2."""

    def __init__(self, facts: SessionFacts, *, thinking: bool) -> None:
        super().__init__(facts, thinking=thinking)
        self._handlers = {
            "user": self._said,
            "assistant": self._answered,
            "shell": self._ran,
            "compaction": self._compacted,
            "location-switched": self._moved,
        }

    def events(self, record: Record, parts: list[Record]) -> Iterator[Event]:
        """Yield the events of a message."""
        kind = string(record.data, "type")
        if handle := self._handlers.get(kind):
            yield from handle(record)
        elif kind not in _NOISE:
            yield Skipped(reason=f"unknown message: {kind[:40]}", line=0, is_loss=False)

    def _said(self, record: Record) -> Iterator[Event]:
        text = string(record.data, "text").removeprefix(_SPAWNED).strip()
        names = [name for file in objects(record.data, "files") if (name := file_name(file)) and name not in text]
        text = "\n".join(filter(None, [prompt(self._facts, text), *(f"[file: {name}]" for name in names)]))
        if text:
            yield self.message(record, prompt_role(self._facts), text, segment=self._of(record))

    def _answered(self, record: Record) -> Iterator[Event]:
        """Yield an answer, whose content has the form of parts with other names."""
        parts = []
        for number, part in enumerate(objects(record.data, "content")):
            parts.append(Record(string(part, "id") or f"{record.id}#{number}", part))
        yield from self._assistant(record, parts)

    def _ran(self, record: Record) -> Iterator[Event]:
        """Yield a command that the person typed."""
        data = record.data
        if not (command := string(data, "command") or string(data, "input")):
            return
        state = {
            "status": string(data, "status") or "completed",
            "input": {"command": command},
            "output": string(data, "output"),
            "content": data.get("content"),
            "metadata": data.get("metadata") or {"exit": data.get("exit")},
        }
        call, result = call_and_result({"tool": "shell", "state": state}, record.id)
        yield from self._run(record, call, result)

    def _run(self, record: Record, call: ToolCall, result: ToolResult | None) -> Iterator[Event]:
        segment = self._of(record)
        yield self.message(record, "system", "", [call], source=SHELL_INPUT, segment=segment)
        if result and result.text:
            yield self.message(record, "tool", "", (), [result], segment=segment, is_new=False)

    def _compacted(self, record: Record) -> Iterator[Event]:
        text = (string(record.data, "text") or string(record.data, "summary")).strip()
        if text:
            self._facts.summary = text
            yield self.message(record, "summary", text, source="compaction", segment=self._of(record))

    def _moved(self, record: Record) -> Iterator[Event]:
        self._facts.visit(string(record.data, "directory") or string(record.data, "location"))
        return iter(())
