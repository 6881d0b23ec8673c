"""One server for the pages of the demo sessions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")

import httpx2

from ..support.web_client import Served, served


@pytest.fixture
def server(indexed_sessions: Path) -> Iterator[Served]:
    with served() as running:
        yield running


@pytest.fixture
def visitor(server: Served) -> Iterator[httpx2.Client]:
    with server.visitor() as client:
        yield client
