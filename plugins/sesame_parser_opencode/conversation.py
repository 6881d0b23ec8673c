"""Converts the messages of one session into events: of all layouts but the last, which `conversation2` converts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import Any

from sesame_core import Message, Skipped, ToolCall, ToolResult
from sesame_core.types.transcript import Event, Role

from .calls import call_and_result, files_of
from .facts import SessionFacts
from .records import Record
from .values import mapping, moment, string, strings

#: The text of a message that a person's own command (`!ls`) leaves; the next message has the call.
OWN_COMMAND = "The following tool was executed by the user"
#: Source type of a command that a person typed, and of a task that another agent gave.
SHELL_INPUT, TASK = "bash-input", "sidechain"
#: Parts that say nothing: limits of steps, states of the files, attempts.
_NOISE = frozenset({"step-start", "step-finish", "snapshot", "retry", "agent", "compaction"})
#: The segments of a session: its active branch, and what was undone.
ACTIVE, UNDONE = 0, 1


class Conversation:
    """The messages of one session.

    :param thinking: yield the agent's thoughts.
    """

    def __init__(self, facts: SessionFacts, *, thinking: bool) -> None:
        self._facts = facts
        self._thinking = thinking
        #: The ids of messages that only say that the person ran a command, and whether the last message was one.
        self._own_commands: set[str] = set()
        self._was_own_command = False

    def events(self, record: Record, parts: list[Record]) -> Iterator[Event]:
        """Yield the events of a message."""
        role = string(record.data, "role")
        if role == "user":
            yield from self._user(record, parts)
        elif role == "assistant":
            yield from self._assistant(record, parts)
        else:
            yield Skipped(reason="no role", line=0)

    def _user(self, record: Record, parts: list[Record]) -> Iterator[Event]:
        spoken = [text for part in parts if (text := prompt_text(part.data))]
        self._was_own_command = not spoken and any(string(part.data, "text") == OWN_COMMAND for part in parts)
        if self._was_own_command:
            self._own_commands.add(record.id)
        text = "\n\n".join(spoken)
        names = [name for part in parts if (name := file_name(part.data)) and name not in text]
        if names:
            text = "\n".join(filter(None, [text, *(f"[file: {name}]" for name in names)]))
        if text:
            yield self.message(record, prompt_role(self._facts), prompt(self._facts, text), segment=self._of(record))

    def _assistant(self, record: Record, parts: list[Record]) -> Iterator[Event]:
        data = record.data
        self._facts.learn_answer(data)
        parent = string(data, "parentID")
        is_own = parent in self._own_commands if parent else self._was_own_command
        self._was_own_command = False
        is_summary = data.get("summary") is True or "compaction" in (string(data, "mode"), string(data, "agent"))
        role: Role = "summary" if is_summary else "system" if is_own else "assistant"
        source = "compaction" if is_summary else SHELL_INPUT if is_own else "message"
        texts: list[str] = []
        calls: list[ToolCall] = []
        results: list[ToolResult] = []
        named: set[str] = set()
        is_new = True
        segment = self._of(record)

        def said() -> Iterator[Message]:
            nonlocal is_new
            if texts or calls:
                text = "\n\n".join(texts)
                yield self.message(record, role, text, calls, source=source, segment=segment, is_new=is_new)
                is_new = False
            if results:
                yield self.message(record, "tool", "", (), results, segment=segment, is_new=False)
            if is_summary and texts:
                self._facts.summary = "\n\n".join(texts)
            for one in (texts, calls, results):
                one.clear()

        for part in parts:
            if (now := self._of(record, part)) != segment:
                yield from said()
                segment = now
            kind = string(part.data, "type")
            if kind == "text":
                if text := text_of(part.data):
                    if calls:
                        yield from said()
                    texts.append(text)
            elif kind == "reasoning":
                if self._thinking and (text := string(part.data, "text").strip()):
                    yield from said()
                    yield self.message(record, "assistant", text, source="thinking", segment=segment, is_new=False)
            elif kind == "tool":
                call, result = call_and_result(part.data, part.id)
                named |= files_of(call)
                calls.append(call)
                results += [result] if result else []
            elif kind == "patch":
                if others := [file for file in strings(part.data, "files") if file not in named]:
                    # What a command has changed, or a tool that does not name its files.
                    edits = [{"path": file} for file in others]
                    calls.append(ToolCall(id=part.id, name="patch", arguments={"edits": edits}))
            elif kind == "file":
                if name := file_name(part.data):
                    texts.append(f"[file: {name}]")
            elif kind == "subtask":
                texts += filter(None, [string(part.data, "prompt")])
            elif kind not in _NOISE:
                yield Skipped(reason=f"unknown part: {kind[:40]}" if kind else "no type", line=0, is_loss=not kind)
        yield from said()
        if error := error_text(data):
            name = string(mapping(data, "error"), "name")
            yield self.message(record, "system", error, source=name or "error", segment=segment, is_error=True)

    def message(
        self,
        record: Record,
        role: Role,
        text: str,
        calls: list[ToolCall] | tuple[()] = (),
        results: list[ToolResult] | tuple[()] = (),
        *,
        source: str = "",
        segment: int = ACTIVE,
        is_new: bool = True,
        is_error: bool = False,
    ) -> Message:
        """Return a message of a record."""
        created = mapping(record.data, "time").get("created", record.data.get("time_created"))
        content = (role, text, *(call.id for call in calls), *(result.call_id for result in results))
        digest = blake2b(repr(content).encode("utf-8", "replace"), digest_size=12).hexdigest()
        return Message(
            session_id=self._facts.id,
            role=role,
            text=text,
            tool_calls=tuple(calls),
            tool_results=tuple(results),
            timestamp=moment(created),
            entry_id=record.id or None,
            # A fork has copies of the messages under other ids, with their times.
            origin_id=f"{created}:{digest}" if created else f"{record.id}:{digest}",
            source_type=source or (TASK if role == "system" and not calls else "message"),
            segment=segment,
            is_new=is_new,
            is_error=is_error,
        )

    def _of(self, record: Record, part: Record | None = None) -> int:
        """Return the segment of a message, or of a part of it: ids grow with time."""
        since, since_part = self._facts.undone
        if not since or record.id < since:
            return ACTIVE
        if record.id > since or not since_part:
            return UNDONE
        return UNDONE if part is not None and part.id >= since_part else ACTIVE


def prompt_role(facts: SessionFacts) -> Role:
    """Return who speaks in the prompts of a session: those of a subagent are another agent's."""
    return "system" if facts.is_subagent else "user"


def prompt(facts: SessionFacts, text: str) -> str:
    """Return a prompt as it was typed: the argument of `opencode run` has quotes around it."""
    bare = text[1:-1]
    is_quoted = len(text) > 2 and text[0] == text[-1] == '"' and '"' not in bare and " " in bare
    return bare if is_quoted and not facts.is_subagent else text


def prompt_text(part: Mapping[str, Any]) -> str:
    """Return what a person said in a part."""
    kind = string(part, "type")
    return text_of(part) if kind == "text" else string(part, "prompt") if kind == "subtask" else ""


def text_of(part: Mapping[str, Any]) -> str:
    """Return the text of a part; "" of one that the program has added, or that no model gets."""
    return "" if part.get("synthetic") or part.get("ignored") else string(part, "text").strip()


def file_name(part: Mapping[str, Any]) -> str:
    """Return the name of an attached file; "" for other parts.  Its content is never read."""
    if string(part, "type") not in ("file", ""):
        return ""
    return string(part, "filename") or string(part, "name") or PurePosixPath(string(part, "path")).name


def error_text(data: Mapping[str, Any]) -> str:
    """Return why a message ended early; "" when it did not."""
    error = mapping(data, "error")
    return string(mapping(error, "data"), "message") or string(error, "message") or string(error, "name")
