"""`sesame blame` as a person and a program see it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from sesame_core.rendering.schemas.traces import TraceJson

from ..support.histories import History

SOCKET = "class Socket:\n    def open(self):\n        self.tries = 0\n        return self.connect()\n"


@pytest.fixture
def history(home: Path, monkeypatch: pytest.MonkeyPatch, utc: None) -> History:
    """A file that two sessions wrote and a person changed, in the present directory."""
    made = History(home)
    first = made.session("s-first", title="A socket", model="fox-1")
    first.asks("write a socket\nthat reconnects")
    first.writes("src/socket.py", SOCKET)
    second = made.session("s-second", title="Attempts", kind="headless")
    second.asks("count the attempts from one")
    second.edits("src/socket.py", "self.tries = 0", "self.tries = 1")
    made.put("src/socket.py", made.read("src/socket.py") + "\n# written by hand\n")
    made.commit("person")
    made.save()
    config = home / ".config" / "sesame" / "config.jsonc"
    config.parent.mkdir(parents=True)
    sources = [{"parser": "sesame", "path": str(made.source)}]
    config.write_text(json.dumps({"sources": sources, "refreshSeconds": 30}), encoding="utf-8")
    monkeypatch.chdir(made.root)
    return made


def test_a_file(history: History, cli: Callable[..., Any]) -> None:
    ran = cli("blame", "src/socket.py")
    assert (ran.code, ran.err) == (0, "")
    out = re.sub(r"owl · [^·]+ · ", "owl · ann · ", ran.out).replace(str(Path.home()), "/home/bo")
    assert out.splitlines() == [
        "src/socket.py: 4 of 5 lines written in 2 sessions",
        "",
        "  s-first:2 (A socket) - 2026-08-01",
        "    ~/code/fox · owl · ann · Write",
        "    lines 1-2, 4",
        '    asked at s-first:1: "write a socket that reconnects"',
        "",
        "  s-second:2 (Attempts) - 2026-08-01",
        "    ~/code/fox · owl · ann · Edit · headless",
        "    line 3",
        '    asked at s-second:1: "count the attempts from one"',
        "",
        "No session is known for line 6",
    ]


def test_one_line_and_some(history: History, cli: Callable[..., Any]) -> None:
    out = cli("blame", "src/socket.py:3").out.splitlines()
    assert out[:5] == ["src/socket.py:3: written in 1 session", "", "  self.tries = 1", "", out[4]]
    assert out[4].startswith("  s-second:2 ")
    out = cli("blame", "src/socket.py:1-2").out.splitlines()
    assert out[0] == "src/socket.py:1-2: all 2 lines written in 1 session"
    out = cli("blame", "src/socket.py:6").out.splitlines()
    assert out[0] == "src/socket.py:6: no session is known that wrote it"
    assert out[-1] == "2 changes of this file known, none with the text of these lines"


def test_only_the_first_sessions(history: History, cli: Callable[..., Any]) -> None:
    out = cli("blame", "src/socket.py", "-n", "1").out
    assert "s-second" not in out
    assert "… and 1 more session: --limit 2" in out


def test_the_beginning_of_an_id_that_is_excluded(history: History, cli: Callable[..., Any]) -> None:
    found = cli("blame", "src/socket.py", "--json", "--exclude", "s-sec").json
    assert [one["sessionId"] for one in found["sessions"]] == ["s-first"]


def test_json_has_everything(history: History, cli: Callable[..., Any]) -> None:
    found = cli("blame", "src/socket.py", "--json", "-n", "1").json
    assert [one["sessionId"] for one in found["sessions"]] == ["s-first", "s-second"]
    assert [(run["first"], run["last"], len(run["writers"])) for run in found["runs"]] == [
        (1, 2, 1),
        (3, 3, 1),
        (4, 4, 1),
        (5, 6, 0),
    ]
    assert found["revision"] == history.git("rev-parse", "HEAD").strip()
    assert found["index"]["pending"] == 0


def test_a_trace(history: History, cli: Callable[..., Any]) -> None:
    trace = cli("blame", "src/socket.py", "--trace").json
    assert TypeAdapter(TraceJson).validate_python(trace, strict=True)
    assert trace["version"] == "0.1.0"
    assert trace["vcs"] == {"type": "git", "revision": history.git("rev-parse", "HEAD").strip()}
    (file,) = trace["files"]
    assert file["path"] == "src/socket.py"
    assert [one["url"] for one in file["conversations"]] == ["sesame:s-first:2", "sesame:s-second:2"]
    assert [one["contributor"] for one in file["conversations"]] == [
        {"type": "ai", "model_id": "fox-1"},
        {"type": "ai"},
    ]
    ranges = [(one["start_line"], one["end_line"]) for one in file["conversations"][0]["ranges"]]
    assert ranges == [(1, 2), (4, 4)]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", trace["timestamp"])
    assert cli("show", trace["files"][0]["conversations"][1]["url"].removeprefix("sesame:")).code == 0


def test_two_formats_are_refused(history: History, cli: Callable[..., Any]) -> None:
    ran = cli("blame", "src/socket.py", "--json", "--trace")
    assert (ran.code, ran.out) == (2, "")
    assert "--trace and --json: an answer has one format" in ran.err


@pytest.mark.parametrize(
    ("file", "error"),
    [
        ("src/none.py", "src/none.py: No such file or directory; name a file that exists, or FILE:LINE of one"),
        ("src/socket.py:99", "src/socket.py: has no line 99; its lines are 1-6"),
        ("src", "src: Is a directory; name a file that exists, or FILE:LINE of one"),
    ],
)
def test_what_cannot_be_asked_about_is_one_line(
    history: History, cli: Callable[..., Any], file: str, error: str
) -> None:
    ran = cli("blame", file)
    assert ran.code != 0
    assert ran.out == ""
    assert ran.err.strip().splitlines() == [f"sesame: {error}"]


def test_a_file_that_no_session_changed(history: History, cli: Callable[..., Any]) -> None:
    history.put("README.md", "# fox\n")
    ran = cli("blame", "README.md")
    assert ran.code == 0
    assert ran.out.splitlines()[0] == "README.md:1: no session is known that wrote it"
    assert ran.out.splitlines()[-1] == "No session is known to have changed this file"


def test_a_name_with_characters_of_a_terminal(history: History, cli: Callable[..., Any]) -> None:
    history.put("bad\x1b[31m.py", "retries_before_giving_up = 12\n")
    session = history.session("s-third", title="red \x1b[31m")
    session.asks("write \x1b[31m it")
    path = str(history.root / "bad\x1b[31m.py")
    session.calls("Write", file_path=path, content="retries_before_giving_up = 12\n")
    history.save()
    ran = cli("blame", path)
    assert "s-third" in ran.out
    assert "\x1b" not in ran.out


def test_without_git_on_the_path(history: History, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    found = cli("blame", "src/socket.py", "--json").json
    assert (len(found["sessions"]), found["revision"]) == (2, None)
