"""A machine that has sent nothing yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from sesame_core.config import paths

from .test_team_database import ONE, THREE, TWO, configure, session


@pytest.fixture
def team(home: Path, empty_database: str) -> str:
    """A machine that is configured for a server, has three projects, and has sent nothing."""
    configure(empty_database)
    (paths.data_dir() / "audiences.json").unlink()
    session(ONE, "/home/bo/diary")
    session(TWO, "/home/bo/client", suffix="x")
    session(THREE, "/home/bo/work", suffix="y")
    return empty_database
