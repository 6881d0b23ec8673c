"""The server itself: how it starts, what it says, how it ends."""

from __future__ import annotations

import errno
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ..picker.terminal import SESAME, Terminal
from ..support.mcp_client import ends_within
from ..support.web_client import served


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_told_to_end_ends_and_leaves_no_file(indexed_sessions: Path, number: signal.Signals) -> None:
    with served(opens=True, BROWSER="true") as server, server.stranger() as stranger:
        page = indexed_sessions / ".local" / "share" / "sesame" / f"web-{server.port}.html"
        assert stranger.get("/").status_code == 401
        until = time.monotonic() + 30
        while not page.exists() and time.monotonic() < until:
            time.sleep(0.02)
        assert page.exists()
        server.process.send_signal(number)
        assert ends_within(server.process, 30)
        assert not page.exists()
        assert server.process.returncode in (-signal.SIGTERM, 130)
        assert server.process.stderr is not None
        assert "Traceback" not in server.process.stderr.read()


def test_without_the_extra_the_command_that_adds_it_is_said(home: Path) -> None:
    code = "import sys; sys.modules['jinja2'] = None; from sesame_core.cli import main; main()"
    ran = subprocess.run([sys.executable, "-c", code, "web"], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (1, "")
    (line,) = ran.stderr.splitlines()
    assert line.startswith("sesame: the page needs a package that is not installed (jinja2): ")
    assert "[web]" in line or "web" in line.rpartition(": ")[2]


def test_an_address_in_use_is_said(home: Path, cli: Callable[..., Any]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        ran = cli("web", "--no-open", "--port", port)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"sesame: cannot listen on 127.0.0.1:{port}: {os.strerror(errno.EADDRINUSE)}\n"


def test_enter_in_the_terminal_prints_a_link_for_another_browser(indexed_sessions: Path) -> None:
    with Terminal([*SESAME, "web", "--no-open"], columns=160) as terminal:
        terminal.wait("The link opens one browser")
        terminal.send("\r")
        terminal.wait("Another browser: ")
        links = re.findall(r"(http://127\.0\.0\.1:\d+)/#(\S+)", terminal.text)
        assert len({token for _, token in links}) == 2
        for url, token in links:
            for status in (303, 401):
                assert httpx2.post(f"{url}/enter", data={"secret": token}).status_code == status


def test_a_password_is_made_for_its_owner_alone_and_everywhere_has_a_link(home: Path) -> None:
    file = home / "password"
    with served("--host", "0.0.0.0", "--password-file", str(file)) as server:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert server.url == f"http://localhost:{server.port}"
        assert server.process.stderr is not None
        said = [server.process.stderr.readline() for _ in range(2)]
        assert said[0] == f"Visitors need the password; a new password is in {file}\n"
        assert said[1].startswith("Other machines reach this page without encryption")
        with server.visitor(token=file.read_text().strip()) as visitor:
            assert visitor.get("/").status_code == 200
    file.write_text("short")
    with (
        pytest.raises(AssertionError, match="must be 22 or more plain characters"),
        served("--password-file", str(file)),
    ):
        pass


def test_what_is_written_while_the_page_is_open_is_found(indexed_sessions: Path) -> None:
    from ..support.transcripts import pi_session

    with served() as server, server.visitor() as visitor:
        assert visitor.get("/api/search?q=quagga").json()["total"] == 0
        pi_session("new-fox", "a quagga is new")
        until = time.monotonic() + 30
        while (found := visitor.get("/?q=quagga").text).count('class="hit"') == 0 and time.monotonic() < until:
            time.sleep(0.1)
        assert "/s/new-fox" in found
