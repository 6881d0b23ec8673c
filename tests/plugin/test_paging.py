"""A search asks a backend few questions where that answers many at once, and gets the same answer where it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sesame_core.plugin.backend import IndexReader, StorageBackend
from sesame_core.plugin.manager import PluginManager
from sesame_core.search.engine import FIRST, Answer, Page, search
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
    """A reader of which only some methods are there; counts the calls."""

    def __init__(self, reader: IndexReader, lacks: tuple[str, ...] = ()) -> None:
        self._reader = reader
        self._lacks = lacks
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in self._lacks:
            raise AttributeError(name)
        method: Callable[..., Any] = getattr(self._reader, name)

        def call(*arguments: Any, **options: Any) -> Any:
            self.calls.append(name)
            return method(*arguments, **options)

        return call


def told(answer: Answer) -> list[Any]:
    return [
        answer.total,
        [(hit.session.id, hit.score, hit.copies, hit.window, [p.chunk for p in hit.passages]) for hit in answer.hits],
    ]


@pytest.mark.parametrize("page", [Page(), Page(limit=100, passages=4), Page(offset=70, context=(1, 2))])
def test_a_reader_without_the_abilities_gives_the_same_answer(backend: StorageBackend, page: Page) -> None:
    plain = Counted(backend.reader(), lacks=("stretches", "named"))
    assert told(search(plain, "fox", Filters(), page)) == told(search(backend.reader(), "fox", Filters(), page))
    assert "chunks" in plain.calls
    assert "find_sessions" in plain.calls


def test_passages_and_windows_are_read_with_one_question_each(backend: StorageBackend) -> None:
    reader = Counted(backend.reader())
    answer = search(reader, "fox", Filters(), Page(context=(2, 2)))
    assert [hit.window is not None for hit in answer.hits] == [True] * 10
    asked = [name for name in reader.calls if name in ("chunks", "stretches", "find_sessions")]
    assert asked == ["stretches", "stretches"]
