"""Output that cannot be written is one line and an exit code, whichever command wrote it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.sqlite_only,
    pytest.mark.skipif(sys.platform == "win32", reason="the shell's redirections are POSIX's"),
]

COMMANDS = ["search fox", "search --json fox", "sessions", "index --json", "status", "plugins", "--version", "--help"]


def run(arguments: str, redirection: str, home: Path) -> tuple[int, str]:
    """Return the exit code and what was written to standard error."""
    done = subprocess.run(
        ["sh", "-c", f"exec '{sys.executable}' -m sesame_core {arguments} {redirection}"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "HOME": str(home)},
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("arguments", COMMANDS)
def test_a_closed_output_is_one_line_and_an_error(arguments: str, home: Path) -> None:
    code, error = run(arguments, ">&-", home)
    assert (code, error.count("\n")) == (1, 1)
    assert error.endswith("standard output is closed\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", COMMANDS)
def test_a_full_disk_is_one_line_and_an_error(arguments: str, home: Path) -> None:
    code, error = run(arguments, ">/dev/full", home)
    assert (code, error.count("\n")) == (1, 1)
    assert error.endswith("No space left on device\n")


@pytest.mark.parametrize("arguments", COMMANDS)
def test_a_reader_that_has_closed_the_pipe_is_silent(arguments: str, home: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "sesame_core", *arguments.split()],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOME": str(home)},
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("redirection", [">&-", ">/dev/full"])
def test_a_server_that_cannot_answer_ends_with_one_line(redirection: str, home: Path) -> None:
    if redirection == ">/dev/full" and not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "fox", "version": "1"}}
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client})
    done = subprocess.run(
        ["sh", "-c", f"exec '{sys.executable}' -m sesame_core mcp {redirection}"],
        input=request + "\n",
        capture_output=True,
        text=True,
        env={**os.environ, "HOME": str(home)},
        check=False,
    )
    reason = "standard output is closed" if redirection == ">&-" else "No space left on device"
    assert (done.returncode, done.stderr) == (1, f"sesame: cannot write the answer: {reason}\n")


@pytest.mark.parametrize("redirection", ["2>&-", "<&-", "2>&- <&-"])
def test_closed_input_and_errors_do_not_matter(redirection: str, home: Path) -> None:
    assert run("index", redirection, home) == (0, "")


def test_errors_that_cannot_be_written_are_an_exit_code(home: Path) -> None:
    assert run("show nothing", "2>&-", home)[0] == 1
    if Path("/dev/full").exists():
        assert run("show nothing", "2>/dev/full", home)[0] == 1


def test_a_directory_that_was_deleted_is_no_traceback(home: Path) -> None:
    (home / "deleted").mkdir()
    script = f"cd '{home}/deleted' && rmdir '{home}/deleted' && '{sys.executable}' -P -m sesame_core search fox --cwd ."
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
