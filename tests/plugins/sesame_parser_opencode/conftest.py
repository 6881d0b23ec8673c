"""Fixtures of OpenCode's layouts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .making import LAYOUTS, Layout, NewDatabase, OldDatabase


@pytest.fixture(params=LAYOUTS)
def layout(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Layout]:
    """Each layout."""
    made = LAYOUTS[request.param](tmp_path)
    yield made
    made.close()


@pytest.fixture
def old(tmp_path: Path) -> Iterator[OldDatabase]:
    """A database of 1.18."""
    made = OldDatabase(tmp_path)
    yield made
    made.close()


@pytest.fixture
def new(tmp_path: Path) -> Iterator[NewDatabase]:
    """A database of 2."""
    made = NewDatabase(tmp_path)
    yield made
    made.close()
