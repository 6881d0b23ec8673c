"""Reads the output of a tool: its text without the lines that Codex puts before it, and whether the call failed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

from .values import mapping, string, texts

#: Most characters of a head.
_HEAD = 4096
_EXIT = re.compile(r"(?:Process exited with code|Exit code:) (-?\d+)")
_HEAD_LINE = re.compile(
    r"(?:Chunk ID: \S*|Wall time:? [\d.]+ seconds|Duration: [\d.]+ seconds|Original token count: \d+"
    r"|Total output lines: \d+|Process exited with code -?\d+|Exit code: -?\d+|Process running with session ID \S+"
    r"|Script (?:completed|failed|running with cell ID \S+)|Output:)[ \t]*(?:\r?\n|$)"
)
#: A command that the head repeats, with any number of lines.
_COMMAND = re.compile(r"Command: .*?\n(?=(?:Chunk ID|Wall time|Process exited|Exit code))", re.DOTALL)
#: Beginnings of outputs with which Codex itself says that a call failed.
_FAILED = re.compile(
    r"unsupported (?:custom tool )?call:|apply_patch verification failed|failed to parse function arguments"
    r"|[\w./-]+(?: \w+)? failed(?::| for `)|aborted by user|tool call error|patch rejected|execution error"
)
#: Outputs that say nothing.
_EMPTY = frozenset({"Plan updated", '{"resources":[]}', '{"message":"Wait completed.","timed_out":false}'})
#: Keys of an output in JSON with what an agent said; the others have ids and states.
_SAID = frozenset({"completed", "errored", "message", "result", "output", "text", "content"})


class Output(NamedTuple):
    """The output of a call."""

    text: str
    is_error: bool
    #: The id of the process that still runs, "" when it has ended.
    process: str = ""


_PROCESS = re.compile(r"^Process running with session ID (\S+)", re.MULTILINE)


def read_output(value: Any, *, is_about_agents: bool = False) -> Output:
    """Return the output in a record, which is a string, an object, or a list of parts.

    :param is_about_agents: the tool reports about other agents, as JSON with ids and what they said.
    """
    is_error = False
    if isinstance(value, dict) and "type" not in value:
        # Versions up to 0.50.
        is_error = value.get("success") is False
        value = value.get("content")
    text, code = _unwrapped("\n".join(texts(value)), is_about_agents=is_about_agents)
    text, head = _without_head(text)
    if head:
        # What is below it may be JSON in its turn.
        text, inner = _unwrapped(text, is_about_agents=is_about_agents)
        code = code or inner
    # What Codex itself says has no head; the output of a command may say anything.
    is_error = is_error or head.startswith("Script failed") or (not head and _FAILED.match(text) is not None)
    if exit_code := _EXIT.search(head):
        code = int(exit_code[1])
    running = _PROCESS.search(head)
    text = "" if text.strip() in _EMPTY else text.strip("\r\n")
    if code:
        text = f"exit code {code}\n{text}".rstrip()
    return Output(text, is_error or code != 0, running[1] if running else "")


def error_message(text: str) -> str:
    """Return the message in an error that is the JSON of a provider's answer; the text itself if it is none."""
    if (start := text.find('{"error":')) < 0:
        return text
    try:
        decoded, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return text
    error = decoded["error"]
    message = string(error if isinstance(error, dict) else {"message": error}, "message")
    return text[:start] + message + text[end:] if message else text


def _unwrapped(text: str, *, is_about_agents: bool) -> tuple[str, int]:
    """Return what an output in JSON says, and the exit code in it; the text itself if it has any other form."""
    if text.startswith('{"output":') and (decoded := _decoded(text)) is not None:
        code = mapping(decoded, "metadata").get("exit_code")
        return string(decoded, "output"), code if isinstance(code, int) else 0
    if text.startswith("{"):
        return _said(text, is_about_agents=is_about_agents), 0
    if text.startswith('[{"') and (found := texts(_parts(text))):
        return "\n".join(found), 0
    return text, 0


def _parts(text: str) -> list[Any]:
    """Return the parts of an output in JSON, as servers of tools send them; [] if it is anything else."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return []
    is_content = isinstance(value, list) and all(isinstance(part, dict) and "type" in part for part in value)
    return value if is_content else []


def _without_head(text: str) -> tuple[str, str]:
    """Return a text without the lines that Codex puts before an output, and these lines."""
    start = 0
    if command := _COMMAND.match(text, 0, _HEAD):
        start = command.end()
    first = start
    while line := _HEAD_LINE.match(text, start, start + _HEAD):
        start = line.end()
    if start == first:
        # Not a head: the output itself.
        return text, ""
    return text[start:], text[first:start]


def _decoded(text: str) -> dict[str, Any] | None:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def _said(text: str, *, is_about_agents: bool) -> str:
    """Return what an output in JSON says, decoded; the text itself if it has any other form."""
    decoded = _decoded(text)
    if decoded is None:
        return text
    if is_about_agents:
        return "\n".join(_leaves(decoded))
    result = decoded.get("result") if len(decoded) == 1 else None
    return result if isinstance(result, str) else text


def _leaves(value: Any, key: str = "", depth: int = 8) -> Iterator[str]:
    if isinstance(value, str):
        if key in _SAID and value.strip():
            yield value
    elif isinstance(value, dict) and depth:
        for name, inner in value.items():
            yield from _leaves(inner, name, depth - 1)
    elif isinstance(value, list) and depth:
        for inner in value:
            yield from _leaves(inner, key, depth - 1)
