"""Integrates Sesame in Gemini CLI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sesame_core.config.paths import environment
from sesame_core.types.integration import Integration, OwnFile, Setting

from . import own_dir, settings_file


def integration(command: Sequence[str], skill: str) -> Integration:
    """Return the MCP server in the user's scope, as `gemini mcp add --scope user` would write it, and the skill."""
    program, *arguments = command
    server: dict[str, Any] = {"command": program, "args": [*arguments, "mcp"]}
    if env := environment():
        server["env"] = env
    return Integration(
        parts=(
            Setting(path=settings_file(), keys=("mcpServers", "sesame"), value=server, has_comments=True),
            OwnFile(path=own_dir() / "skills" / "sesame" / "SKILL.md", text=skill),
        ),
        extra=("mcp", "mcp"),
    )
