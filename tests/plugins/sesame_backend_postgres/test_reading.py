"""What a search of a team's database costs: what it loads, and how often it asks."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from sesame_backend_postgres import connecting
from sesame_core.errors import BackendError
from sesame_core.plugin.backend import StorageBackend
from sesame_core.plugin.manager import PluginManager
from sesame_core.search.engine import Page, search
from sesame_core.testing import a_file, a_session
from sesame_core.types.query import Filters

pytestmark = pytest.mark.once

Make = Callable[..., Any]
PROBE = """
import sys
from sesame_core.cli import main
sys.argv = ["sesame", "search", "fox", "--json"]
try:
    main()
finally:
    print(sorted({"sqlalchemy", "sesame_core.indexing.indexer"} & set(sys.modules)), file=sys.stderr)
"""


@pytest.fixture
def options(postgres: str) -> Iterator[dict[str, Any]]:
    schema = f"kit_{uuid.uuid4().hex[:16]}"
    yield {"dsn": postgres, "schema": schema}
    with psycopg.connect(postgres, autocommit=True) as db:
        db.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")  # type: ignore[arg-type]


@pytest.fixture
def backend(options: dict[str, Any]) -> Iterator[StorageBackend]:
    backend = PluginManager().backend("postgres", options)
    with backend.writer() as writer:
        for number in range(40):
            above = {"kind": "subagent", "parent_id": f"s{number - 1}"} if number % 4 == 3 else {}
            writer.replace(a_file(f"/{number}"), a_session(f"fox {'and so on ' * number}", id=f"s{number}", **above))
        writer.finish(synced_at=None)
    yield backend
    backend.close()


def test_a_search_that_finds_no_file_changed_loads_nothing_that_writes(workstation: Make) -> None:
    ann = workstation("ann")
    ann.write("one", "the quick fox")
    ann.ok("index")
    command, environment = ann.command()
    done = subprocess.run([command[0], "-c", PROBE], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert '"resultCount": 1' in done.stdout
    assert done.stderr.strip() == "[]"


def test_a_search_for_one_word_asks_the_server_six_times(
    backend: StorageBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = backend.reader()
    assert reader.list_sessions(Filters(), limit=1)[0]
    asked: list[str] = []
    execute = psycopg.Connection.execute

    def counting(self: Any, query: Any, *values: Any, **options: Any) -> Any:
        asked.append(str(query))
        return execute(self, query, *values, **options)

    monkeypatch.setattr(psycopg.Connection, "execute", counting)
    answer = search(reader, "fox", Filters(), Page(context=(2, 2)))
    assert len(answer.hits) == 10
    # With it: the sessions that subagents work for, and the windows.  The texts of the best eleven sessions are read
    # before the order is known, and those of the further ones that are compared with them.
    assert len(asked) == 6 + 2
    assert asked[0].startswith("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ")
    assert "; EXECUTE " in asked[0]
    assert asked[-1] == "ROLLBACK"


def test_readers_at_the_same_time_have_connections_of_their_own(backend: StorageBackend) -> None:
    reader = backend.reader()
    with reader.snapshot():
        reader.list_sessions(Filters(), limit=1)
        with ThreadPoolExecutor(3) as pool:
            totals = list(pool.map(lambda _: reader.list_sessions(Filters(), limit=1)[1], range(9)))
    assert totals == [40] * 9


def test_waiting_for_the_only_connection_ends_with_an_error(
    options: dict[str, Any], backend: StorageBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connecting, "READ_SECONDS", 1)
    one = PluginManager().backend("postgres", {**options, "pool": 1})
    reader = one.reader()
    with reader.snapshot(), ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(reader.list_sessions, Filters(), limit=1)
        with pytest.raises(BackendError, match="raise the option 'pool'"):
            waiting.result()
    assert reader.list_sessions(Filters(), limit=1)[1] == 40
    one.close()
