"""Reads what Codex says of a thread that it has imported: which session it came from, and its calls of tools as texts.

The list of imports in Codex's home names the file that each thread came from; the file's name is the session's id.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from . import home_of
from .calls import arguments_in
from .values import mapping, objects, string

#: The list of imports, in Codex's home.
LIST = "external_agent_session_imports.json"
#: The answer that Codex puts after what it has imported.
END = "<EXTERNAL SESSION IMPORTED>"
#: Calls and outputs of tools, as texts; and what stands for an image.
_NOTE = re.compile(
    r"\[external_agent_tool_call: (?P<name>[^\]\n]*)\]\n(?P<given>.*?)\n?\[/external_agent_tool_call\]"
    r"|\[external_agent_tool_result(?P<error>: error)?\]\n(?P<output>.*?)\n?\[/external_agent_tool_result\]"
    r"|\[external unsupported block: [^\]\n]*\]",
    re.DOTALL,
)
#: Arguments of a call that have a line of their own, by their name there: their name in the call.
_ARGUMENTS = {"description": "description", "command": "command", "file": "file_path"}
_ARGUMENT = re.compile(rf"^({'|'.join(_ARGUMENTS)}): ", re.MULTILINE)


class Origin(NamedTuple):
    """The session that a thread was imported from."""

    session: str
    title: str


class Call(NamedTuple):
    """A call of a tool in an imported answer."""

    name: str
    arguments: dict[str, Any]


class Output(NamedTuple):
    """The output of a call, which it does not name."""

    text: str
    is_error: bool


def origin_of(path: Path, thread: str) -> Origin | None:
    """Return the session that a thread was imported from; None for a thread of Codex's own."""
    home = home_of(path)
    if home is None:
        return None
    file = home / LIST
    try:
        about = file.stat()
    except OSError:
        return None  # nothing was ever imported
    return _origins(str(file), about.st_mtime_ns, about.st_size).get(thread.lower())


@lru_cache(maxsize=4)
def _origins(file: str, mtime_ns: int, size: int) -> dict[str, Origin]:
    """Return what each thread was imported from; read once as long as the file does not change."""
    try:
        with open(file, "rb") as opened:
            listed = json.load(opened)
    except (OSError, ValueError, RecursionError):
        return {}  # deleted meanwhile, or being written
    found: dict[str, Origin] = {}
    for record in objects(mapping({"list": listed}, "list"), "records"):
        # The path may be one of Windows.
        session = re.split(r"[/\\]", string(record, "source_path"))[-1].rpartition(".")[0]
        if session:
            title = " ".join(string(record, "title").split())
            found[string(record, "imported_thread_id").lower()] = Origin(session, title)
    return found


def parts_of(text: str) -> Iterator[str | Call | Output]:
    """Yield what an imported answer consists of, in order."""
    position = 0
    for note in _NOTE.finditer(text):
        yield from _said(text[position : note.start()])
        position = note.end()
        if note["name"] is not None:
            yield Call(note["name"], _arguments(note["given"]))
        elif note["output"] is not None:
            yield Output(note["output"], note["error"] is not None)
    yield from _said(text[position:])


def _said(text: str) -> Iterator[str]:
    text = text.strip()
    if text and text != END:
        yield text


def _arguments(given: str) -> dict[str, Any]:
    """Return the arguments of a call: each on lines of its own, or all as JSON, which may be cut."""
    if given.startswith("input: "):
        return arguments_in(given.removeprefix("input: "))
    found = list(_ARGUMENT.finditer(given))
    ends = [*(one.start() for one in found[1:]), len(given)]
    return {_ARGUMENTS[one[1]]: given[one.end() : end].rstrip("\n") for one, end in zip(found, ends, strict=False)}
