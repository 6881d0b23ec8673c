"""Finds the session that the program runs in, from an agent's environment variables."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..plugin.parser import Parser

#: Environment variables in which agents pass their session's id to the programs that they start.
#: Claude Code sets its own for shells since 2.1.132 and for MCP servers since 2.1.154; pi for shells since 0.82; Codex
#: for shells (seen with 0.171.0), of a subagent with that of the session that started it; Copilot CLI for both since
#: 1.0.29.
VARIABLES = (
    "CLAUDE_CODE_SESSION_ID",
    "CODEX_SESSION_ID",
    "CODEX_THREAD_ID",
    "COPILOT_AGENT_SESSION_ID",
    "PI_SESSION_ID",
)
#: Those by which agents that pass no id show that they have started a program; then their parsers are asked
#: (`plugin.parser.Calling`), which a search that no agent has started does not even load.
SIGNS = ("GEMINI_CLI", "OPENCODE")
#: Fields of the `_meta` of a call of the Model Context Protocol that have the caller's session: Codex passes servers no
#: variable, but the id of the thread that calls, and that of the session which started it if that is a subagent's.
FIELDS = ("threadId", "sessionId")


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
