"""A search asks a backend few questions, each for many sessions or passages at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sesame_core.plugin.backend import IndexReader, StorageBackend
from sesame_core.plugin.manager import PluginManager
from sesame_core.search.engine import Page, search
from sesame_core.search.results import FIRST
from sesame_core.testing import a_file, a_session
from sesame_core.types.query import Filters

#: More than are looked at closely at first, some of them subagents of others and of each other.
SESSIONS = FIRST + 20


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[StorageBackend]:
    backend = PluginManager().backend("sqlite", {"directory": str(tmp_path / "index")})
    with backend.writer() as writer:
        for number in range(SESSIONS):
            above = {"kind": "subagent", "parent_id": f"s{number // 2}"} if number % 5 == 4 else {}
            texts = [f"fox {'and more ' * n}" for n in range(number, number + 5)]
            writer.replace(a_file(f"/{number}.jsonl"), a_session(*texts, id=f"s{number}", **above))
    yield backend
    backend.close()


class Counted:
    """A reader that counts the calls of its methods."""

    def __init__(self, reader: IndexReader) -> None:
        self._reader = reader
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method: Callable[..., Any] = getattr(self._reader, name)

        def call(*arguments: Any, **options: Any) -> Any:
            self.calls.append(name)
            return method(*arguments, **options)

        return call


def test_passages_and_windows_are_read_with_one_question_each(backend: StorageBackend) -> None:
    reader = Counted(backend.reader())
    answer = search(reader, "fox", Filters(), Page(context=(2, 2)))
    assert [hit.window is not None for hit in answer.hits] == [True] * 10
    assert [name for name in reader.calls if name == "chunks"] == ["chunks", "chunks"]
    assert "find_sessions" not in reader.calls


def test_the_sessions_that_subagents_work_for_are_found_with_one_question_a_level(backend: StorageBackend) -> None:
    reader = Counted(backend.reader())
    search(reader, "fox", Filters(), Page(limit=SESSIONS))
    levels = 3  # a subagent works for one that may work for another
    assert 0 < reader.calls.count("find_by_id") <= 2 * levels, "once for the first sessions, once for all"
