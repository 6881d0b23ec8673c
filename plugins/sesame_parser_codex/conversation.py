"""Converts what was said: prompts, answers, summaries, titles, each once although the file has them twice.

The model's records (`response_item`) have every text, the events (`event_msg`) what a person sees.  An answer is taken
from whichever comes first; `prompts` says which prompts are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from sesame_core import Message, Session
from sesame_core.types.transcript import Role

from .headers import visit
from .injected import is_injected, prompt, user_shell
from .outputs import error_message
from .prompts import Prompts
from .tools import OUTPUTS, ToolRecords
from .turns import Turns
from .twins import Twins
from .values import digest, mapping, objects, string, texts

#: What Codex writes before the summary of a compaction.
_LEAD_IN = re.compile(r"\AAnother language model started to solve this problem\b.*?\banalysis:\s*", re.DOTALL)
#: Records that say nothing and may come between a text and its twin.
_QUIET = frozenset({"token_count", "context_compacted", "task_started", "ContextCompaction"})

_Handler = Callable[["Conversation", Mapping[str, Any]], list[Message]]


class Conversation:
    """Converts the records of one thread; `state` is everything that it needs to resume.

    :param session: the session, whose id and kind the messages have.
    :param thinking: yield the summaries of the agent's reasoning.
    """

    def __init__(self, session: Session, *, thinking: bool = False, state: Mapping[str, Any] | None = None) -> None:
        self._session = session
        self._thinking = thinking
        self.turns = Turns.restore(state["turns"]) if state else Turns()
        self._tools = ToolRecords(self._make, partial(visit, session), state["tools"] if state else None)
        self._twins = Twins(state["twins"] if state else None)
        self.prompts = Prompts(session, self.turns, self._twins, self._make, state)
        #: An answer that may turn out to be a summary.
        self._held: Message | None = None
        self._time: datetime | None = None

    def read(self, kind: str, payload: Mapping[str, Any], time: datetime | None) -> list[Message]:
        """Return the messages of a record: one, several, or none."""
        self._time = time
        event = string(payload, "type")
        if event == "item_completed":
            payload = mapping(payload, "item")
            kind, event = "item", string(payload, "type")
        if kind == "compacted":
            return self._compacted(payload)
        if event in _QUIET:
            return []
        handler = _HANDLERS.get((kind, event))
        if handler is not None:
            return [*self._release(), *handler(self, payload)]
        if not self._tools.knows(kind, event):
            return []
        before = [*self._release(), *self.prompts.before_answer()]
        messages = self._tools.read(kind, event, payload)
        for message in messages:
            if message.role == "assistant":
                message.is_new, self.prompts.is_answered = not self.prompts.is_answered, True
        if event in OUTPUTS:
            self.prompts.is_answered = False
        return [*before, *messages]

    def flush(self) -> list[Message]:
        """Return what waited for other records."""
        return [*self.prompts.unseen(), *self._release()]

    def title(self, name: str, time: datetime | None = None) -> Message:
        """Return the message of a name that was given to the session."""
        self._time = time
        return self._make("metadata", name, source_type="title")

    def _model_message(self, item: Mapping[str, Any]) -> list[Message]:
        role = string(item, "role")
        if role == "assistant":
            return self._answer("\n".join(texts(item.get("content"))), "item", string(item, "id"))
        if role != "user":
            return []
        messages = []
        for text in texts(item.get("content")):
            if shell := user_shell(text):
                messages += self._tools.user_shell(*shell)
            elif not is_injected(text) and (typed := prompt(text)):
                self.prompts.wait(typed, string(item, "id"))
        return messages

    # -- answers ------------------------------------------------------------------------------------------

    def _answer(self, text: str, source: str, id: str = "") -> list[Message]:
        text = text.strip()
        before = self.prompts.before_answer()
        if not text or self._twins.is_second("assistant", text, source):
            return before
        message = self._make("assistant", text, id=id)
        message.is_new, self.prompts.is_answered = not self.prompts.is_answered, True
        if source == "item":
            # The summary of a compaction is first an answer that no event shows.
            self._held = message
            return before
        return [*before, message]

    def _agent_event(self, event: Mapping[str, Any]) -> list[Message]:
        return self._answer(string(event, "message"), "event")

    def _agent_item(self, item: Mapping[str, Any]) -> list[Message]:
        return self._answer("\n".join(texts(item.get("content"))), "shown", string(item, "id"))

    def _plan_item(self, item: Mapping[str, Any]) -> list[Message]:
        return self._answer(string(item, "text"), "plan")

    def _review(self, event: Mapping[str, Any]) -> list[Message]:
        review = mapping(event, "review_output")
        lines = [string(review, "overall_explanation") or string(event, "review")]
        for finding in objects(review, "findings"):
            place = mapping(finding, "code_location")
            start = mapping(place, "line_range").get("start")
            where = string(place, "absolute_file_path") + (f":{start}" if isinstance(start, int) else "")
            lines += [string(finding, "title"), where, string(finding, "body")]
        return self._answer("\n".join(filter(None, lines)), "review")

    def _reasoning(self, item: Mapping[str, Any]) -> list[Message]:
        text = "\n".join(texts(item.get("summary"))).strip()
        if not self._thinking or not text or self._twins.is_second("thinking", text, "item"):
            return []
        return [self._make("assistant", text, source_type="thinking", id=string(item, "id"), is_new=False)]

    def _from_agent(self, item: Mapping[str, Any]) -> list[Message]:
        text = "\n".join(texts(item.get("content"))).strip()
        return [self._make("system", text, source_type="agent_message", id=string(item, "id"))] if text else []

    def _release(self) -> list[Message]:
        message, self._held = self._held, None
        return [] if message is None else [message]

    # -- turns --------------------------------------------------------------------------------------------

    def _compacted(self, payload: Mapping[str, Any]) -> list[Message]:
        text = string(payload, "message").strip()
        summary = _LEAD_IN.sub("", text)
        if self._held is not None and self._held.text in text:
            self._held = None
        messages = [*self._release(), *self.prompts.unseen()]
        if not self.prompts.were_any:
            # Some files of the desktop program have prompts nowhere else.
            for item in objects(payload, "replacement_history"):
                if string(item, "role") == "user":
                    messages += self._model_message(item)
            messages += self.prompts.unseen()
        if summary:
            messages.append(self._make("summary", summary, source_type="compaction"))
        return [message for message in messages if message.text != text or message.role != "user"]

    def _ended(self, event: Mapping[str, Any]) -> list[Message]:
        error = mapping(event, "error")
        return [*self.prompts.unseen(), *self._failed(string(error, "message"))]

    def _error(self, event: Mapping[str, Any]) -> list[Message]:
        text = string(event, "message") or string(mapping(event, "error"), "message")
        return [*self.prompts.unseen(), *self._failed(text)]

    def _failed(self, text: str) -> list[Message]:
        text = error_message(text.strip())
        if not text or self._twins.has("error", text):
            return []
        self._twins.is_second("error", text, "event")
        return [self._make("system", text, source_type="error", is_error=True)]

    def _rewound(self, event: Mapping[str, Any]) -> list[Message]:
        count = event.get("num_turns")
        before = self.prompts.unseen()
        self.turns.rewind(count if isinstance(count, int) else 0)
        return before

    def _make(self, role: Role, text: str, *, id: str = "", **more: Any) -> Message:
        return Message(
            session_id=self._session.id,
            role=role,
            text=text,
            timestamp=self._time,
            entry_id=id or None,
            # A provider may use one id for everything.
            origin_id=f"{id}:{digest(text)}" if id else None,
            segment=self.turns.current,
            **more,
        )

    # -- resuming -----------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the state from which a new conversation resumes, as JSON values."""
        return {
            "turns": self.turns.state(),
            "tools": self._tools.state(),
            "twins": self._twins.state(),
            **self.prompts.state(),
        }


_HANDLERS: dict[tuple[str, str], _Handler] = {
    ("response_item", "message"): Conversation._model_message,
    ("response_item", "reasoning"): Conversation._reasoning,
    ("response_item", "agent_message"): Conversation._from_agent,
    ("event_msg", "user_message"): lambda talk, event: talk.prompts.event(event),
    ("event_msg", "agent_message"): Conversation._agent_event,
    ("event_msg", "task_complete"): Conversation._ended,
    ("event_msg", "turn_aborted"): Conversation._ended,
    ("event_msg", "thread_rolled_back"): Conversation._rewound,
    ("event_msg", "error"): Conversation._error,
    ("event_msg", "stream_error"): Conversation._error,
    ("event_msg", "thread_goal_updated"): lambda talk, event: talk.prompts.goal(event),
    ("event_msg", "entered_review_mode"): lambda talk, event: talk.prompts.review(event),
    ("event_msg", "exited_review_mode"): Conversation._review,
    ("item", "UserMessage"): lambda talk, item: talk.prompts.item(item),
    ("item", "AgentMessage"): Conversation._agent_item,
    ("item", "Plan"): Conversation._plan_item,
    ("item", "EnteredReviewMode"): lambda talk, event: talk.prompts.review(event),
    ("item", "ExitedReviewMode"): Conversation._review,
}
