"""One server for the pages of the demo sessions."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import httpx2

    from ..support.web_client import Served

#: The extra `web`, and the client of the tests.
NEEDED = ("starlette", "uvicorn", "jinja2", "httpx2")
if any(find_spec(name) is None for name in NEEDED):
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def server(indexed_sessions: Path) -> Iterator[Served]:
    from ..support.web_client import served

    with served() as running:
        yield running


@pytest.fixture
def visitor(server: Served) -> Iterator[httpx2.Client]:
    with server.visitor() as client:
        yield client
