"""Times that PostgreSQL has and Python has not: "infinity", and years before 1 and after 9999."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg.types.datetime import TimestamptzLoader

#: In place of earlier and later times; a day from Python's own, so that each time zone can show them.
FIRST, LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)


class _Nearest(TimestamptzLoader):
    """Loads a time, or the nearest one that Python has."""

    def load(self, data: Any) -> datetime:
        try:
            return super().load(data)
        except psycopg.DataError:
            return FIRST if bytes(data).startswith(b"-") or bytes(data).endswith(b"BC") else LAST


def accept_all(db: psycopg.Connection[Any]) -> None:
    """Have a connection load every time: slower, so only after one that could not be loaded."""
    db.adapters.register_loader("timestamptz", _Nearest)
