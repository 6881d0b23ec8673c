"""What a search of a team's database costs: what it loads, and how often it asks."""

from __future__ import annotations

import subprocess
import time
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
from sesame_core.testing import a_file, a_query, a_session
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


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What connections have asked so far, in one round trip each."""
    asked: list[str] = []
    execute = psycopg.Connection.execute

    def counting(self: Any, query: Any, *values: Any, **options: Any) -> Any:
        asked.append(str(query))
        return execute(self, query, *values, **options)

    monkeypatch.setattr(psycopg.Connection, "execute", counting)
    return asked


def test_a_search_for_one_word_asks_the_server_three_times(backend: StorageBackend, asked: list[str]) -> None:
    reader = backend.reader()
    assert reader.list_sessions(Filters(), limit=1)[0]
    asked.clear()
    answer = search(reader, "fox", Filters())
    assert len(answer.hits) == 10
    assert answer.freshness is not None
    assert asked[0].startswith("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ")
    assert "; EXECUTE " in asked[0]
    # The sessions, those that subagents work for, and the freshness; the texts, and the words that they contain.
    assert len(asked) == 3


@pytest.mark.parametrize(
    ("text", "page", "times"),
    [
        ("fox AND so", Page(), 6),  # with the sessions that AND leaves out, the words' frequencies, and the phrase
        ("so fox", Page(), 5),  # with the frequencies, and the phrase
        ("the fox and so on", Page(), 5),
        ('"and so on"', Page(), 3),  # whose candidates are the chunks with the phrase
        ("and-so-on", Page(), 3),
        ('"and so on" fox', Page(), 5),
        ("fox", Page(context=(2, 2)), 4),  # with the windows
        ("fox", Page(limit=30), 3),
        ("fox", Page(offset=20, passages=3), 4),  # with the passages of the other side
        ("", Page(), 3),  # with the number of headless sessions that are left out
    ],
)
def test_a_search_asks_the_server_as_few_times_as_its_steps_need(
    backend: StorageBackend, asked: list[str], text: str, page: Page, times: int
) -> None:
    reader = backend.reader()
    assert reader.list_sessions(Filters(), limit=1)[0]
    asked.clear()
    assert search(reader, text, Filters(), page).hits
    assert len(asked) <= times, asked


def test_after_a_search_its_transaction_is_over(backend: StorageBackend, postgres: str) -> None:
    """The server's answer to its end is not waited for, but no lock and no old snapshot stay."""
    reader = backend.reader()
    assert search(reader, "fox", Filters()).hits
    with psycopg.connect(postgres, autocommit=True) as db:
        for _ in range(50):
            row = db.execute("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'").fetchone()
            if row == (0,):
                break
            time.sleep(0.1)
        assert row == (0,)
    assert search(reader, "fox", Filters()).hits


def test_a_connection_that_ended_after_a_search_is_replaced(backend: StorageBackend, postgres: str) -> None:
    reader = backend.reader()
    for _ in range(3):
        assert search(reader, "fox", Filters()).hits
        with psycopg.connect(postgres, autocommit=True) as db:
            db.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'sesame%'"
            )


def test_a_search_reads_of_a_huge_text_what_can_have_matched(backend: StorageBackend) -> None:
    """A login may store texts of 60 MB, which would take seconds of every search that meets them."""
    huge = "a heron waits " * 200_000
    with backend.writer() as writer:
        writer.replace(a_file("/huge"), a_session(huge, id="huge"))
    reader = backend.reader()
    answer = search(reader, "heron", Filters())
    assert [(hit.session.id, hit.snippet is not None) for hit in answer.hits] == [("huge", True)]
    with reader.snapshot():
        (place,) = [(chunk.session, chunk.seq, 1) for chunk in reader.candidates(a_query("heron"), Filters()).chunks]
        assert reader.chunks([place])[0][0].text == huge[:400_000]
    assert reader.chunks([place])[0][0].text == huge


def test_a_search_in_a_snapshot_finds_what_one_outside_does(backend: StorageBackend) -> None:
    """Also after another search, whose words and sessions are known in advance."""
    reader = backend.reader()
    texts = ("fox", "on", "so", "fox and so", "on -unicorn", "foxx so")
    alone = [[hit.session.id for hit in search(reader, text, Filters()).hits] for text in texts]
    judged = [search(reader, text, Filters()).confidence for text in texts]
    with reader.snapshot():
        for text, ids, confidence in [*zip(texts, alone, judged, strict=True)] * 2:
            answer = search(reader, text, Filters())
            assert [hit.session.id for hit in answer.hits] == ids
            assert answer.confidence == confidence
        assert {one.session.id for one in reader.find_by_id(["s2", "s3", "none"])} == {"s2", "s3"}


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
