"""Real Gemini CLI, without a terminal, with a model on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from . import npm

PACKAGE = "@google/gemini-cli@0.61.0"
#: Seconds to wait for a run.
PATIENCE = 120


@dataclass
class Model:
    """A server with the part of Gemini's protocol that Gemini CLI uses, and its next answers: lists of parts."""

    url: str = ""
    answers: list[list[dict[str, Any]]] = field(default_factory=list)

    def answer(self) -> list[dict[str, Any]]:
        return self.answers.pop(0) if self.answers else [{"text": "nothing to add"}]


def says(text: str) -> list[dict[str, Any]]:
    return [{"text": text}]


def calls(*made: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"functionCall": {"name": name, "args": args}} for name, args in made]


@contextmanager
def serving() -> Iterator[Model]:
    model = Model()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            if ":countTokens" in self.path:
                self._send("application/json", json.dumps({"totalTokens": 9}))
                return
            candidate = {"content": {"role": "model", "parts": model.answer()}, "index": 0, "finishReason": "STOP"}
            usage = {"promptTokenCount": 9, "candidatesTokenCount": 3, "totalTokenCount": 12}
            body = json.dumps({"candidates": [candidate], "usageMetadata": usage})
            if ":streamGenerateContent" in self.path:
                self._send("text/event-stream", f"data: {body}\n\n")
            else:
                self._send("application/json", body)

        def _send(self, kind: str, body: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        model.url = f"http://127.0.0.1:{server.server_address[1]}"
        yield model
        server.shutdown()
        thread.join()


def program() -> tuple[str, str]:
    """The command of Gemini CLI, for `node`."""
    node = npm.installed(npm.NODE) / ".bin" / "node"
    return str(node), str(npm.installed(PACKAGE) / "@google" / "gemini-cli" / "bundle" / "gemini.js")


def configure(home: Path) -> None:
    """Write settings with which it asks nothing and calls nobody."""
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    (home / ".gemini").mkdir(exist_ok=True)
    (home / ".gemini" / "settings.json").write_text(json.dumps(settings, indent=2))


def environment(model: Model) -> dict[str, str]:
    """The environment in which it asks nothing, with its own command and a Node on the path."""
    places = (npm.installed(PACKAGE) / ".bin", npm.installed(npm.NODE) / ".bin")
    return {
        # Where CI is set it draws no screen.
        **{name: value for name, value in os.environ.items() if name != "CI"},
        "GEMINI_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": model.url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "NO_COLOR": "1",
        "PATH": os.pathsep.join([*map(str, places), os.environ["PATH"]]),
    }


def run(model: Model, project: Path, *arguments: str, command: Sequence[str] = ()) -> str:
    """Run it in a project, and return what it prints.

    :param command: the command in place of `program`.
    """
    done = subprocess.run(
        [*(command or program()), *arguments],
        cwd=project,
        env=environment(model),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def prompt(model: Model, project: Path, text: str, *arguments: str, command: Sequence[str] = ()) -> str:
    return run(model, project, "-m", "gemini-2.5-flash", "-y", *arguments, "-p", text, command=command)
