"""Integrates Sesame in OpenCode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sesame_core.config.paths import environment
from sesame_core.types.integration import Integration, OwnFile, Setting

from . import config_dir, config_file


def integration(command: Sequence[str], skill: str) -> Integration:
    """Return the MCP server in the user's configuration, and the skill."""
    server: dict[str, Any] = {"type": "local", "command": [*command, "mcp"], "enabled": True}
    if env := environment():
        server["environment"] = env
    return Integration(
        parts=(
            Setting(path=config_file(), keys=("mcp", "sesame"), value=server, has_comments=True),
            OwnFile(path=config_dir() / "skills" / "sesame" / "SKILL.md", text=skill),
        ),
        extra=("mcp", "mcp"),
    )
