"""Sesame over texts, each in a session of its own, in an index on any of the three backends."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from sesame_core import Sesame
from sesame_core.config.model import Config, Describing, Selection, Source

from .in_memory import plugins_with_memory

#: Parameters of a fixture that is one of the backends.
BACKENDS = ["sqlite", "memory", "postgres"]


@contextmanager
def indexed(request: pytest.FixtureRequest, place: Path, sessions: Mapping[str, Sequence[str]]) -> Iterator[Sesame]:
    """Yield Sesame over sessions, by id, of which each has these messages of a person.

    :param request: of a fixture with the parameters `BACKENDS`.
    :param place: an empty directory.
    """
    (place / "in").mkdir()
    for name, texts in sessions.items():
        header = {"type": "sesame-session", "version": 1, "id": name, "agent": "owl"}
        messages = [{"type": "message", "id": f"m{n}", "role": "user", "text": text} for n, text in enumerate(texts)]
        lines = "".join(json.dumps(record) + "\n" for record in (header, *messages))
        (place / "in" / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    with opened(request, place, Source(parser=Selection(name="sesame"), path=place / "in")) as sesame:
        assert sesame.index().added == len(sessions)
        yield sesame


@contextmanager
def opened(request: pytest.FixtureRequest, place: Path, *sources: Source) -> Iterator[Sesame]:
    """Yield Sesame over sources, before the first run.

    :param request: of a fixture with the parameters `BACKENDS`.
    """
    options = {}
    if request.param == "sqlite":
        options = {"directory": str(place / "data")}
    elif request.param == "postgres":
        server, database = request.getfixturevalue("postgres"), f"sesame_{uuid.uuid4().hex}"
        with psycopg.connect(server, autocommit=True) as db:
            db.execute(f"CREATE DATABASE {database}")  # type: ignore[arg-type]
        options = {"dsn": make_conninfo(server, dbname=database)}
    config = Config(
        sources=sources,
        backend=Selection(name=request.param, options=options),
        describe=Describing(directory=place / "metadata"),
    )
    with Sesame(config, plugins=plugins_with_memory()) as sesame:
        yield sesame
