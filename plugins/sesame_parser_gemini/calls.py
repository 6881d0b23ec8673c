"""The calls of a session, and which of them have a result."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from itertools import islice
from typing import Any

from .history import CARRIED


class Calls:
    """Keeps the tool and the shell command of each call.  A result is written two to three times, and counts once."""

    def __init__(self, state: Iterable[tuple[str, str, str, bool]] = ()) -> None:
        self._calls = OrderedDict((call, (name, command, done)) for call, name, command, done in state)

    def __contains__(self, call_id: str) -> bool:
        return call_id in self._calls

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, call_id: str, name: str, command: str) -> None:
        """Add a call.

        :param command: what it runs in a shell, "" for other tools.
        """
        self._calls[call_id] = (name, command, False)

    def has_result(self, call_id: str) -> bool:
        """Return whether the result of a call is known."""
        return call_id in self._calls and self._calls[call_id][2]

    def answer(self, call_id: str, name: str) -> tuple[str, str]:
        """Keep that a call has a result; return its tool and its command.

        :param name: the tool, if the call is not known.
        """
        known, command, _ = self._calls.get(call_id, (name, "", False))
        self._calls[call_id] = (known or name, command, True)
        return known or name, command

    def name(self, call_id: str) -> str:
        """Return the tool of a call; "" if it is not known."""
        return self._calls[call_id][0] if call_id in self._calls else ""

    def open_call(self, name: str) -> str:
        """Return the id of the first of the latest calls of a tool that has no result; "" if there is none.

        Saved chats have no ids of calls.
        """
        latest = list(islice(reversed(self._calls.items()), CARRIED))
        return next((call for call, about in reversed(latest) if about[0] == name and not about[2]), "") if name else ""

    def state(self) -> list[list[Any]]:
        """Return the latest calls for another `Calls`, as JSON values."""
        return [[call, *about] for call, about in list(self._calls.items())[-CARRIED:]]
