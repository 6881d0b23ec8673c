"""Converts the steps of one session into messages and properties of the session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sesame_core import Event, Message, Session, Skipped, ToolCall, ToolResult
from sesame_core.dataclass import replace
from sesame_core.types.transcript import SHORTENED, Role

from .calls import Calls
from .history import CARRIED, History, Said
from .messages import answer_text, calls_of, first_line, message_key, thoughts_of
from .outputs import SHELLS, is_masked, output_of, response_text
from .records import TYPES, Step
from .speakers import Piece, is_acknowledgement, pieces
from .values import mapping, moment, objects, string, strings
from .versions import digest

#: Characters of a shell command in its result.
COMMAND_CHARS = 500
#: Information that is about the program and not about the session.
_NOTICES = ("Gemini CLI update available", "Update successful", "Installed via")


class SessionReader:
    """Reads steps in file order, and yields of each message what was not said before.

    :param replaced: texts that a later version replaces, as of `Versions`.
    :param thinking: yield the agent's thoughts.
    """

    def __init__(
        self, session: Session, *, replaced: frozenset[tuple[str, str]] = frozenset(), thinking: bool = False
    ) -> None:
        #: The properties known so far.
        self.session = session
        self.history = History()
        self._replaced = replaced
        self._thinking = thinking
        self._title = ""
        self.calls = Calls()

    def read(self, step: Step, number: int) -> Iterator[Event]:
        """Yield the events of a step.

        :param number: its line, or its place in the list of messages.
        """
        if step.kind == "about":
            yield from self._about(step.value)
        elif step.kind == "rewind":
            self.history.rewind(step.value)
        elif step.kind == "list":
            self.history.restart()
        else:
            is_said = False
            for event in self._message(step.value, number, is_listed=step.kind == "listed"):
                is_said = True
                yield event
            if step.is_shortened and is_said:
                yield Skipped(reason=SHORTENED, line=number)

    def finish(self) -> Session:
        """Return all properties of the session after the last step."""
        return replace(self.session, abandoned=self.history.abandoned())

    # -- properties ---------------------------------------------------------------------------------------

    def _about(self, values: Mapping[str, Any]) -> Iterator[Message]:
        session = self.session
        if places := [place for place in strings(values.get("directories")) if place != session.cwd]:
            session.directories = tuple(dict.fromkeys((*session.directories, *places)))
        title = " ".join(string(values, "summary").split())
        # A subagent's is the beginning of its answer, which is a call in its session and no name.
        if title and title != self._title and session.kind != "subagent":
            self._title = session.title = title
            yield Message(
                session_id=session.id,
                role="metadata",
                text=title,
                timestamp=moment(values.get("lastUpdated")),
                source_type="title",
            )

    # -- messages -----------------------------------------------------------------------------------------

    def _message(self, message: Mapping[str, Any], number: int, *, is_listed: bool) -> Iterator[Event]:
        kind = TYPES.get(string(message, "type"))
        if kind is None:
            if string(message, "type") or message.get("content"):
                yield Skipped(reason="unknown type", line=number)
            return
        said = self.history.place(
            message_key(message, kind, number), is_turn=kind in ("user", "gemini"), stamp=string(message, "timestamp")
        )
        if kind == "user":
            yield from self._user(message, said, is_listed=is_listed)
        elif kind == "gemini":
            yield from self._answer(message, said, is_listed=is_listed)
        else:
            yield from self._notice(message, said, kind)

    def _user(self, message: Mapping[str, Any], said: Said, *, is_listed: bool) -> Iterator[Message]:
        for piece in pieces(message):
            if self._is_new(said, piece.text or (piece.call or ("", ""))[1], is_listed=is_listed):
                yield self._piece(message, said, piece)
        for number, part in enumerate(objects(message.get("content"))):
            response = mapping(part, "functionResponse")
            call_id = string(response, "id") or self.calls.open_call(string(response, "name")) or f"{said.key}:{number}"
            if response and not self.calls.has_result(call_id):
                name = self.calls.name(call_id) or string(response, "name")
                yield from self._result(message, said, call_id, name, *response_text(response, name))

    def _piece(self, message: Mapping[str, Any], said: Said, piece: Piece) -> Message:
        if piece.role == "summary":
            self.session.summary = piece.text
        if piece.call is not None:
            tool, argument = piece.call
            is_shell = tool in SHELLS
            call = ToolCall(id=f"{said.key}:{piece.source_type}", name=tool, arguments={"command": argument})
            result = ToolResult(
                call_id=call.id, name=tool, text=piece.text, command=argument[:COMMAND_CHARS] if is_shell else ""
            )
            calls = (call,) if is_shell else ()
            return self._make(
                message, said, "system", "", source_type=piece.source_type, tool_calls=calls, tool_results=(result,)
            )
        if piece.role == "user" and self.session.kind == "subagent":
            self.session.title = self.session.title or first_line(piece.text)
            return self._make(message, said, "system", piece.text, source_type="sidechain")
        return self._make(message, said, piece.role, piece.text, source_type=piece.source_type)

    def _answer(self, message: Mapping[str, Any], said: Said, *, is_listed: bool) -> Iterator[Message]:
        self.session.model = string(message, "model") or self.session.model
        if self._thinking and (thoughts := thoughts_of(message)) and self._is_new(said, thoughts, is_listed=is_listed):
            # Not a message of its own: the answer that follows counts.
            yield self._make(message, said, "assistant", thoughts, source_type="thinking", is_new=False)
        text = answer_text(message)
        if is_acknowledgement(text) or not self._is_new(said, text, is_listed=is_listed):
            text = ""
        made = dict(calls_of(message, said.key))
        calls = tuple(
            ToolCall(id=call_id, name=string(call, "name"), arguments=mapping(call, "args"))
            for call_id, call in made.items()
            if call_id not in self.calls
        )
        said.calls += len(calls)
        for new in calls:
            command = string(new.arguments, "command")[:COMMAND_CHARS] if new.name in SHELLS else ""
            self.calls.add(new.id, new.name, command)
        if text or calls:
            yield self._make(message, said, "assistant", text, tool_calls=calls)
        for call_id, call in made.items():
            if not self.calls.has_result(call_id):
                name = string(call, "name")
                yield from self._result(message, said, call_id, name, *output_of(call, name))

    def _result(
        self, message: Mapping[str, Any], said: Said, call_id: str, name: str, text: str, failed: bool
    ) -> Iterator[Message]:
        """Yield the result of a call; a call without any text yet has none."""
        if not text.strip():
            return
        name, command = self.calls.answer(call_id, name)
        result = ToolResult(call_id=call_id, name=name, text=text, is_error=failed, command=command)
        yield self._make(message, said, "tool", "", part=f"result:{call_id}", tool_results=(result,))

    def _notice(self, message: Mapping[str, Any], said: Said, kind: str) -> Iterator[Message]:
        text = answer_text(message)
        if not text.strip() or text.startswith(_NOTICES) or not self._is_new(said, text, is_listed=False):
            return
        if kind == "error":
            yield self._make(message, said, "assistant", text, source_type="error", is_error=True)
        else:
            yield self._make(message, said, "system", text, source_type=kind)

    # -- what was said already ----------------------------------------------------------------------------

    def _is_new(self, said: Said, text: str, *, is_listed: bool) -> bool:
        """Return whether a text is to be yielded, and keep that it was."""
        if not text.strip():
            return False
        mark = digest(text)
        if mark in said.digests or (said.key, mark) in self._replaced:
            return False
        if is_listed and ((said.digests and is_masked(text)) or self.history.has_said(mark)):
            return False
        self.history.say(said, mark)
        return True

    def _make(
        self, message: Mapping[str, Any], said: Said, role: Role, text: str, *, part: str = "", **more: Any
    ) -> Message:
        origin = f"{self.session.id}/{said.key}"
        if not part and said.count:
            part = str(said.count)
        if role in ("user", "assistant"):
            more.setdefault("is_new", not said.is_counted)
            said.is_counted = said.is_counted or more["is_new"]
        said.count += role != "tool"
        return Message(
            session_id=self.session.id,
            role=role,
            text=text,
            timestamp=moment(message.get("timestamp")),
            entry_id=string(message, "id") or None,
            origin_id=f"{origin}:{part}" if part else origin,
            segment=said.segment,
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
                "directories": list(session.directories),
            },
            "title": self._title,
            "calls": self.calls.state(),
            "history": self.history.state(is_complete=len(self.calls) <= CARRIED),
        }

    @classmethod
    def restore(cls, state: Mapping[str, Any], *, thinking: bool = False) -> SessionReader:
        """Return a reader that continues from a saved state, which has no summary of the session."""
        facts = {**state["session"], "directories": tuple(state["session"]["directories"])}
        session = Session(agent="gemini", **{**facts, "created": moment(facts["created"])})
        self = cls(session, thinking=thinking)
        self._title = state["title"]
        self.calls = Calls(state["calls"])
        self.history = History.restore(state["history"])
        return self
