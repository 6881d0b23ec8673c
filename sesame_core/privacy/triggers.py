"""Where the triggers of all detectors are in a text: at each of them, one detector looks for its secret."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from ..errors import ConfigError

#: The number of a trigger, and its start and end in the text.
Place: TypeAlias = tuple[int, int, int]


def finder(triggers: Sequence[bytes], *, is_slow_enough: bool = False) -> Callable[[bytes], list[Place]]:
    """Return a function that finds triggers in a text, by their ends, also those that overlap.

    :param is_slow_enough: without the extra `redact`, look for one trigger after the other.
    :raises ConfigError: the extra is not installed.
    """
    try:
        from ahocorasick_rs import BytesAhoCorasick, Implementation
    except ImportError as error:
        if is_slow_enough:
            return partial(_found, triggers)
        from ..installation import adding

        raise ConfigError(
            f"finding secrets needs ahocorasick_rs, which is not installed: {adding('redact')}"
        ) from error
    # The other implementations take twice the time.
    automaton = BytesAhoCorasick(triggers, implementation=Implementation.DFA)
    return partial(automaton.find_matches_as_indexes, overlapping=True)


def _found(triggers: Sequence[bytes], text: bytes) -> list[Place]:
    found: list[Place] = []
    for number, trigger in enumerate(triggers):
        at = text.find(trigger)
        while at >= 0:
            found.append((number, at, at + len(trigger)))
            at = text.find(trigger, at + 1)
    return sorted(found, key=lambda place: (place[2], place[1]))
