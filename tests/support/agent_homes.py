"""Where the bundled agents keep sessions in a home."""

from __future__ import annotations

#: The directory of each agent, in the order of the sources.
ROOTS = {
    "claude-code": ".claude/projects",
    "codex": ".codex/sessions",
    "copilot": ".copilot/session-state",
    "gemini": ".gemini/tmp",
    "opencode": ".local/share/opencode",
    "pi": ".pi/agent/sessions",
}
