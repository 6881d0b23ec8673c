"""Finds the session that the program runs in, from an agent's environment variables."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from ..plugin.agents import FIELDS, SIGNS, VARIABLES

if TYPE_CHECKING:
    from ..plugin.parser import Parser

#: What else starts programs for an agent sets this one, such as an extension of it.
FOR_AGENT = "SESAME_FOR_AGENT"


def is_for_agent() -> bool:
    """Return whether an agent has started this program, so that a language model reads what it prints."""
    return any(map(os.environ.get, (FOR_AGENT, *VARIABLES, *SIGNS)))


def named_sessions(meta: Mapping[str, object] | None) -> tuple[str, ...]:
    """Return the ids of the caller's sessions that the `_meta` of its call names; () when it names none."""
    found = [meta.get(name) for name in FIELDS] if meta else []
    return tuple(dict.fromkeys(id for id in found if isinstance(id, str) and id))


def current_sessions(
    parsers: Callable[[], Iterable[Parser]] = tuple,
    environment: Mapping[str, str] | None = None,
    directory: str | None = None,
) -> tuple[str, ...]:
    """Return the ids of the sessions that this program was started from: several when agents start each other.

    :param parsers: returns the parsers of agents that may pass no id; called when one of `SIGNS` is set.
    :param environment, directory: those of the process when None.
    """
    environment = os.environ if environment is None else environment
    found: list[str | None] = [environment.get(name) for name in VARIABLES]
    for parser in parsers() if any(map(environment.get, SIGNS)) else ():
        # Of a `plugin.parser.Calling`; `isinstance` loads `inspect` for it on Python 3.12.
        asked: Callable[[Mapping[str, str], str], str | None] | None = getattr(parser, "current_session", None)
        try:
            found += [asked(environment, directory or os.getcwd())] if asked else []
        except Exception as error:  # noqa: BLE001 - a search that does not know its caller is better than none
            import logging

            logging.getLogger(__name__).warning("a parser failed to find the calling session: %r", error)
    return tuple(dict.fromkeys(filter(None, found)))
