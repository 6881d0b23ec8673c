"""Finds the session that the program runs in, from an agent's environment variables."""

from __future__ import annotations

import os
from collections.abc import Mapping

#: Environment variables in which agents pass their session's id to the programs that they start.
#: Claude Code sets its own for shells since 2.1.132 and for MCP servers since 2.1.154; pi for shells since 0.82; Codex
#: for shells since 0.9x, of a subagent with that of the session that started it; Copilot CLI for both since 1.0.29.
VARIABLES = (
    "CLAUDE_CODE_SESSION_ID",
    "CODEX_SESSION_ID",
    "CODEX_THREAD_ID",
    "COPILOT_AGENT_SESSION_ID",
    "PI_SESSION_ID",
)


def current_sessions(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the ids of the sessions that this program was started from: several when agents start each other.

    :param environment: environment variables; those of the process when None.
    """
    environment = os.environ if environment is None else environment
    return tuple(dict.fromkeys(value for name in VARIABLES if (value := environment.get(name))))
