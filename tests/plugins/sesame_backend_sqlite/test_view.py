"""What a reader knows of one state of the index, which it keeps for the next search until the index changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from sesame_backend_sqlite import view
from sesame_backend_sqlite.reader import SqliteReader
from sesame_core import Sesame
from sesame_core.query.parser import parse
from sesame_core.types.query import Filters

from ...support.transcripts import found, pi_session


def traced(sesame: Sesame) -> list[str]:
    """Return the list to which the statements of searches are added."""
    statements: list[str] = []
    reader = sesame._index.reader()
    assert isinstance(reader, SqliteReader)
    reader._db().set_trace_callback(statements.append)
    return statements


def test_the_next_search_counts_and_scores_only_what_is_new(home: Path) -> None:
    pi_session("first", "the shrike waits on a thorn")
    with Sesame() as sesame:
        sesame.index()
        statements = traced(sesame)

        def counted_and_scored() -> tuple[int, int]:
            texts = [" ".join(statement.split()) for statement in statements]
            statements.clear()
            counts = sum(text.startswith("SELECT count(*), min(rowid)") for text in texts)
            return counts, sum(text.startswith("SELECT f.rowid, bm25(chunks_fts)") for text in texts)

        assert found(sesame.search("shrike")) == ["first"]
        counts, scores = counted_and_scored()
        assert (counts > 0, scores) == (True, 1)
        assert found(sesame.search("shrike")) == ["first"]
        assert counted_and_scored() == (0, 0)
        assert found(sesame.search("shrike", Filters(agents=("claude-code",)))) == []
        assert counted_and_scored()[0] == 0


def test_nothing_is_known_of_an_index_that_has_changed(home: Path) -> None:
    pi_session("first", "the shrike waits")
    with Sesame() as sesame, Sesame() as other:
        sesame.index()
        for number in range(2, 5):
            assert sesame.search("shrike").total == number - 1
            pi_session(f"session{number}", f"the shrike waits for {number}")
            other.index()
            answer = sesame.search("shrike")
            assert (answer.total, answer.scanned) == (number, number)
        other.index(full=True)
        assert sesame.search("shrike").total == 4


def test_a_snapshot_shows_the_state_at_its_beginning(home: Path) -> None:
    pi_session("first", "the shrike waits")
    with Sesame() as sesame, Sesame() as other:
        sesame.index()
        reader = sesame._index.reader()
        with reader.snapshot():
            pi_session("second", "another shrike waits")
            assert other.index().added == 1
            assert len(reader.candidates(parse("shrike"), Filters()).chunks) == 1
        assert len(reader.candidates(parse("shrike"), Filters()).chunks) == 2


def test_what_is_known_is_bounded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "COUNTED", 3)
    monkeypatch.setattr(view, "LOOKED_UP", 2)
    pi_session("first", "the shrike waits on a thorn")
    with Sesame() as sesame:
        sesame.index()
        reader = sesame._index.reader()
        views = set()
        for word in ("shrike", "waits", "thorn", "nowhere", "shrike -thorn", "waits -shrike", "+shrike waits") * 2:
            assert sesame.search(word).total == (word != "nowhere" and "-" not in word)
            views.add(id(reader._view()))
            assert len(reader._view()._counts) < 10
        assert len(views) > 1
