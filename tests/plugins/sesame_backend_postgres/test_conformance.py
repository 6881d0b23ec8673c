"""The PostgreSQL backend passes the kit that any backend must pass."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from sesame_core.testing import BackendConformance


class TestConformance(BackendConformance):
    name = "postgres"

    @pytest.fixture
    def options(self, postgres: str) -> Iterator[dict[str, Any]]:
        # A schema is made in a third of the time of a database.
        schema = f"kit_{uuid.uuid4().hex[:16]}"
        yield {"dsn": postgres, "schema": schema}
        with psycopg.connect(postgres, autocommit=True) as db:
            db.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
