"""A list by command, file, error, tool or role shows what passed the filter, not the session's first prompt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sesame_core import Filters, Sesame, Source
from sesame_core.config.model import Selection
from sesame_core.search.deciding import MOST_CHECKED, STEPS
from sesame_core.types.answer import Hit

from ..support.in_memory import in_memory, plugins_with_memory
from ..support.transcripts import Pi, Record, write


def a_session(pi: Pi) -> Iterator[Record]:
    yield pi.header()
    yield pi.user("please open a pull request, gh pr create or so")
    yield pi.call("bash", command="git status")
    yield pi.result("README.md changed")
    yield pi.call("read", "call_2", path="/w/src/socket.ts")
    yield pi.result("1→let socket\n2→socket.open()", "read", "call_2")
    yield pi.call("bash", "call_3", command="cat src/socket.ts && gh pr create --title 'Close the socket'")
    yield pi.result("Creating…\nfatal: Authentication failed for origin", "bash", "call_3") | {}
    yield pi.call("edit", "call_4", path="/w/src/socket.ts", oldText="open()", newText="close()")
    yield pi.result("old text not found", "edit", "call_4")
    yield pi.answer("Done")


def failing(records: Iterator[Record]) -> Iterator[Record]:
    """Mark the results that begin with something other than what was wanted as errors."""
    for record in records:
        message = record.get("message", {})
        text = (message.get("content") or [{}])[0]
        if message.get("role") == "toolResult" and any(word in text["text"] for word in ("fatal", "not found")):
            message["isError"] = True
        yield record


@pytest.fixture(params=["sqlite", "memory"])
def sesame(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sesame]:
    sessions = tmp_path / "sessions"
    write(sessions / "a.jsonl", *failing(a_session(Pi("a"))))
    other = Pi("b")
    calls = [other.call("bash", f"c{n}", command=f"make step{n}") for n in range(STEPS[0])]
    last = other.call("bash", "last", command="npm test -- --watch")
    write(sessions / "b.jsonl", other.header(), other.user("run it all"), *calls, last)
    source = Source(parser=Selection(name="pi"), path=sessions)
    opened = (
        Sesame(sources=[source], data_dir=tmp_path / "data")
        if request.param == "sqlite"
        else in_memory([source], tmp_path / "data", plugins_with_memory())
    )
    with opened:
        opened.index()
        yield opened


def the_hit(sesame: Sesame, text: str, filters: Filters | None = None) -> Hit:
    answer = sesame.search(text, filters)
    assert answer.mode == "browse"
    (hit,) = answer.hits
    return hit


@pytest.mark.parametrize(
    ("text", "filters", "snippet", "marked"),
    [
        (
            'cmd:"gh pr create"',
            Filters(cmd="gh pr create"),
            "$ cat src/socket.ts && gh pr create --title 'Close the socket'",
            ["gh", "pr", "create"],
        ),
        ("cmd:npm", Filters(cmd="npm"), "$ npm test -- --watch", ["npm"]),
        ("cmd:auth* OR cmd:watch", None, "$ npm test -- --watch", ["watch"]),
        ("file:socket.ts", Filters(path="socket.ts"), "read /w/src/socket.ts", ["socket", "ts"]),
        (
            "path:/w/src/socket.ts",
            Filters(path="/w/src/socket.ts"),
            "read /w/src/socket.ts",
            ["w", "src", "socket", "ts"],
        ),
        ("file:src/", Filters(path="src/"), "read /w/src/socket.ts", ["src"]),
        ("is:error", Filters(is_error=True), "fatal: Authentication failed for origin", []),
        ("is:error tool:edit", Filters(is_error=True, tool="edit"), "old text not found", []),
        ("tool:read", Filters(tool="read"), "read /w/src/socket.ts", []),
        ("role:assistant agent:pi tool:edit", None, "edit /w/src/socket.ts - open() + close()", []),
        ("cmd:make role:user", None, "$ make step0", ["make"]),
    ],
)
def test_a_list_shows_what_passed_the_filter(
    text: str, filters: Filters | None, snippet: str, marked: list[str], sesame: Sesame
) -> None:
    for hit in [the_hit(sesame, text), *([the_hit(sesame, "*", filters)] if filters else [])]:
        shown = hit.snippet
        assert shown.text == snippet
        assert [shown.text[start:end] for start, end in shown.marks] == marked
        assert hit.chunk is not None
        assert hit.passages[0].chunk is hit.chunk


@pytest.mark.parametrize("text", ["-cmd:make", "agent:pi -is:error", "after:2000-01-01", "", "*"])
def test_a_list_by_anything_else_shows_the_first_prompt(text: str, sesame: Sesame) -> None:
    answer = sesame.search(text)
    assert {hit.snippet.text for hit in answer.hits} <= {
        "run it all",
        "please open a pull request, gh pr create or so",
    }
    assert answer.hits
    assert all(hit.chunk is None and not hit.passages for hit in answer.hits)


def test_a_window_shows_what_was_around_the_command(sesame: Sesame) -> None:
    (hit,) = sesame.search('cmd:"gh pr create"', context=(1, 1)).hits
    assert hit.window is not None
    assert [item.snippet.splitlines()[0] for item in (*hit.window.before, *hit.window.after)] == [
        "1→let socket",
        "Creating…",
    ]


def test_a_command_after_many_others_is_found_and_the_order_stays(sesame: Sesame) -> None:
    assert STEPS[0] > MOST_CHECKED
    answer = sesame.search("tool:bash")
    assert [hit.session.id for hit in answer.hits] == [stored.session.id for stored in sesame.list_sessions()[0]]
    assert {hit.session.id: hit.snippet.text for hit in answer.hits} == {"a": "$ git status", "b": "$ make step0"}
