"""Real pi, controlled through its RPC mode and through a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import queue
import re
import select
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .model_server import Answers, ModelServer, serving

#: Seconds to wait for pi.
PATIENCE = 30
MODEL = ("--provider", "fake", "--model", "fake-1")
#: Dollars for a million tokens.
PRICES = {"input": 0.1, "output": 0.4, "cacheRead": 0, "cacheWrite": 0}

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]_P][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")


@contextmanager
def model(home: Path) -> Iterator[ModelServer]:
    """Run a model on this machine and configure it as pi's only one."""
    with serving(home / "llm") as server:
        provider = {
            "baseUrl": server.url,
            "api": "openai-completions",
            "apiKey": "none",
            "models": [{"id": "fake-1", "contextWindow": 128_000, "maxTokens": 4096, "cost": PRICES}],
        }
        agent = home / ".pi" / "agent"
        agent.mkdir(parents=True, exist_ok=True)
        (agent / "models.json").write_text(json.dumps({"providers": {"fake": provider}}))
        server.script = [Answers("as you say")]
        yield server


def environment() -> dict[str, str]:
    """The environment for pi: no network, no questions about versions."""
    return {
        **os.environ,
        "PI_OFFLINE": "1",
        "PI_SKIP_VERSION_CHECK": "1",
        "PI_TELEMETRY": "0",
        "TERM": "xterm-256color",
    }


class Rpc:
    """pi in RPC mode.

    :param settled: the event after which it takes the next prompt.
    """

    def __init__(self, command: Sequence[str], cwd: Path, settled: str) -> None:
        self._settled = settled
        self._count = 0
        self._lines: queue.Queue[dict[str, Any]] = queue.Queue()
        #: All events that pi has sent.
        self.said: list[dict[str, Any]] = []
        self._process = subprocess.Popen(
            [*command, "--mode", "rpc", *MODEL],
            cwd=cwd,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def __enter__(self) -> Rpc:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=PATIENCE)
        finally:
            self._process.kill()
            self._process.wait()
            self._reader.join()
            self._process.stdout.close()

    def steer(self, text: str) -> None:
        """Send a prompt while an earlier one is still being answered."""
        self._send({"type": "prompt", "message": text, "streamingBehavior": "steer"})

    def start(self, text: str) -> None:
        """Send a prompt and do not wait for the answer."""
        self._send({"type": "prompt", "message": text})

    def wait_for(self, event: str) -> None:
        """Wait for an event."""
        self._until(lambda one: one["type"] == event, {})

    def wait_for_status(self) -> str:
        """Wait until an extension shows something in the status line, and return it."""
        text: str = self._until(lambda one: bool(one.get("statusText")), {})["statusText"]
        return text

    def settle(self) -> None:
        """Wait until pi takes the next prompt."""
        self.wait_for(self._settled)

    def prompt(self, text: str, **answers: str) -> list[dict[str, Any]]:
        """Send a prompt or a command, wait until it is done, and return the events in between.

        :param answers: choices for pi's questions: the prefix of an option, by the method that asks.
        """
        first = len(self.said)
        self._count += 1
        name = f"p{self._count}"
        self._send({"id": name, "type": "prompt", "message": text})
        is_command = text.startswith("/")
        self._until(lambda one: one.get("id") == name if is_command else one["type"] == self._settled, answers)
        return self.said[first:]

    def ask(self, kind: str) -> Any:
        """Return pi's response to a command of its protocol."""
        self._count += 1
        name = f"p{self._count}"
        self._send({"id": name, "type": kind})
        return self._until(lambda one: one.get("id") == name, {})["data"]

    def _send(self, value: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(value).encode() + b"\n")
        self._process.stdin.flush()

    def _until(self, is_last: Callable[[dict[str, Any]], bool], answers: dict[str, str]) -> dict[str, Any]:
        while True:
            one = self._lines.get(timeout=PATIENCE)
            self.said.append(one)
            if one.get("method") in answers:
                chosen = next(option for option in one["options"] if answers[one["method"]] in option)
                self._send({"type": "extension_ui_response", "id": one["id"], "value": chosen})
            if is_last(one):
                return one

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(json.loads(line))


def told(said: Sequence[dict[str, Any]], method: str = "notify") -> list[str]:
    """What an extension showed to the user."""
    return [one["message" if method == "notify" else "text"] for one in said if one.get("method") == method]


class Terminal:
    """pi on a terminal of 140 columns and 40 rows."""

    def __init__(self, command: Sequence[str], cwd: Path) -> None:
        self._screen, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
        self._process = subprocess.Popen(
            [*command, *MODEL],
            cwd=cwd,
            env=environment(),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self._bytes = b""

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=PATIENCE)
        finally:
            self._process.kill()
            self._process.wait()
            os.close(self._screen)

    def type(self, text: str) -> None:
        """Press keys; earlier output no longer counts."""
        self._bytes = b""
        for key in text:
            os.write(self._screen, key.encode())
            time.sleep(0.01)  # many characters at once would be a paste

    @property
    def shown(self) -> str:
        """The output since the last key."""
        return _ESCAPE.sub("", self._bytes.decode("utf-8", "replace"))

    def wait_for(self, text: str) -> None:
        """Wait until a string is shown."""
        end = time.monotonic() + PATIENCE
        while text not in self.shown:
            left = end - time.monotonic()
            assert left > 0, f"{text!r} is not shown:\n{self.shown}"
            if select.select([self._screen], [], [], left)[0]:
                self._bytes += os.read(self._screen, 65_536)
