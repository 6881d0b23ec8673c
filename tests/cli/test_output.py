"""What is printed is safe on a terminal, in a pipe and in JSON."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .terminal import SETTINGS, on_a_terminal, pi_session

pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture
def hostile(home: Path, utc: None) -> Path:
    """A session whose text would steer a terminal."""
    text = "pangolin \x1b[2J\x1b]0;owned\x07\x1b[31mred\x9b2K\rover \u202egnp.exe\u202c end"
    return pi_session(home / ".pi" / "agent" / "sessions" / "--w-den--" / "one.jsonl", text)


@pytest.mark.parametrize("command", [("search", "pangolin"), ("search",), ("show", "0199cccc")])
def test_no_transcript_steers_the_terminal(command: tuple[str, ...], hostile: Path, cli: Callable[..., Any]) -> None:
    cli("index")
    out = cli(*command).out
    assert re.search(r"pangolin +red2K ?over gnp\.exe end", out)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", out)


def test_json_escapes_what_it_must(hostile: Path, cli: Callable[..., Any]) -> None:
    cli("index")
    out = cli("show", "0199cccc", "--json").out
    assert not re.search("[\x00-\x09\x0b-\x1f]", out)
    assert "red\x9b2K\rover" in json.loads(out)["chunks"][0]["text"]


def test_words_are_marked_on_a_terminal_and_nowhere_else(indexed: Path, cli: Callable[..., Any]) -> None:
    assert "\x1b" not in cli("search", "carousel").out
    code, shown = on_a_terminal(["search", "--no-refresh", "carousel"])
    assert code == 0
    assert "\x1b[1;33mcarousel\x1b[0m" in shown


def test_a_reader_that_leaves_early_causes_no_traceback(indexed: Path) -> None:
    command = [sys.executable, "-m", "sesame_core", "show", SETTINGS, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 1


def test_a_locale_without_unicode_stops_nothing(
    indexed: Path, sesame: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LC_", "LANG"))}
    done = sesame("search", "--no-refresh", "日記アプリ", env={**environment, "LC_ALL": "C"}, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert "01a1abe6:0 (日記アプリ: 二文字の単語の検索を直す)" in done.stdout
    done = sesame("search", "nikki", env={**environment, "PYTHONIOENCODING": "latin-1"}, encoding="latin-1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "01a1abe6:2 (\\u65e5\\u8a18" in done.stdout
