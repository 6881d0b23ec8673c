"""The command line on both backends."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(params=["sqlite", "postgres"])
def backend(request: pytest.FixtureRequest, home: Path) -> str:
    """Each test runs on both backends, unless it is about SQLite's files or about having no configuration."""
    name: str = request.param
    if name == "postgres":
        if request.node.get_closest_marker("sqlite_only"):
            pytest.skip("it is about SQLite's files, or about having no configuration")
        file = home / ".config" / "sesame" / "config.jsonc"
        file.parent.mkdir(parents=True)
        options = {"dsn": request.getfixturevalue("database")}
        file.write_text(json.dumps({"backend": {"name": "postgres", "options": options}, "refreshSeconds": 30}))
    return name


@pytest.fixture
def indexed(demo_sessions: Path, cli: Callable[..., Any]) -> Path:
    """The demo sessions, indexed."""
    assert cli("index").code == 0
    return demo_sessions
