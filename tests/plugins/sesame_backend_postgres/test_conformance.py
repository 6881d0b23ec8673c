"""The PostgreSQL backend passes the kit that any backend must pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sesame_core.testing import BackendConformance

from .schemas import a_schema


class TestConformance(BackendConformance):
    name = "postgres"

    @pytest.fixture
    def options(self, postgres: str) -> Iterator[dict[str, Any]]:
        with a_schema(postgres) as options:
            yield options
