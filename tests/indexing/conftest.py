"""Benches to index on: over the index in memory, and over SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sesame_core.api.sesame import Sesame

from ..support.in_memory import in_memory
from .bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path, in_memory)
    yield made
    made.sesame.close()


@pytest.fixture
def on_sqlite(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path, lambda sources, data, plugins: Sesame(sources=sources, data_dir=data, plugins=plugins))
    yield made
    made.sesame.close()
