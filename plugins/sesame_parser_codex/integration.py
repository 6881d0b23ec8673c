"""Integrates Sesame in Codex."""

from __future__ import annotations

from collections.abc import Sequence

from sesame_core.types.integration import Integration, OwnFile

from . import codex_home


def integration(command: Sequence[str], skill: str) -> Integration:
    """Return the skill, which teaches the command line.

    The settings of Codex are TOML, in which `Integration` cannot set a value: the MCP server is added with
    `codex mcp add`.
    """
    return Integration(parts=(OwnFile(path=codex_home() / "skills" / "sesame" / "SKILL.md", text=skill),))
