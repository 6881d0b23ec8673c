"""What costs little however large the index is, as facts of structure; `benchmarks/` has the times."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from sesame_backend_sqlite.matching import BUDGET
from sesame_backend_sqlite.schema import MIGRATIONS
from sesame_core import Sesame
from sesame_core.query.parser import parse

from ...support.transcripts import Pi, as_lines, found, library, pi_session, write

#: More than SQLite takes variables in one statement.
MANY = 40_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sesame]:
    """An index in which one word stands in 40,000 chunks and another in one."""
    directory = tmp_path_factory.mktemp("large")
    pi = Pi("large")
    path = write(directory / "in" / "large.jsonl", pi.header())
    with path.open("ab") as file:
        file.write(as_lines(pi.user(f"the common word {n} commands") for n in range(MANY)))
        file.write(as_lines([pi.user("the common word and the brolga")]))
    with library(path.parent, directory / "data", parser="pi") as sesame:
        assert sesame.index().chunks == MANY + 1
        yield sesame


@pytest.mark.once
@pytest.mark.upstream(25)
def test_a_word_in_forty_thousand_chunks_answers(large: Sesame) -> None:
    for query in ("common", "the", "common word", '"common word"', "comm*", "common -absent", "+common"):
        answer = large.search(query)
        assert found(answer) == ["large"], query
        assert answer.hits[0].snippet.text


@pytest.mark.parametrize("query", ["com*", "com* AND word", "word -com*", "com* word common", "brolga com*", '"com*"'])
def test_a_prefix_of_two_words_in_each_chunk_is_in_no_more_chunks_than_there_are(large: Sesame, query: str) -> None:
    answer = large.search(query, explain=True)
    assert answer.total == (0 if "-" in query else 1)


@pytest.mark.upstream(26)
def test_broad_words_cost_a_bounded_number_of_chunks(large: Sesame) -> None:
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


@pytest.mark.upstream(28)
def test_small_files_share_transactions_and_nothing_slows_the_load(
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
