"""The PostgreSQL backend passes the kit that any backend must pass."""

from __future__ import annotations

from typing import Any

import pytest

from sesame_core.testing import BackendConformance


class TestConformance(BackendConformance):
    name = "postgres"

    @pytest.fixture
    def options(self, database: str) -> dict[str, Any]:
        return {"dsn": database}
