"""The thread that searches, and what the loop takes from it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from sesame_core.picker.app import Picker
from sesame_core.picker.completion import finished
from sesame_core.picker.finder import Finder, Found, Loaded
from sesame_core.picker.state import State
from sesame_core.query.parser import parse
from sesame_core.types.answer import Answer, Hit

from .test_drawing import bare, hit_of

PATIENCE = 30.0


class Asked:
    """A finder whose answers are awaited."""

    def __init__(self) -> None:
        self._is_awake = threading.Event()
        self.finder = Finder(self._is_awake.set)
        self.finder.start()

    def __call__(self, text: str, limit: int = 30) -> Found:
        self.finder.search(text, limit)
        while True:
            assert self._is_awake.wait(PATIENCE)
            self._is_awake.clear()
            assert self.finder.failure is None
            found, _ = self.finder.take()
            if found is not None:
                return found


@pytest.fixture
def ask() -> Iterator[Asked]:
    asked = Asked()
    yield asked
    asked.finder.close()


def test_the_answer_to_a_new_text_has_the_preview_of_its_first_session(indexed_sessions: Path, ask: Asked) -> None:
    found = ask("websocket migration")
    assert found.answer is not None
    assert found.loaded is not None
    assert found.loaded.hit is found.answer.hits[0]
    assert any("websocket" in chunk.text for chunk in found.loaded.chunks)
    assert found.loaded.position in [chunk.seq for chunk in found.loaded.chunks]
    # Of the same text, another session may be selected.
    assert ask("websocket migration", 60).loaded is None
    assert ask("xylophone zyzzyva").loaded is None
    assert ask("websocket migration").loaded is not None


def test_a_list_has_places_of_passages_without_their_texts(indexed_sessions: Path, ask: Asked) -> None:
    answer = ask("websocket").answer
    assert answer is not None
    assert answer.hits
    for hit in answer.hits:
        assert hit.chunk is not None
        assert [(passage.chunk, passage.snippet.text) for passage in hit.passages] == [(hit.chunk, "")]


class Scripted:
    """A screen on which a text is typed, and a finder that answers in steps."""

    size = (120, 20)
    failure = sesame = report = None
    is_running = False

    def __init__(self, *steps: tuple[bytes, Found | None, Loaded | None]) -> None:
        self._steps = [*steps]
        self._taken: tuple[Found | None, Loaded | None] = (None, None)
        self.searched: list[str] = []
        self.loaded: list[Hit] = []
        self.drawn: list[str] = []

    def start(self) -> None:
        """Nothing to open."""

    def read(self, seconds: float | None) -> bytes | None:
        if not self._steps:
            return None
        data, *taken = self._steps.pop(0)
        self._taken = cast(Any, tuple(taken))
        return data

    def take(self) -> tuple[Found | None, Loaded | None]:
        return self._taken

    def search(self, text: str, limit: int) -> None:
        self.searched.append(text)

    def load(self, hit: Hit) -> None:
        self.loaded.append(hit)

    def draw(self, rows: list[str], cursor: tuple[int, int]) -> None:
        self.drawn.append("\n".join(rows))


def answered(text: str, *hits: Hit, loaded: Loaded | None = None) -> Found:
    return Found(text, 30, Answer(query=parse(text), hits=list(hits), total=len(hits)), loaded=loaded)


def test_a_preview_that_is_late_does_not_take_the_place_of_the_present_one() -> None:
    old, new = hit_of("old bird", 1), hit_of("new bird", 2)
    assert old.chunk is not None
    assert new.chunk is not None
    scripted = Scripted(
        (b"", answered("", old), None),
        (b"n", None, None),
        (b"", answered("n", new, loaded=Loaded(new, new.stored, [new.chunk], 3)), None),
        (b"", None, Loaded(old, old.stored, [old.chunk], 3)),
    )
    state = State()
    parts = cast(Any, scripted)
    assert Picker(parts, parts, parts, state, is_printing=False).run() is None
    assert scripted.searched == ["", "n"]
    assert scripted.loaded == [old]  # the other one came with the answer
    assert state.loaded is not None
    assert state.loaded.hit is new
    assert "→3 user" in bare(scripted.drawn[-1])


@pytest.mark.parametrize("unfinished", ["agent:", " Agent:", " -in:", ' branch:"', " (tag:"])
def test_a_field_whose_value_is_still_to_be_typed_narrows_nothing(
    unfinished: str, indexed_sessions: Path, ask: Asked
) -> None:
    text = "websocket migration" if unfinished.startswith(" ") else ""
    before, then = ask(text).answer, ask(text + unfinished).answer
    assert before is not None
    assert before.hits
    assert then is not None
    assert [hit.session.id for hit in then.hits] == [hit.session.id for hit in before.hits]


@pytest.mark.parametrize("text", ["error:", "websocket agent:pi", "agent: websocket", 'in:"', "c:"])
def test_only_a_field_at_the_end_of_a_line_is_unfinished(text: str) -> None:
    assert finished(text) == ("" if text == 'in:"' else text)
