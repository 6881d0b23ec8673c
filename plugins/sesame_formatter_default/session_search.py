"""Recognises tools that search sessions, ours and others: their results are the text of other sessions."""

from __future__ import annotations

import functools
import re

#: Tool names, in lower case, without the name of the server: `mcp__<server>__`, `mcp_<server>_`, `<server>__`,
#: `<server>-`, `sesame_`.
SEARCH_TOOLS = frozenset(
    {
        "find_sessions",
        "get_session",
        "list_messages",
        "list_sessions",
        "query_session",
        "read_session",
        "search_sessions",
        "sesame_search",
        "session_store_sql",
    }
)

#: Type of an entry with passages of other sessions that a prompt refers to.
REFERENCE = "sesame-reference"

#: `sesame` as the first word of a command line or of a part of one, after variables, with any path.
_RUNS_SESAME = re.compile(
    r"(?:^|[;&|(\n])[ \t]*"
    r"(?:\w+=[^\s;&|]*[ \t]+)*"
    r"(?:[^\s;&|]*[/\\])?sesame(?:\.exe)?(?=[\s;&|)]|$)"
)


@functools.lru_cache
def is_session_search(name: str) -> bool:
    """Return whether a tool with this name searches or reads sessions."""
    name = name.lower()
    if name.startswith("mcp_") and not name.startswith("mcp__"):
        # The name of the server may contain the separator.
        return name.endswith(tuple(f"_{tool}" for tool in SEARCH_TOOLS))
    name = name.split("__", 2 if name.startswith("mcp__") else 1)[-1]
    name = name.rpartition("-")[2]
    return name in SEARCH_TOOLS or name.removeprefix("sesame_") in SEARCH_TOOLS


def runs_session_search(command: str) -> bool:
    """Return whether a shell command runs `sesame`."""
    return "sesame" in command and _RUNS_SESAME.search(command) is not None
