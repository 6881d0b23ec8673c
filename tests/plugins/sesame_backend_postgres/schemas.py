"""Schemas of a test's own, in a database that other tests use too: made in a third of the time of a database."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import psycopg

from sesame_core.plugin.backend import StorageBackend
from sesame_core.plugin.manager import PluginManager


@contextmanager
def a_schema(postgres: str) -> Iterator[dict[str, Any]]:
    """Yield the options of a backend whose index is in a new schema; drop the schema."""
    schema = f"kit_{uuid.uuid4().hex[:16]}"
    try:
        yield {"dsn": postgres, "schema": schema}
    finally:
        with psycopg.connect(postgres, autocommit=True) as db:
            db.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")  # type: ignore[arg-type]


@contextmanager
def a_backend(postgres: str) -> Iterator[StorageBackend]:
    """Yield a backend whose index is in a new schema; drop the schema."""
    with a_schema(postgres) as options, closing(PluginManager().backend("postgres", options)) as backend:
        yield backend
