"""A local server with the part of OpenAI's protocol that Sesame uses to call language models."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclass
class Answers:
    """One response of the server."""

    text: str = ""
    #: Tool calls, with their arguments.
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    #: Further usage that the provider reports, in addition to the tokens.
    usage: dict[str, Any] = field(default_factory=dict)
    status: int = 200
    #: Seconds before the response starts.
    delay: float = 0.0
    #: The response waits for this event.
    after: threading.Event | None = None
    finish: str = "stop"


@dataclass
class ModelServer:
    """The received requests, and the next responses; the last one is repeated."""

    url: str = ""
    script: list[Answers] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)

    @property
    def prompts(self) -> list[str]:
        """The text of each request's last message."""
        return [request["messages"][-1]["content"] for request in self.asked]

    def next(self, request: dict[str, Any]) -> Answers:
        self.asked.append(request)
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


def configured(home: Path, *models: Any, **settings: Any) -> None:
    """Write models and other settings to the user's config.jsonc."""
    file = home / ".config" / "sesame" / "config.jsonc"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"models": models, **settings}))


def known_to_llm(llm_home: Path, url: str, *names: str) -> None:
    """Register models of a server with llm."""
    llm_home.mkdir(parents=True, exist_ok=True)
    models = [f"- model_id: {name}\n  model_name: {name}\n  api_base: {url}\n" for name in names]
    (llm_home / "extra-openai-models.yaml").write_text("".join(models))


@contextmanager
def serving(llm_home: Path, *names: str) -> Iterator[ModelServer]:
    """Run such a server and register its models with llm, by their names."""
    server = ModelServer()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = server.next(request)
            time.sleep(answer.delay)
            if answer.after:
                answer.after.wait(60)
            with suppress(BrokenPipeError, ConnectionResetError):  # the client did not wait
                self._say(request, answer)

        def _say(self, request: dict[str, Any], answer: Answers) -> None:
            if answer.status != 200:
                body = json.dumps({"error": {"message": answer.text, "type": "server_error"}}).encode()
                self.send_response(answer.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            usage = {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050, **answer.usage}
            base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": request["model"]}
            delta: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
            if answer.calls:
                delta["tool_calls"] = [
                    {
                        "index": number,
                        "id": f"call_{len(server.asked)}_{number}",
                        "type": "function",
                        "function": {"name": name, "arguments": json.dumps(given)},
                    }
                    for number, (name, given) in enumerate(answer.calls)
                ]
            for event in (
                {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
                {
                    **base,
                    "choices": [
                        {"index": 0, "delta": {}, "finish_reason": "tool_calls" if answer.calls else answer.finish}
                    ],
                },
                {**base, "choices": [], "usage": usage},
            ):
                self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
            self.wfile.write(b"data: [DONE]\n\n")

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server.url = f"http://127.0.0.1:{http.server_port}/v1"
    known_to_llm(llm_home, server.url, *names)
    thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
