"""Integrates Sesame in Copilot CLI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sesame_core.config.paths import environment
from sesame_core.types.integration import Integration, OwnFile, Setting

from . import copilot_home


def integration(command: Sequence[str], skill: str) -> Integration:
    """Return the MCP server in the user's configuration, as `copilot mcp add` would write it, and the skill."""
    home = copilot_home()
    program, *arguments = command
    server: dict[str, Any] = {"tools": ["*"], "type": "local", "command": program, "args": [*arguments, "mcp"]}
    if env := environment():
        server["env"] = env
    return Integration(
        parts=(
            Setting(path=home / "mcp-config.json", keys=("mcpServers", "sesame"), value=server),
            OwnFile(path=home / "skills" / "sesame" / "SKILL.md", text=skill),
        ),
        extra=("mcp", "mcp"),
    )
