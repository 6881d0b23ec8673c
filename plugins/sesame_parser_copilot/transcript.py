"""Converts the events of one file, in file order, into sessions and messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sesame_core import Checkpoint, Event, Message, Skipped
from sesame_core.types.transcript import SHORTENED, Role

from .calls import Calls
from .facts import SessionFacts
from .files import SessionFile
from .lines import EventLines
from .pasted import with_pastes
from .subagents import Subagents
from .values import moment, objects, string


class Transcript:
    """Reads one file; create one for each read.

    :param thinking: yield the agent's thoughts.
    :param state: the state in the checkpoint from which to continue.
    """

    def __init__(self, file: SessionFile, *, thinking: bool = False, state: Mapping[str, Any] | None = None) -> None:
        self._thinking = thinking
        self._file = file
        self._facts = SessionFacts(file)
        self._calls = Calls(state["calls"] if state else ())
        self._subagents = Subagents(state["subagents"] if state else None)
        #: The summary with which the agent called the tool that ends a task, and the last skill that it called.
        self._said = {"task_complete": "", "skill": ""}
        if state:
            self._facts.restore(state["facts"])
            self._said = dict(state["said"])
        self._is_introduced = False
        #: The event that is read, its data, and its subagent.
        self._event: Mapping[str, Any] = {}
        self._data: dict[str, Any] = {}
        self._agent = ""

    def read(self, lines: EventLines) -> Iterator[Event]:
        """Yield sessions, their messages, the session with all properties, and a checkpoint."""
        was_read = True
        for record in lines:
            if not isinstance(record, Skipped):
                kind = record.get("type")
                reader = _READERS.get(kind) if isinstance(kind, str) else None
                was_read = reader is not None
                if reader is not None:
                    yield from self._read(record, reader, lines.line)
                elif not isinstance(kind, str):
                    yield Skipped(reason="no type", line=lines.line)
            elif was_read or record.reason != SHORTENED:
                yield record
        if not self._is_introduced:
            yield from self._introduce()
        yield self._facts.session()
        state = {
            "facts": self._facts.state(),
            "calls": self._calls.state(),
            "subagents": self._subagents.state(),
            "said": self._said,
        }
        yield Checkpoint(offset=lines.offset, line=lines.line, state=state)

    def _read(self, event: dict[str, Any], reader: Reader, line: int) -> Iterator[Event]:
        data = event.get("data")
        if not isinstance(data, dict):
            yield Skipped(reason="no data", line=line)
            return
        self._event, self._data = event, data
        self._agent = self._subagents.of(event)
        for message in reader(self):
            if not self._is_introduced:
                yield from self._introduce()
            if self._agent and not self._subagents.is_introduced(self._agent):
                yield self._subagents.introduce(self._agent, self._facts.session())
            yield message
            if message.role == "user" and (title := self._facts.new_title()):
                yield from self._titled(title)

    def _introduce(self) -> Iterator[Event]:
        self._is_introduced = True
        title = self._facts.new_title()
        yield self._facts.session()
        if title:
            yield self._title(title)

    def _titled(self, title: str) -> Iterator[Event]:
        yield self._facts.session()
        yield self._title(title)

    def _title(self, title: str) -> Message:
        # Its event is not in the log, so it has neither id nor time.
        return Message(session_id=self._facts.id, role="metadata", text=title, source_type="title")

    # -- events by type -----------------------------------------------------------------------------------

    def _start(self) -> Iterator[Message]:
        if not self._agent:
            self._facts.start(self._data)
        yield from ()

    def _resume(self) -> Iterator[Message]:
        if not self._agent:
            self._facts.resume(self._data)
        yield from ()

    def _move(self) -> Iterator[Message]:
        if not self._agent:
            self._facts.move(self._data)
        yield from ()

    def _change_model(self) -> Iterator[Message]:
        if not self._agent:
            self._facts.answered_by(string(self._data, "newModel"))
        yield from ()

    def _inform(self) -> Iterator[Message]:
        if not self._agent:
            self._facts.inform(self._data)
        yield from ()

    def _prompt(self) -> Iterator[Message]:
        # `transformedContent` has the date, instructions and reminders around it.
        text, sender = string(self._data, "content"), string(self._data, "source")
        if not text.strip() or sender.startswith("skill"):
            return
        if self._agent:
            yield self._message("system", text, source_type="sidechain")
        elif self._data.get("isAutopilotContinuation") is True:
            yield self._message("system", text, source_type="autopilot")
        elif sender and sender not in ("user", "human"):
            yield self._message("system", text, source_type=sender.partition("-")[0])
        else:
            # A name that nobody gave repeats the prompt as it is in the log.
            self._facts.prompted(text)
            yield self._message("user", with_pastes(text, self._file.path.parent))

    def _answer(self) -> Iterator[Message]:
        data = self._data
        if not self._agent:
            self._facts.answered_by(string(data, "model"))
        if self._thinking and (thoughts := string(data, "reasoningText")):
            yield self._message("assistant", thoughts, source_type="thinking", part="thinking", is_new=False)
        calls = []
        for request in objects(data, "toolRequests"):
            name = string(request, "name")
            call = self._calls.open(string(request, "toolCallId"), name, request.get("arguments"))
            if call is not None:
                calls.append(call)
                self._note(name, call.arguments)
        text = string(data, "content")
        if text.strip() or calls:
            # A response with several thoughts is divided at them.
            is_new = data.get("chunkIndex") in (0, None)
            yield self._message("assistant", text, tool_calls=tuple(calls), is_new=is_new)

    def _think(self) -> Iterator[Message]:
        text = string(self._data, "content")
        if self._thinking and text.strip():
            yield self._message("assistant", text, source_type="thinking", is_new=False)

    def _call(self) -> Iterator[Message]:
        """Read that a call starts: most were in the answer before, with the same arguments."""
        name = string(self._data, "toolName")
        call = self._calls.open(string(self._data, "toolCallId"), name, self._data.get("arguments"))
        if call is not None:
            self._note(name, call.arguments)
            yield self._message("assistant", "", tool_calls=(call,), is_new=False)

    def _users_call(self) -> Iterator[Message]:
        data = self._data
        call = self._calls.open(string(data, "toolCallId"), string(data, "toolName"), data.get("arguments"))
        if call is not None:
            yield self._message("system", "", source_type="bash", tool_calls=(call,))

    def _result(self) -> Iterator[Message]:
        result = self._calls.answer(self._data)
        if result is not None:
            yield self._message("tool", "", tool_results=(result,))

    def _fail(self) -> Iterator[Message]:
        if text := string(self._data, "message"):
            yield self._message("system", text, source_type="error", is_error=True)

    def _compact(self) -> Iterator[Message]:
        text = string(self._data, "summaryContent")
        if text.strip() and self._data.get("success") is not False:
            yield from self._summary(text, "compaction")

    def _hand_off(self) -> Iterator[Message]:
        if text := string(self._data, "summary"):
            yield from self._summary(text, "handoff")

    def _summary(self, text: str, kind: str) -> Iterator[Message]:
        if not self._agent:
            self._facts.summarize(text)
        yield self._message("summary", text, source_type=kind)

    def _complete(self) -> Iterator[Message]:
        text = string(self._data, "summary")
        if text.strip() and text.strip() != self._said["task_complete"]:
            yield self._message("assistant", text, source_type="task_complete")

    def _invoke_skill(self) -> Iterator[Message]:
        """Read that a skill was loaded: its text is not the session's, and the prompt or the call names it already."""
        name = string(self._data, "name")
        if name and name != self._said["skill"] and not string(self._data, "trigger"):
            yield self._message("system", name, source_type="skill")

    def _start_subagent(self) -> Iterator[Message]:
        self._subagents.start(self._event, self._calls.about(string(self._data, "toolCallId")))
        yield from ()

    # -- messages -----------------------------------------------------------------------------------------

    def _note(self, name: str, arguments: Mapping[str, Any]) -> None:
        if name == "task_complete":
            self._said[name] = string(arguments, "summary").strip()
        elif name == "skill":
            self._said[name] = string(arguments, "skill")

    def _message(self, role: Role, text: str, *, part: str = "", **more: Any) -> Message:
        event_id = string(self._event, "id") or None
        main = self._facts.id
        return Message(
            session_id=f"{main}/{self._agent}" if self._agent else main,
            role=role,
            text=text,
            timestamp=moment(self._event.get("timestamp")),
            entry_id=event_id,
            # A fork copies events with their ids.
            origin_id=f"{event_id}:{part}" if event_id and part else event_id,
            **more,
        )


Reader = Callable[[Transcript], Iterator[Message]]

#: The events that are read; all others repeat these, or are the program's own bookkeeping.
_READERS: dict[str, Reader] = {
    "session.start": Transcript._start,
    "session.resume": Transcript._resume,
    "session.context_changed": Transcript._move,
    "session.model_change": Transcript._change_model,
    "session.info": Transcript._inform,
    "session.error": Transcript._fail,
    "session.compaction_complete": Transcript._compact,
    "session.handoff": Transcript._hand_off,
    "session.task_complete": Transcript._complete,
    "user.message": Transcript._prompt,
    "assistant.message": Transcript._answer,
    "assistant.reasoning": Transcript._think,
    "tool.execution_start": Transcript._call,
    "tool.execution_complete": Transcript._result,
    "tool.user_requested": Transcript._users_call,
    "skill.invoked": Transcript._invoke_skill,
    "subagent.started": Transcript._start_subagent,
}
