"""Reassembles API messages, which Claude Code writes as one line per content block."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any

from sesame_core.types.transcript import Message, Role, ToolCall, ToolResult

from .records import blocks, digest, mapping, origin, result_text, string, timestamp

#: Most yielded replies that are stored, in case another of their lines follows.
REMEMBERED = 16
#: Most of them in a checkpoint, and most blocks of each.
CARRIED = 4
CARRIED_BLOCKS = 64
#: Source type of the answer to a warm-up.
WARM_UP_ANSWER = "warmup"


def reply_key(record: Mapping[str, Any], message: Mapping[str, Any]) -> str:
    """Return the key that the lines of one API message share; "" when they have none."""
    name = string(message, "id")
    return f"{name} {string(record, 'requestId')}" if name else ""


class Reply:
    """One API message, as far as its lines are read.

    :param record: the first line's record.
    :param entry_id: its uuid, "" when it has none.
    :param model: the model in the record.
    :param known: the digests of the blocks that were yielded before; None when the reply is new.
    """

    def __init__(
        self,
        record: Mapping[str, Any],
        key: str,
        *,
        entry_id: str,
        model: str,
        segment: int,
        known: Iterable[str] | None,
    ) -> None:
        self.key = key
        self._known = frozenset(known or ())
        self._is_new = known is None
        self._segment = segment
        self._timestamp = timestamp(record)
        self._entry_id = entry_id or None
        self._origin_id = origin(record, entry_id)
        self._role: Role = "assistant"
        self._source_type = "message"
        self._is_error = record.get("isApiErrorMessage") is True
        if self._is_error or model == "<synthetic>":
            self._role, self._source_type = "system", "api_error" if self._is_error else "synthetic"
        elif record.get("isSidechain") is True:
            self._source_type = "sidechain"
        self._texts: list[str] = []
        self._calls: dict[str, ToolCall] = {}
        self._results: dict[str, ToolResult] = {}

    def warm_up(self) -> None:
        """Mark it as the answer to a warm-up, which no one asked for; its calls do not count as work."""
        self._role, self._source_type = "system", WARM_UP_ANSWER

    def add(self, content: object, *, thinking: bool) -> list[ToolCall]:
        """Add the content of one line; return its new tool calls."""
        calls = []
        for block in blocks(content):
            kind = block["type"]
            if kind == "text":
                self._add_text(string(block, "text").strip())
            elif kind == "thinking":
                if thinking:
                    self._add_text(string(block, "thinking").strip())
            elif kind in ("tool_use", "server_tool_use"):
                call = _call(block)
                is_known = bool(self._known) and digest(call.id) in self._known
                if not is_known and (not call.id or call.id not in self._calls):
                    self._calls[call.id or f"{len(self._calls)}"] = call
                    calls.append(call)
            elif isinstance(kind, str) and kind.endswith("_tool_result"):
                self._add_result(block)
        return calls

    def message(self, session_id: str) -> Message | None:
        """Return the message; None when it has no content (yet), or none that is new."""
        if self._source_type == WARM_UP_ANSWER:
            self._calls, self._results = {}, {}
        if not (self._texts or self._calls or self._results):
            return None
        return Message(
            session_id=session_id,
            role=self._role,
            text="\n\n".join(self._texts),
            tool_calls=tuple(self._calls.values()),
            tool_results=tuple(self._results.values()),
            timestamp=self._timestamp,
            entry_id=self._entry_id,
            origin_id=self._origin_id,
            source_type=self._source_type,
            is_error=self._is_error,
            segment=self._segment,
            is_new=self._is_new,
        )

    def digests(self) -> list[str]:
        """Return the digests of all blocks that were added."""
        return [
            *self._known,
            *map(digest, self._texts),
            *map(digest, self._calls),
            *(_result_digest(name) for name in self._results),
        ]

    def _add_text(self, text: str) -> None:
        if not text:
            return
        # Streaming snapshots of a block share their beginning: the longest is the block.
        for i, other in enumerate(self._texts):
            if other.startswith(text):
                return
            if text.startswith(other):
                self._texts[i] = text
                return
        if not self._known or digest(text) not in self._known:
            self._texts.append(text)

    def _add_result(self, block: Mapping[str, Any]) -> None:
        call_id = string(block, "tool_use_id")
        if self._known and _result_digest(call_id) in self._known:
            return
        call = self._calls.get(call_id)
        content = block.get("content")
        self._results[call_id] = ToolResult(
            call_id=call_id,
            name=call.name if call else string(block, "type").removesuffix("_tool_result"),
            text=result_text(content),
            is_error=block.get("is_error") is True or "error_code" in mapping(block, "content"),
        )


class Replies:
    """The recently yielded replies, by key; of those before a checkpoint, the digests of their blocks."""

    def __init__(self, state: Iterable[tuple[str, list[str]]] = ()) -> None:
        self._known: OrderedDict[str, Reply | list[str]] = OrderedDict(state)

    def known(self, key: str) -> list[str] | None:
        """Return the digests of this reply's blocks that were yielded before; None when none was."""
        reply = self._known.get(key)
        return None if reply is None else _names(reply)

    def remember(self, reply: Reply) -> None:
        """Store a reply that was yielded."""
        if reply.key:
            self._known[reply.key] = reply
            self._known.move_to_end(reply.key)
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)

    def state(self) -> list[tuple[str, list[str]]]:
        """Return the state from which a new tracker resumes, as JSON values."""
        return [(key, _names(reply)[-CARRIED_BLOCKS:]) for key, reply in list(self._known.items())[-CARRIED:]]


def _names(reply: Reply | list[str]) -> list[str]:
    # Computing digests takes as long as the rest of a reply, and hardly any reply continues after it was yielded.
    return reply.digests() if isinstance(reply, Reply) else reply


def _call(block: Mapping[str, Any]) -> ToolCall:
    given = block.get("input")
    arguments = given if isinstance(given, dict) else {} if given is None else {"input": given}
    return ToolCall(id=string(block, "id"), name=string(block, "name"), arguments=arguments)


def _result_digest(call_id: str) -> str:
    return digest(f"result {call_id}")
