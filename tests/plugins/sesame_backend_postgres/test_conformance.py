"""The PostgreSQL backend passes the kit that any backend must pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sesame_core.testing import BackendConformance

from ...support.postgres_server import a_database


class TestConformance(BackendConformance):
    name = "postgres"

    @pytest.fixture
    def options(self, postgres: str, prepared: str) -> Iterator[dict[str, Any]]:
        with a_database(postgres, prepared) as dsn:
            yield {"dsn": dsn}
