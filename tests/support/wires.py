"""A model on this machine that speaks what agents speak: the APIs of Anthropic, OpenAI (both) and Gemini.

Its answers are a script: a text, or calls of tools by the end of their name, whatever the agent calls them.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

Call: TypeAlias = tuple[str, dict[str, Any]]
#: Fields of which each answer of one of Sesame's tools has one.
PARTS = {"results", "sessions", "resumeCommand", "passages", "chunks", "fixes", "ways"}
USAGE = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}


@dataclass
class Wires:
    """The server: what it was asked, and what it will answer."""

    url: str = ""
    #: The next answers; "ok" when there are none left.
    script: list[str | list[Call]] = field(default_factory=list)
    #: The bodies of the requests that declared the tools.
    asked: list[dict[str, Any]] = field(default_factory=list)
    #: Ends of names of tools: a request that declares none of them (a title, a summary) has no part in the script.
    tools: tuple[str, ...] = ()

    def answer(self, request: dict[str, Any]) -> str | list[Call]:
        """Return the next answer, with the tools' names in this agent."""
        names = declared(request)
        if not any(name.endswith(self.tools) for name in names):
            return "ok"
        self.asked.append(request)
        answer = self.script.pop(0) if self.script else "ok"
        if isinstance(answer, str):
            return answer
        return [(next(name for name in names if name.endswith(end)), given) for end, given in answer]

    def answers_of_tools(self) -> list[dict[str, Any]]:
        """Return the answers of Sesame's tools in the last request, each once, in order."""
        found = [value for text in strings(self.asked[-1]) if (value := _answer_in(text)) is not None]
        return list({json.dumps(value): value for value in found}.values())


def declared(request: Any) -> list[str]:
    """Return the names of the tools that a request declares, in any of the protocols."""
    names = []
    for tool in request.get("tools") or []:
        for one in [tool, *(tool.get("functionDeclarations") or []), *(tool.get("tools") or [])]:
            name = one.get("name") or (one.get("function") or {}).get("name")
            names += [name] if name else []
            if one is not tool and tool.get("type") == "namespace":
                names[-1] = f"{tool['name']}/{name}"
    return names


def strings(value: Any) -> Iterator[str]:
    """Yield every string in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from strings(one)


def _answer_in(text: str) -> dict[str, Any] | None:
    """Return the answer of a tool that is in a string, perhaps within other JSON or after a heading."""
    start = text.find('{"')
    if start < 0:
        return None
    with suppress(ValueError):
        value, _ = json.JSONDecoder().raw_decode(text[start:])
        if PARTS & value.keys():
            found: dict[str, Any] = value
            return found
        return next((found for one in strings(value) if (found := _answer_in(one)) is not None), None)
    return None


@contextmanager
def serving(*tools: str) -> Iterator[Wires]:
    """Run the server.

    :param tools: ends of the names of the tools that the script calls.
    """
    wires = Wires(tools=tools)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_HEAD(self) -> None:
            self._send("application/json", "")

        def do_GET(self) -> None:
            self._send(
                "application/json", '{"object": "list", "data": [{"id": "fake-1", "object": "model"}], "models": []}'
            )

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
            path = self.path.partition("?")[0]
            if "count" in path:  # tokens
                self._send("application/json", '{"input_tokens": 9, "totalTokens": 9}')
            elif path.endswith("/messages"):
                self._events(_anthropic(request, wires.answer(request)), named=True)
            elif path.endswith("/responses"):
                self._events(_responses(wires.answer(request)), named=True)
            elif path.endswith("/chat/completions"):
                self._events([*_chat(wires.answer(request)), "[DONE]"])
            elif path.endswith(":streamGenerateContent"):
                self._events([_gemini(wires.answer(request))])
            elif path.endswith(":generateContent"):
                self._send("application/json", json.dumps(_gemini(wires.answer(request))))
            else:
                self._send("application/json", "{}")

        def _events(self, events: list[Any], *, named: bool = False) -> None:
            lines = [
                (f"event: {one['type']}\n" if named else "")
                + f"data: {one if isinstance(one, str) else json.dumps(one)}\n\n"
                for one in events
            ]
            self._send("text/event-stream", "".join(lines))

        def _send(self, kind: str, body: str) -> None:
            with suppress(BrokenPipeError, ConnectionResetError):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body.encode())))
                self.end_headers()
                self.wfile.write(body.encode())

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        wires.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield wires
        finally:
            server.shutdown()
            thread.join()


_counted = iter(range(10**9))


def _ids(calls: list[Call]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(f"call_{next(_counted)}", name, given) for name, given in calls]


def _anthropic(request: dict[str, Any], answer: str | list[Call]) -> list[Any]:
    if isinstance(answer, str):
        blocks: list[tuple[dict[str, Any], dict[str, Any]]] = [
            ({"type": "text", "text": ""}, {"type": "text_delta", "text": answer})
        ]
    else:
        blocks = [
            (
                {"type": "tool_use", "id": f"toolu_{call}", "name": name, "input": {}},
                {"type": "input_json_delta", "partial_json": json.dumps(given)},
            )
            for call, name, given in _ids(answer)
        ]
    message = {
        "id": f"msg_{next(_counted)}",
        "type": "message",
        "role": "assistant",
        "model": request.get("model", "fake-1"),
        "content": [],
        "stop_reason": None,
        "usage": {"input_tokens": 9, "output_tokens": 1},
    }
    events: list[Any] = [{"type": "message_start", "message": message}]
    for index, (block, delta) in enumerate(blocks):
        events += [
            {"type": "content_block_start", "index": index, "content_block": block},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    stop = "end_turn" if isinstance(answer, str) else "tool_use"
    return [
        *events,
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
    ]


def _responses(answer: str | list[Call]) -> list[Any]:
    items: list[dict[str, Any]]
    if isinstance(answer, str):
        content = [{"type": "output_text", "text": answer}]
        items = [{"type": "message", "id": "m", "role": "assistant", "content": content}]
    else:
        items = []
        for call, name, given in _ids(answer):
            space, _, short = name.rpartition("/")
            item = {"type": "function_call", "id": f"f{call}", "call_id": call, "name": short}
            items.append({**item, "arguments": json.dumps(given), **({"namespace": space} if space else {})})
    usage = {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12}
    return [
        {"type": "response.created", "response": {"id": "r"}},
        *({"type": "response.output_item.done", "item": one, "output_index": n} for n, one in enumerate(items)),
        {"type": "response.completed", "response": {"id": "r", "output": items, "usage": usage}},
    ]


def _chat(answer: str | list[Call]) -> list[Any]:
    base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "fake-1"}
    delta: dict[str, Any] = {"role": "assistant", "content": answer if isinstance(answer, str) else None}
    if not isinstance(answer, str):
        delta["tool_calls"] = [
            {"index": n, "id": call, "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            for n, (call, name, given) in enumerate(_ids(answer))
        ]
    finish = "stop" if isinstance(answer, str) else "tool_calls"
    return [
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {**base, "choices": [], "usage": USAGE},
    ]


def _gemini(answer: str | list[Call]) -> Any:
    parts: list[Any]
    if isinstance(answer, str):
        parts = [{"text": answer}]
    else:
        parts = [{"functionCall": {"name": name, "args": given}} for name, given in answer]
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 3, "totalTokenCount": 12}
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0, "finishReason": "STOP"}
    return {"candidates": [candidate], "usageMetadata": usage}
