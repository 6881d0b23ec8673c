"""Integrates Sesame in Codex."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sesame_core.config.paths import environment
from sesame_core.types.integration import Integration, OwnFile, Setting

from . import codex_home


def integration(command: Sequence[str], skill: str) -> Integration:
    """Return the MCP server in the user's configuration, as `codex mcp add` would write it, and the skill."""
    home = codex_home()
    program, *arguments = command
    server: dict[str, Any] = {"command": program, "args": [*arguments, "mcp"]}
    if env := environment():
        server["env"] = env
    return Integration(
        parts=(
            Setting(path=home / "config.toml", keys=("mcp_servers", "sesame"), value=server),
            OwnFile(path=home / "skills" / "sesame" / "SKILL.md", text=skill),
        ),
        extra=("mcp", "mcp"),
    )
