"""Which session the program runs in, when an agent's own environment tells."""

from __future__ import annotations

import os
from collections.abc import Mapping

#: Environment variables in which agents tell the programs they start which session they are in.
#: Claude Code sets its own for shells since 2.1.132 and for MCP servers since 2.1.154; pi for shells since 0.82.
VARIABLES = ("CLAUDE_CODE_SESSION_ID", "PI_SESSION_ID")


def current_sessions(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the ids of the sessions this program was started from: more than one when agents start each other.

    :param environment: the process's own when None.
    """
    environment = os.environ if environment is None else environment
    return tuple(dict.fromkeys(value for name in VARIABLES if (value := environment.get(name))))
