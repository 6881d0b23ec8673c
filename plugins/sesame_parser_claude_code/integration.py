"""Integrates Sesame in Claude Code."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from sesame_core.config.paths import environment
from sesame_core.types.integration import Integration, OwnFile, Setting

from . import config_dir


def integration(command: Sequence[str], skill: str) -> Integration:
    """Return the MCP server in the user's scope, as `claude mcp add --scope user` would write it, and the skill."""
    # Next to the directory, unless the user chose the directory: then in it.
    settings = (config_dir() if os.environ.get("CLAUDE_CONFIG_DIR") else Path.home()) / ".claude.json"
    program, *arguments = command
    server = {"type": "stdio", "command": program, "args": [*arguments, "mcp"], "env": environment()}
    return Integration(
        parts=(
            Setting(path=settings, keys=("mcpServers", "sesame"), value=server),
            OwnFile(path=config_dir() / "skills" / "sesame" / "SKILL.md", text=skill),
        ),
        extra=("mcp", "mcp"),
    )
