"""Which scan cache on this machine belongs to which index on a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sesame_core.config import identity
from sesame_core.plugin.backend import StorageBackend, TracksFiles
from sesame_core.testing import a_file, a_session

from .schemas import a_backend

pytestmark = pytest.mark.once

Make = Callable[[], StorageBackend]


@pytest.fixture
def make(postgres: str) -> Iterator[Make]:
    """Make an index in a schema of its own."""
    with ExitStack() as made:
        yield lambda: made.enter_context(a_backend(postgres))


def filled(backend: StorageBackend, *paths: str) -> str:
    """Index some files; return where the scan cache is then."""
    with backend.writer() as writer:
        for path in paths:
            writer.replace(a_file(path), a_session("fox", id=path))
        writer.finish(synced_at=None)
    return place_of(backend)


def place_of(backend: StorageBackend) -> str:
    reader: Any = backend.reader()
    assert isinstance(reader, TracksFiles)
    place = reader.scan_cache_path()
    assert place is not None
    return place


def test_a_database_without_tables_has_no_scan_cache(make: Make) -> None:
    reader: Any = make().reader()
    assert reader.scan_cache_path() is None


def test_an_index_without_files_of_this_workstation_has_no_scan_cache(make: Make) -> None:
    backend = make()
    with backend.writer() as writer:
        writer.finish(synced_at=None)
    reader: Any = backend.reader()
    assert reader.scan_cache_path() is None


def test_two_schemas_of_a_database_have_a_scan_cache_each(make: Make) -> None:
    one, other = make(), make()
    assert filled(one, "/a") != filled(other, "/a")
    Path(place_of(one)).write_text("{}")
    assert place_of(other) != place_of(one)
    assert Path(place_of(one)).exists()


def test_an_index_that_grows_keeps_its_scan_cache_unless_its_mark_moves(make: Make) -> None:
    backend = make()
    files = [f"/{n}" for n in range(20)]
    place = filled(backend, *files)
    assert filled(backend, files[3]) != "", "a file that is read again"
    again = {filled(backend, f"/more{n}") for n in range(5)}
    assert len(again) <= 3
    assert all(Path(one).parent == Path(place).parent for one in again)


def test_a_file_that_stood_for_all_and_is_deleted_takes_the_scan_cache_along(make: Make) -> None:
    backend = make()
    files = [f"/{n}" for n in range(6)]
    place = filled(backend, *files)
    Path(place).write_text("{}")
    for path in files:
        with backend.writer() as writer:
            writer.delete_file(path)
        reader: Any = backend.reader()
        now = reader.scan_cache_path()
        if now != place:
            break
    assert now != place
    assert now is None or not Path(place).exists()


def test_an_index_that_was_made_anew_has_another_scan_cache(make: Make, postgres: str) -> None:
    backend = make()
    place = filled(backend, "/a")
    schema = backend._server.schema  # type: ignore[attr-defined]
    backend.close()
    with psycopg.connect(postgres, autocommit=True) as db:
        db.execute(f"DROP SCHEMA {schema} CASCADE")  # type: ignore[arg-type]
    assert filled(backend, "/a") != place


def test_another_workstation_has_another_scan_cache(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = make()
    place = filled(backend, "/a")
    monkeypatch.setenv(identity.OVERRIDES[0], "another")
    reader: Any = backend.reader()
    assert reader.scan_cache_path() is None
    assert filled(backend, "/a") != place
