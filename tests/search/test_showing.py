"""An answer names the spellings that its hits show, and says "not found" only of what was looked for everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Sesame, Source
from sesame_core.config.model import Selection
from sesame_core.rendering.answers import answer_json, answer_text

from ..support.in_memory import in_memory, plugins_with_memory
from ..support.transcripts import Pi, library, write

COMMIT = "e45daa39e8ae5bcdc37458e6e5d20df68764bb47"
TEXTS = (
    "A gradient from red to blue; Gradient stops and more gradients",
    f"Look at commit {COMMIT} again",
    "receiving messages from the queue, it receives them in order",
    "The database of the archive",
    "function createWebSocketServer(port)",
    "colours of macOSX windows on macOSX",
    "Café crème, naïveté",
    "the telemetry was late",
    "everything else over wifi has colors",
)


@pytest.fixture(params=["sqlite", "memory"])
def sesame(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sesame]:
    for number, text in enumerate(TEXTS):
        pi = Pi(f"s{number}")
        write(tmp_path / "sessions" / f"{number}.jsonl", pi.header(), pi.user(text), pi.user("something else"))
    if request.param == "sqlite":
        opened = library(tmp_path / "sessions", tmp_path / "data", parser="pi")
    else:
        source = Source(parser=Selection(name="pi"), path=tmp_path / "sessions")
        opened = in_memory([source], tmp_path / "data", plugins_with_memory())
    with opened:
        opened.index()
        yield opened


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("gradiant", ["gradient"]),
        ("recieving", ["receiving"]),
        ("databse", ["database"]),
        ("telemtry", ["telemetry"]),
        ("everythin blue gradiant", ["gradient"]),
        ("mesages", ["messages"]),
        ("archve", ["archive"]),
        ("macosxx", ["macOSX"]),
        ("sockte", ["socket"]),
        ("wiffi", ["wifi"]),
    ],
)
def test_a_misspelt_word_is_reported_with_the_word_as_it_is_written(
    typed: str, shown: list[str], sesame: Sesame
) -> None:
    answer = sesame.search(typed)
    word = typed.split()[-1]
    assert answer.showing[word] == shown
    lines = answer_text(answer, abbreviate=str).splitlines()
    assert f'Showing "{shown[0]}" for "{word}"' in lines
    assert not [line for line in lines if line.startswith("Not found")]
    value = answer_json(answer)
    assert value["showing"][word] == shown
    assert word in value["wordsNotFound"]


def test_a_correction_that_no_shown_hit_has_is_not_named(sesame: Sesame) -> None:
    answer = sesame.search("+queue gradiant")
    assert answer.corrections["gradiant"]
    assert answer.showing == {}
    assert "Not found as a word: gradiant" in answer_text(answer, abbreviate=str)


def test_another_spelling_of_a_word_that_is_rare_is_shown_too(sesame: Sesame) -> None:
    answer = sesame.search("colors")
    assert answer.words_not_found == []
    assert answer.showing == {"colors": ["colours"]}
    assert 'Also showing "colours" for "colors"' in answer_text(answer, abbreviate=str)


@pytest.mark.parametrize("typed", ["e45daa39", COMMIT[:7], COMMIT[:12], "archi", "gradien", "grad*", "telem*", "data*"])
def test_a_beginning_that_was_found_is_neither_a_correction_nor_not_found(typed: str, sesame: Sesame) -> None:
    answer = sesame.search(typed)
    assert answer.hits
    assert (answer.words_not_found, answer.showing) == ([], {})
    written = answer_text(answer, abbreviate=str)
    assert "Not found" not in written
    assert "howing" not in written


@pytest.mark.parametrize("typed", ["zzzqqq", "deadbeef9", "qqzz*"])
def test_a_word_that_is_nowhere_is_not_found_anywhere(typed: str, sesame: Sesame) -> None:
    answer = sesame.search(typed)
    assert answer.words_not_found == [typed]
    assert f"Not found as a word: {typed}" in answer_text(answer, abbreviate=str)


# -- files that are not read yet -------------------------------------------------------------------------------


def session(root: Path, name: str, text: str) -> None:
    pi = Pi(name)
    write(root / f"{name}.jsonl", pi.header(), pi.user(text))


@pytest.mark.parametrize("form", ["text", "json"])
def test_while_another_process_indexes_no_word_is_called_not_found_anywhere(
    form: str, home: Path, cli: Callable[..., Any]
) -> None:
    root = Pi("x").root
    session(root, "one", "aardvark")
    assert cli("index").code == 0
    for name in ("two", "three"):
        session(root, name, "marvin")
    with Sesame() as sesame, sesame.writer():
        if form == "text":
            out = cli("search", "marvin").out
            assert "Not found in what is indexed so far (1 of 3 files): marvin" in out
            assert "2 files are not indexed yet" in out
            assert "anywhere" not in out
        else:
            value = cli("search", "marvin", "--json").json
            assert value["hints"] == [
                "2 of 3 files are not indexed yet: this answer lacks the sessions in them",
                "looked in ~/.pi/agent/sessions",
                "Not found in what is indexed so far (1 of 3 files): marvin",
            ]
            assert (value["index"]["refreshed"], value["index"]["pending"]) == (False, 2)
    assert "Found 2 sessions" in cli("search", "marvin").out
    assert "Not found as a word: zzzqqq" in cli("search", "zzzqqq").out


def test_when_time_runs_out_no_word_is_called_not_found_anywhere(home: Path, cli: Callable[..., Any]) -> None:
    root = Pi("x").root
    for name in ("one", "two", "three"):
        session(root, name, "marvin")
    with Sesame() as sesame:
        report = sesame.index(seconds=0)
        answer = sesame.search("marvin")
    written = answer_text(answer, abbreviate=str, refreshed=report)
    assert "the index is empty: 3 session files" in written
    assert "Not found as a word" not in written
    assert answer_json(answer, report)["hints"][-1].startswith("the index is empty: 3 session files")
