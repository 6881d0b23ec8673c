"""The plugin for Claude Code says the same as `sesame integrate`, as far as both say it."""

from __future__ import annotations

import json
from pathlib import Path

import sesame_core
import sesame_parser_claude_code
from sesame_core import Setting
from sesame_core.integration.install import skill
from sesame_parser_claude_code.integration import integration

REPOSITORY = Path(__file__).resolve().parents[2]
PLUGIN = Path(sesame_parser_claude_code.__file__).with_name("plugin")


def test_its_skill_is_the_one_skill() -> None:
    assert (PLUGIN / "skills" / "sesame" / "SKILL.md").read_text(encoding="utf-8") == skill()


def test_its_server_is_that_of_integrate() -> None:
    (setting,) = (part for part in integration(["sesame"], "").parts if isinstance(part, Setting))
    (server,) = json.loads((PLUGIN / ".mcp.json").read_bytes())["mcpServers"].values()
    assert {**server, "env": {}} == setting.value


def test_its_version_is_that_of_sesame_and_the_marketplace_leads_to_it() -> None:
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_bytes())
    assert manifest["version"] == sesame_core.__version__
    (listed,) = json.loads((REPOSITORY / ".claude-plugin" / "marketplace.json").read_bytes())["plugins"]
    assert listed["name"] == manifest["name"] == "sesame"
    assert (REPOSITORY / listed["source"]).resolve() == PLUGIN.resolve()
