"""Follows the prompts of a thread: a person's as events show them, in a file that has any, else the model's.

The model's records have a prompt among what Codex adds to it; the events have what a person sees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sesame_core import Message, Session

from .injected import prompt
from .turns import Turns
from .twins import Twins
from .values import digest, mapping, string, texts

#: Source type of what another agent asked a subagent.
SIDECHAIN = "sidechain"
#: Most prompts that wait for their event.
WAITING = 16


class Prompts:
    """The prompts of one thread, each of which starts a turn.

    :param make: makes a message of a role and a text.
    :param state: a state that `state` returned, perhaps with values of others.
    """

    def __init__(
        self,
        session: Session,
        turns: Turns,
        twins: Twins,
        make: Callable[..., Message],
        state: Mapping[str, Any] | None = None,
    ) -> None:
        self._session = session
        self._turns = turns
        self._twins = twins
        self._make = make
        #: Whether an event has shown a prompt, and whether there was any prompt.
        self._has_events = bool(state and state["has_events"])
        self.were_any = bool(state and state["was_prompted"])
        #: Whether the last prompt has no answer yet.
        self._is_prompting = bool(state and state["is_prompting"])
        #: Whether the answer to a prompt, or to outputs of tools, has begun: its calls are no messages of their own.
        self.is_answered = bool(state and state["is_answering"])
        self._goal: str = state["goal"] if state else ""
        #: Prompts as the model sees them, until an event shows them.
        self._waiting: list[Message] = []

    def wait(self, text: str, id: str) -> None:
        """Add a prompt of the model's records, which waits for an event that shows it."""
        if len(self._waiting) < WAITING:
            self._waiting.append(self._make("user", text, id=id))

    def event(self, event: Mapping[str, Any]) -> list[Message]:
        """Return the message of an event that shows a prompt."""
        if string(event, "kind") not in ("", "plain"):
            return []  # versions up to 0.36 show context like a prompt
        return self._shown(string(event, "message"), "event")

    def item(self, item: Mapping[str, Any]) -> list[Message]:
        """Return the message of an item that shows a prompt."""
        return self._shown("\n".join(texts(item.get("content"))), "shown", string(item, "id"))

    def goal(self, event: Mapping[str, Any]) -> list[Message]:
        """Return the message of a goal that was set, unless it is the present one."""
        objective = string(mapping(event, "goal"), "objective").strip()
        known, self._goal = self._goal, digest(objective)
        if not objective or known == self._goal:
            return []
        return [self._prompted(self._make("user", f"/goal {objective}", source_type="command"))]

    def review(self, event: Mapping[str, Any]) -> list[Message]:
        """Return the message of a review that was asked for."""
        hint = string(event, "user_facing_hint") or string(event, "review")
        return [self._prompted(self._make("user", f"/review {hint}".rstrip(), source_type="command"))]

    def unseen(self) -> list[Message]:
        """Return the prompts that no event shows, if the file has no such events."""
        waiting, self._waiting = self._waiting, []
        if self._has_events:
            return []
        return [self._prompted(message) for message in waiting if not self._is_second(message)]

    def before_answer(self) -> list[Message]:
        """Return the prompts before an answer; the same words later are another prompt."""
        before = self.unseen()
        if self._is_prompting:
            self._is_prompting = False
            self._twins.forget("user")
        return before

    def state(self) -> dict[str, Any]:
        """Return the state from which new prompts resume, as JSON values; no prompt may be waiting."""
        return {
            "has_events": self._has_events,
            "was_prompted": self.were_any,
            "is_prompting": self._is_prompting,
            "is_answering": self.is_answered,
            "goal": self._goal,
        }

    def _shown(self, text: str, source: str, id: str = "") -> list[Message]:
        """Return the message of a prompt that an event shows; the waiting ones are it, and context."""
        self._has_events = True
        self._waiting.clear()
        typed = prompt(text)
        if not typed or self._twins.is_second("user", typed, source):
            return []
        return [self._prompted(self._make("user", typed, id=id))]

    def _is_second(self, message: Message) -> bool:
        return self._twins.is_second("user", message.text, "item")

    def _prompted(self, message: Message) -> Message:
        self._turns.start()
        message.segment = self._turns.current
        if self._session.kind == "subagent":
            message.role, message.source_type = "system", SIDECHAIN
        self._twins.forget("assistant")
        self._is_prompting = True
        self.were_any, self.is_answered = True, False
        return message
