"""§4.3 of the list of upstream's weaknesses, as facts of structure; `benchmarks/` has the times."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sesame_core
from sesame_backend_sqlite.matching import BUDGET
from sesame_backend_sqlite.schema import MIGRATIONS
from sesame_core import Sesame
from sesame_core.query.parser import parse
from sesame_parser_pi.parser import PiParser

from ..support.transcripts import Pi, append, as_lines, everything, found, library, pi_session, write

#: More than SQLite takes variables in one statement.
MANY = 40_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sesame]:
    """An index in which one word stands in 40,000 chunks and another in one."""
    directory = tmp_path_factory.mktemp("large")
    pi = Pi("large")
    path = write(directory / "in" / "large.jsonl", pi.header())
    with path.open("ab") as file:
        file.write(as_lines(pi.user(f"the common word {n}") for n in range(MANY)))
        file.write(as_lines([pi.user("the common word and the brolga")]))
    with library(path.parent, directory / "data", parser="pi") as sesame:
        assert sesame.index().chunks == MANY + 1
        yield sesame


def test_weakness_25_a_word_in_forty_thousand_chunks_answers(large: Sesame) -> None:
    for query in ("common", "the", "common word", '"common word"', "comm*", "common -absent", "+common"):
        answer = large.search(query)
        assert found(answer) == ["large"], query
        assert answer.hits[0].snippet.text


def test_weakness_26_broad_words_cost_a_bounded_number_of_chunks(large: Sesame) -> None:
    broad = large.search("common word")
    assert broad.is_truncated
    assert broad.scanned <= BUDGET < MANY
    mixed = large.search("common brolga")
    assert mixed.hits[0].chunk is not None
    assert mixed.hits[0].chunk.text == "the common word and the brolga"
    assert mixed.scanned <= BUDGET
    # Words that tell nothing are not looked for.
    words = [word.text for word in parse("how do I make the brolga dance in my garden").words]
    assert words == ["make", "brolga", "dance", "garden"]


def test_weakness_27_an_append_reads_the_tail_and_writes_only_what_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    pi = Pi("growing")
    write(pi.path, pi.header(), *(pi.user(f"message {number}") for number in range(50)))
    with Sesame() as sesame:
        sesame.index()
        location = sesame.status().location
    with sqlite3.connect(location) as db:
        before = db.execute("SELECT id, content FROM chunks ORDER BY id").fetchall()
        db.execute("UPDATE chunks SET source_type = 'untouched'")
    db.close()

    def parse_whole(self: PiParser, path: Path) -> Any:
        raise AssertionError(f"{path} was read from its beginning")

    monkeypatch.setattr(PiParser, "parse", parse_whole)
    size = pi.path.stat().st_size
    append(pi.path, pi.user("the appended jacana"))
    with Sesame() as sesame:
        report = sesame.index()
        assert (report.appended, report.updated, report.chunks) == (1, 0, 1)
        assert report.bytes == pi.path.stat().st_size - size
        assert found(sesame.search("jacana")) == ["growing"]
        assert sesame.get_session("growing").session.message_count == 51
    with sqlite3.connect(location) as db:
        after = db.execute("SELECT id, content FROM chunks ORDER BY id").fetchall()
        kinds = Counter(kind for (kind,) in db.execute("SELECT source_type FROM chunks"))
    db.close()
    assert after[:-1] == before
    assert kinds == {"untouched": 50, "message": 1}


def test_weakness_28_small_files_share_transactions_and_nothing_slows_the_load(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number in range(60):
        pi_session(f"small{number}", f"message {number}")
    statements: list[str] = []
    connect = sqlite3.connect

    def traced(*args: Any, **options: Any) -> sqlite3.Connection:
        db = connect(*args, **options)
        db.set_trace_callback(statements.append)
        return db

    with monkeypatch.context() as tracing, Sesame() as sesame:
        tracing.setattr(sqlite3, "connect", traced)
        assert sesame.index().added == 60
        location = sesame.status().location
    commits = [statement for statement in statements if statement.startswith("COMMIT")]
    assert len(commits) <= len(MIGRATIONS) + 1
    assert "PRAGMA synchronous = NORMAL" in statements
    assert "PRAGMA journal_mode = WAL" in statements
    db = sqlite3.connect(location)
    assert db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall() == []
    indexes = db.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'chunks'").fetchall()
    assert {name for (name,) in indexes} == {"chunks_error", "chunks_facts"}, "of failures, and of two short columns"
    db.close()


def test_weakness_29_dumps_are_cut_payloads_dropped_and_no_text_is_kept_twice() -> None:
    pi = Pi("dumps")
    payload = "iVBORw0KGgo" * 5000
    write(
        pi.path,
        pi.header(),
        pi.call("write", path="a.min.js", content="var beginning;" + "x=1;" * 50_000 + "var ending;"),
        pi.result("headword " + "filling " * 10_000 + " tailword"),
        pi.result(f"before {payload} after"),
    )
    with Sesame() as sesame:
        sesame.index()
        call, result, picture = everything(sesame)
        assert len(call.text) < 70_000 < 200_000 < call.cut + len(call.text)
        assert "var beginning" in call.text
        assert "var ending" in call.text
        assert len(result.text) < 17_000
        assert "headword" in result.text
        assert "tailword" in result.text
        assert picture.text == "before … after"
        assert picture.cut >= len(payload) - 1
        location = sesame.status().location
    db = sqlite3.connect(location)
    (sql,) = db.execute("SELECT sql FROM sqlite_master WHERE name = 'chunks_fts'").fetchone()
    assert "content = 'chunks'" in sql
    assert not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'chunks_fts_content'").fetchone()
    db.close()


def test_weakness_30_a_search_loads_little_and_the_package_is_small() -> None:
    pi_session("small", "the lorikeet squawks")
    with Sesame() as sesame:
        sesame.index()
    script = (
        "import sys; sys.argv = ['sesame', 'search', 'lorikeet', '--no-refresh']\n"
        "from sesame_core.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert "lorikeet" in done.stdout
    modules = set(done.stdout.splitlines())
    heavy = {"sesame_parser_pi", "sesame_parser_claude_code", "json5", "watchfiles", "rich", "asyncio", "hypothesis"}
    assert not modules & heavy
    package = Path(sesame_core.__file__).parent
    files = [f for f in package.rglob("*") if f.is_file() and f.suffix != ".pyc"]
    assert sum(f.stat().st_size for f in files) < 1_000_000
