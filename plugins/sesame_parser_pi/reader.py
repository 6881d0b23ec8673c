"""Converts the entries of one session into messages and properties of the session."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sesame_core import Message, Session, ToolCall, ToolResult
from sesame_core.dataclass import replace
from sesame_core.types.transcript import Role

from .tree import Tree
from .values import mapping, moment, nested_calls, string, texts, tool_calls

#: Most stored tool calls without a result, and most stored labels.
REMEMBERED = 64
#: Characters of a shell command in its result.
COMMAND_CHARS = 500

#: Tools whose `command` argument is run by a shell.
_SHELLS = frozenset({"bash", "exec", "run_command", "shell"})
#: Equivalent roles and types: other writers of this format put summaries into messages.
_SUMMARIES = {
    "compaction": "compaction",
    "compactionSummary": "compaction",
    "branch_summary": "branch_summary",
    "branchSummary": "branch_summary",
}
#: pi's expansion of `/skill:name words`: the skill's text, then the words.
_SKILL = re.compile(r'(<skill name="([^"]+)" location="[^"]*">\r?\n.*?\r?\n</skill>)(?:\s+(.*))?', re.DOTALL)


class SessionReader:
    """Reads entries in file order; `state` is everything that it needs to resume.

    :param thinking: yield the agent's thoughts.
    :param excluded_bash: yield shell commands that the user hid from the model (`!!`).
    """

    def __init__(self, session: Session, *, thinking: bool = False, excluded_bash: bool = False) -> None:
        #: The properties known so far.
        self.session = session
        self.tree = Tree()
        #: The id of the current entry, "" when it has none, and its segment in the tree.
        self._entry_id = ""
        self._segment = 0
        self._thinking = thinking
        self._excluded_bash = excluded_bash
        self._is_compacted = False
        self._title = ""
        self._labels: OrderedDict[str, str] = OrderedDict()
        self._calls: OrderedDict[str, tuple[str, str]] = OrderedDict()

    def read(self, entry: Mapping[str, Any]) -> Iterable[Message]:
        """Return the messages of an entry: one, several, or none."""
        kind = string(entry, "type")
        if kind == "session":
            return ()
        message = mapping(entry, "message")
        role = string(message, "role") if kind == "message" else ""
        self._entry_id = string(entry, "id")
        self._segment = self.tree.place(entry, self._entry_id, is_turn=role in ("user", "assistant"))
        return self._messages(entry, kind, message, role)

    def finish(self) -> Session:
        """Return all properties of the session after the last entry."""
        return replace(self.session, abandoned=self.tree.segments.abandoned())

    # -- entries by type ----------------------------------------------------------------------------------

    def _messages(
        self, entry: Mapping[str, Any], kind: str, message: Mapping[str, Any], role: str
    ) -> Iterable[Message]:
        if kind == "message":
            return self._message(entry, message, role)
        if kind in _SUMMARIES:
            return self._summary(entry, string(entry, "summary"), _SUMMARIES[kind])
        if kind == "custom_message":
            return self._injected(entry, entry, kind)
        if kind == "label":
            return self._label(entry)
        if kind == "session_info":
            return self._rename(entry)
        if kind == "model_change":
            self.session.model = string(entry, "modelId") or self.session.model
        return ()

    def _message(self, entry: Mapping[str, Any], message: Mapping[str, Any], role: str) -> Iterable[Message]:
        if role == "user":
            return self._prompt(entry, texts(message.get("content")))
        if role == "assistant":
            return self._answer(entry, message)
        if role == "toolResult":
            return (self._result(entry, message),)
        if role == "bashExecution":
            return self._bash(entry, message)
        if role in _SUMMARIES:
            text = string(message, "summary") or texts(message.get("content"))
            return self._summary(entry, text, _SUMMARIES[role])
        if role != "system":
            return self._injected(entry, message, role or "message")
        return ()

    def _prompt(self, entry: Mapping[str, Any], text: str) -> Iterator[Message]:
        if skill := _SKILL.fullmatch(text):
            body, name, words = skill.groups()
            yield self._make(entry, "system", body, source_type="skill", part="skill", is_new=False)
            yield self._make(entry, "user", f"/skill:{name} {words or ''}".rstrip(), source_type="command")
        elif text:
            yield self._make(entry, "user", text)

    def _answer(self, entry: Mapping[str, Any], message: Mapping[str, Any]) -> Iterator[Message]:
        content = message.get("content")
        if self._thinking and (thoughts := texts(content, "thinking")):
            # Not a message of its own: the answer that follows counts.
            yield self._make(entry, "assistant", thoughts, source_type="thinking", part="thinking", is_new=False)
        self.session.model = self.session.model or string(message, "model") or None
        text, error, calls = texts(content), string(message, "errorMessage"), tool_calls(content)
        for call in calls:
            self._calls[call.id] = (call.name, _command(call))
            if len(self._calls) > REMEMBERED:
                self._calls.popitem(last=False)
        if text or error or calls:
            yield self._make(
                entry,
                "assistant",
                "\n".join(filter(None, (text, error))),
                source_type="message" if text or calls else "error",
                tool_calls=calls,
                is_error=bool(error),
            )

    def _result(self, entry: Mapping[str, Any], message: Mapping[str, Any]) -> Message:
        call_id = string(message, "toolCallId")
        called, command = self._calls.pop(call_id, ("", ""))
        name = string(message, "toolName") or called
        result = ToolResult(
            call_id=call_id,
            name=name,
            text=texts(message.get("content")),
            is_error=message.get("isError") is True,
            command=command,
        )
        return self._make(entry, "tool", "", tool_calls=nested_calls(message, name), tool_results=(result,))

    def _bash(self, entry: Mapping[str, Any], message: Mapping[str, Any]) -> Iterator[Message]:
        if message.get("excludeFromContext") and not self._excluded_bash:
            return
        call = ToolCall(id=self._entry_id, name="bash", arguments={"command": string(message, "command")})
        result = ToolResult(
            call_id=call.id,
            name=call.name,
            text=string(message, "output"),
            is_error=message.get("exitCode") not in (0, None),
            command=_command(call),
        )
        yield self._make(entry, "system", "", source_type="bash", tool_calls=(call,), tool_results=(result,))

    def _injected(self, entry: Mapping[str, Any], holder: Mapping[str, Any], kind: str) -> Iterator[Message]:
        if text := texts(holder.get("content")):
            yield self._make(entry, "system", text, source_type=string(holder, "customType") or kind)

    def _summary(self, entry: Mapping[str, Any], text: str, kind: str) -> Iterator[Message]:
        if not text:
            return
        if kind == "compaction" or not self._is_compacted:
            self.session.summary = text
        self._is_compacted = self._is_compacted or kind == "compaction"
        yield self._make(entry, "summary", text, source_type=kind)

    def _label(self, entry: Mapping[str, Any]) -> Iterator[Message]:
        target, label = string(entry, "targetId"), string(entry, "label").strip()
        known = self._labels.pop(target, "")
        if not label:
            return
        self._labels[target] = label
        if len(self._labels) > REMEMBERED:
            self._labels.popitem(last=False)
        if label != known:
            yield self._make(entry, "metadata", label, source_type="label")

    def _rename(self, entry: Mapping[str, Any]) -> Iterator[Message]:
        title = " ".join(string(entry, "name").split())
        self.session.title = title
        if title and title != self._title:
            self._title = title
            yield self._make(entry, "metadata", title, source_type="title")

    def _make(self, entry: Mapping[str, Any], role: Role, text: str, *, part: str = "", **more: Any) -> Message:
        origin = _origin(entry, self._entry_id)
        return Message(
            session_id=self.session.id,
            role=role,
            text=text,
            timestamp=moment(entry.get("timestamp")) or moment(mapping(entry, "message").get("timestamp")),
            entry_id=self._entry_id or None,
            origin_id=f"{origin}:{part}" if origin and part else origin,
            segment=self._segment,
            **more,
        )

    # -- resuming -----------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the state for `restore`, as JSON values: some kilobytes, whatever the session's length."""
        session = self.session
        return {
            "session": {
                "id": session.id,
                "kind": session.kind,
                "parent_id": session.parent_id,
                "cwd": session.cwd,
                "title": session.title,
                "model": session.model,
                "created": session.created.isoformat() if session.created else None,
            },
            "is_compacted": self._is_compacted,
            "title": self._title,
            "labels": [list(pair) for pair in self._labels.items()],
            "calls": [[call, *about] for call, about in self._calls.items()],
            "tree": self.tree.state(),
        }

    @classmethod
    def restore(cls, state: Mapping[str, Any], **options: bool) -> SessionReader:
        """Return a reader that continues from a saved state, which has no summary of the session."""
        facts = state["session"]
        self = cls(Session(agent="pi", **{**facts, "created": moment(facts["created"])}), **options)
        self.tree = Tree.restore(state["tree"])
        self._is_compacted = state["is_compacted"]
        self._title = state["title"]
        self._labels = OrderedDict(state["labels"])
        self._calls = OrderedDict((call, (name, command)) for call, name, command in state["calls"])
        return self


def _command(call: ToolCall) -> str:
    """Return the shell command that a call runs, cut to `COMMAND_CHARS`; "" when it runs none."""
    return string(call.arguments, "command")[:COMMAND_CHARS] if call.name in _SHELLS else ""


def _origin(entry: Mapping[str, Any], entry_id: str) -> str | None:
    """Return an identity that is the same in pi's copies of an entry in forks; None when the entry has none."""
    written = _stamp(entry)
    if entry_id and written:
        return f"{entry_id}:{written}"
    message = mapping(entry, "message")
    said = _stamp(message)
    if not written and not said:
        return None
    if entry_id:
        return f"{entry_id}:{said}"
    return f"{written}:{said}:{string(message, 'role') or string(entry, 'type')}"


def _stamp(record: Mapping[str, Any]) -> str:
    value = record.get("timestamp")
    return str(value) if isinstance(value, (int, float)) else string(record, "timestamp")
