"""Converts the records of one file, in order, into events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sesame_core.sdk.branches import Segments
from sesame_core.sdk.jsonl import JsonLines
from sesame_core.types.transcript import Checkpoint, Event, Message, Session, Skipped, ToolCall, ToolResult

from .calls import OpenCalls
from .facts import SessionFacts
from .files import SessionFile
from .notes import Notes
from .order import Order
from .queued import QueuedPrompts
from .records import blocks, mapping, origin, result_text, string, texts, timestamp
from .replies import Replies, Reply, reply_key
from .resuming import moved_to
from .wrappers import LOCAL_COMMAND, WARM_UP, Part, attribute, classify, new_name

#: Bytes of the file for which all events wait for the session's directory, which decides whether it is excluded.
PATIENCE = 1 << 22
#: Source type of a shell command that a person typed (`!ls`).
SHELL_INPUT = "bash-input"


class Transcript:
    """The conversation of one file, from its start or from the state of a checkpoint."""

    def __init__(self, file: SessionFile, *, thinking: bool, state: Mapping[str, Any] | None = None) -> None:
        self._file = file
        self._thinking = thinking
        self._facts = SessionFacts(file)
        self._handlers = {
            "assistant": self._assistant,
            "user": self._user,
            "attachment": self._attachment,
            "system": self._system,
            "queue-operation": self._queue_operation,
            "last-prompt": self._last_prompt,
            "summary": self._old_title,
            "fork-context-ref": self._facts.learn_parent,
            "relocated": self._facts.learn_move,
            "worktree-state": self._facts.learn_move,
        }
        self._position = (0, 0)
        #: The uuid of the current record, "" when it has none.
        self._entry_id = ""
        self._summary: str | None = None
        self._was_introduced = False
        #: The agent answers a warm-up, which is no conversation.
        self._is_warming = False
        state = state or {}
        self._is_known = self._was_resumed = bool(state)
        if state:
            self._facts.restore(state["facts"])
            self._is_known = state["is_known"]
            self._is_warming = state["is_warming"]
        self._segments = Segments.restore(state["segments"]) if state else Segments()
        self._leaf: str | None = state.get("leaf")
        self._calls = OpenCalls(state.get("calls", ()))
        self._replies = Replies(state.get("replies", ()))
        self._order = Order(self._facts, self._replies)
        self._queued = QueuedPrompts(state.get("queued"))
        self._notes = Notes(self._facts, state.get("notes"))

    def read(self, reader: JsonLines) -> Iterator[Event]:
        """Yield the events of the records and, last, the checkpoint."""
        for record in reader:
            if isinstance(record, Skipped):
                yield record
                continue
            self._position = (reader.offset, reader.line)
            self._take(record)
            if self._order.ready and (self._facts.has_cwd or reader.offset > PATIENCE):
                yield from self._release()
        self._order.close()
        for message in self._queued.due():
            self._order.say(message)
        yield from self._release()
        if self._is_known or not self._was_resumed:
            # Also of a file without any message: it is the session that the file is named after, a silent one.
            yield self._session()
        yield Checkpoint(offset=reader.offset, line=reader.line, state=self._state())

    # -- from records to messages -------------------------------------------------------------------------

    def _take(self, record: dict[str, Any]) -> None:
        self._facts.learn(record)
        self._entry_id = string(record, "uuid")
        kind = string(record, "type")
        handle = self._handlers.get(kind)
        if handle:
            handle(record)
        else:
            for message in self._notes.take(kind, record):
                self._order.say(message)
        if "uuid" in record and kind not in ("assistant", "user"):
            self._place(record)
        if self._order.reply:
            self._order.expire(self._position[0])
        if self._queued.waiting:
            for message in self._queued.due(self._position[1]):
                self._order.say(message)

    def _assistant(self, record: dict[str, Any]) -> None:
        message = mapping(record, "message")
        key, model, segment = reply_key(record, message), string(message, "model"), self._place(record)
        reply = self._order.reply
        if reply is None or not key or key != reply.key:
            self._order.close()
            known = self._replies.known(key)
            reply = Reply(record, key, entry_id=self._entry_id, model=model, segment=segment, known=known)
            self._order.open(reply, self._position[0])
        if self._is_warming:
            reply.warm_up()
        self._facts.learn_model(model)
        for call in reply.add(message.get("content"), thinking=self._thinking):
            self._calls.open(call)
        if not key:
            self._order.close()

    def _user(self, record: dict[str, Any]) -> None:
        said = blocks(mapping(record, "message").get("content"))
        results = tuple(
            [
                self._calls.answer(block, self._file.spilled(result_text(block.get("content"))))
                for block in said
                if block["type"] == "tool_result"
            ]
        )
        parts: list[Part] = []
        for text in texts(said):
            if record.get("isCompactSummary") is True:
                parts.append(Part("summary", "compaction", text))
            else:
                parts += [attribute(part, record, is_subagent=self._facts.is_subagent) for part in classify(text)]
        if parts:
            is_side = self._facts.is_subagent or record.get("isSidechain") is True
            self._is_warming = is_side and [part.text for part in parts] == [WARM_UP]
        if self._is_warming:
            results = ()
        if parts and self._queued.was_reported("\n".join(texts(said))):
            prompts = [part for part in parts if part.role == "user"]
            self._place(record, is_prompt=bool(prompts))
            parts = [part for part in parts if prompts and part not in prompts]
        self._report(record, parts, results)

    def _attachment(self, record: dict[str, Any]) -> None:
        attachment = mapping(record, "attachment")
        if attachment.get("type") != "queued_command":
            return
        text = _joined(attachment.get("prompt"))
        if self._queued.was_reported(text, attached=True):
            self._place(record, is_prompt=True)
            return
        mode = string(attachment, "commandMode")
        sender = string(mapping(attachment, "origin"), "kind")
        parts = []
        for part in classify(text):
            if part.role == "user":
                part = attribute(
                    part._replace(source_type="queued_command"), record, is_subagent=self._facts.is_subagent
                )
                if sender not in ("", "human") or mode not in ("", "prompt", "bash"):
                    part = Part("system", sender if sender not in ("", "human") else mode, part.text)
            parts.append(part)
        self._report(record, parts)

    def _queue_operation(self, record: dict[str, Any]) -> None:
        text = _joined(record.get("content"))
        # Before task notifications had tags they were plain objects.
        if record.get("operation") != "enqueue" or text.startswith('{"task_id"'):
            return
        for part in classify(text):
            if part.role == "user":
                part = Part("system" if self._facts.is_subagent else "user", "queue-operation", part.text)
            self._queued.put(text, self._position[1], self._message(record, part))

    def _system(self, record: dict[str, Any]) -> None:
        subtype, text = string(record, "subtype"), string(record, "content").strip()
        if subtype == "local_command":
            self._report(record, classify(text))
        elif subtype == "away_summary" and text:
            self._report(record, [Part("system", subtype, text)])
        elif subtype == "api_error":
            error = mapping(record, "error")
            text = string(error, "message") or string(mapping(error, "error"), "message") or text
            if text:
                self._report(record, [Part("system", subtype, text)], is_error=True)

    def _last_prompt(self, record: dict[str, Any]) -> None:
        self._leaf = string(record, "leafUuid") or self._leaf

    def _old_title(self, record: dict[str, Any]) -> None:
        messages = self._notes.take("summary", record)
        leaf = string(record, "leafUuid")
        if self._segments.of(leaf) is not None:
            messages += self._notes.resolve(leaf)
        for message in messages:
            self._order.say(message)

    # -- order and segments -------------------------------------------------------------------------------

    def _report(
        self,
        record: Mapping[str, Any],
        parts: list[Part],
        results: tuple[ToolResult, ...] = (),
        *,
        is_error: bool = False,
    ) -> None:
        """Add the messages of a record: one for its tool results and one for each speaker in it."""
        typed = any(part.role == "user" or part.source_type == LOCAL_COMMAND for part in parts)
        if typed:
            self._order.close()
        self._place(record, is_prompt=typed)
        messages = []
        if results:
            messages.append(self._message(record, Part("tool", "message", ""), results))
        for part in parts:
            message = self._message(record, part)
            if messages and (messages[-1].role, messages[-1].source_type) == (part.role, part.source_type):
                messages[-1].text += f"\n\n{part.text}"
            else:
                messages.append(message)
            if part.role == "summary":
                self._summary = messages[-1].text
        for number, message in enumerate(messages):
            message.is_error = is_error
            if number and message.origin_id:
                # Each of several messages of one record needs an identity of its own.
                message.origin_id += f"#{number}"
            self._order.say(message)
        if name := new_name(parts):
            for message in self._notes.title("custom-title", name):
                self._order.say(message)

    def _message(self, record: Mapping[str, Any], part: Part, results: tuple[ToolResult, ...] = ()) -> Message:
        calls: tuple[ToolCall, ...] = ()
        if part.source_type == SHELL_INPUT:
            calls = (ToolCall(id=self._entry_id, name="Bash", arguments={"command": part.text}),)
        return Message(
            session_id=self._facts.id,
            role=part.role,
            text="" if calls else part.text,
            tool_calls=calls,
            tool_results=results,
            timestamp=timestamp(record),
            entry_id=self._entry_id or None,
            origin_id=origin(record, self._entry_id),
            source_type=part.source_type,
            segment=self._segments.current,
        )

    def _place(self, record: Mapping[str, Any], *, is_prompt: bool = False) -> int:
        """Return the segment of a record; a prompt starts one."""
        entry_id = self._entry_id
        segment = self._segments.of(entry_id)
        if segment is not None:
            return segment
        if is_prompt:
            # A prompt typed while the agent works never goes back in the tree.
            is_queued = record.get("type") == "attachment"
            self._segments.start(None if is_queued else string(record, "parentUuid"))
            self._leaf = None
        if entry_id:
            for message in self._notes.resolve(entry_id):
                self._order.say(message)
        return self._segments.add(entry_id)

    def _release(self) -> Sequence[Session | Message]:
        """Remove and return what can be yielded; the first time, the session before it."""
        ready: list[Session | Message] = []
        if self._order.ready and not self._was_introduced:
            if not self._is_known:
                self._describe()
            self._was_introduced = self._is_known = True
            ready.append(self._facts.session())
        ready += self._order.taken()
        return ready

    def _describe(self) -> None:
        """Add a subagent's task, which is in a file next to its transcript, as the first message."""
        description = self._file.description() if self._facts.is_subagent else ""
        if description:
            self._order.ready[:0] = self._notes.title("description", description)

    def _session(self) -> Session:
        session = self._facts.session()
        session.summary = self._summary
        if not self._facts.is_subagent and (place := moved_to(self._file.path, session.places)):
            session.directories += (place,)
        session.abandoned = self._segments.abandoned(self._leaf)
        return session

    def _state(self) -> dict[str, Any]:
        return {
            "is_known": self._is_known,
            "is_warming": self._is_warming,
            "facts": self._facts.state(),
            "segments": self._segments.state(),
            "leaf": self._leaf,
            "calls": self._calls.state(),
            "replies": self._replies.state(),
            "queued": self._queued.state(),
            "notes": self._notes.state(),
        }


def _joined(content: object) -> str:
    return "\n".join(texts(blocks(content)))
