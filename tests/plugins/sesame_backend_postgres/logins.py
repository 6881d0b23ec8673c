"""Roles of a test's own, made by the statements of the guide."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from ...support.pages import block_with

#: Lines of the guide that make the roles.
GUIDE = Path(__file__).resolve().parents[3] / "docs" / "team.md"


@contextmanager
def logins(database: str) -> Iterator[Callable[[str], str]]:
    """Yield what makes a login of one of the roles, by its name: `login("writer")` returns a dsn; drop them all."""
    made: list[str] = []
    statements = block_with(GUIDE, "CREATE ROLE sesame_reader")
    suffix = uuid.uuid4().hex[:8]
    # Roles belong to the server, which other tests use at the same time.
    names = {name: f"{name}_{suffix}" for name in ("sesame_reader", "sesame_writer")}
    for name, own in names.items():
        statements = re.sub(rf"\b{name}\b", own, statements)

    def login(group: str) -> str:
        with psycopg.connect(database, autocommit=True) as db:
            if not made:
                made.extend(names.values())
                db.execute(statements)  # type: ignore[arg-type]
            name = f"login_{uuid.uuid4().hex[:8]}"
            made.insert(0, name)
            db.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'hush-hush' IN ROLE {names['sesame_' + group]}")  # type: ignore[arg-type]
        return make_conninfo(database, user=name, password="hush-hush")

    yield login
    with psycopg.connect(database, autocommit=True) as db:
        for name in made:
            db.execute(f"DROP OWNED BY {name}")  # type: ignore[arg-type]
        for name in made:
            db.execute(f"DROP ROLE {name}")  # type: ignore[arg-type]
