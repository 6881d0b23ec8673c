"""Writes a tool call as text: `tool: edit`, `path: …`, `old: …`, `new: …`.

Agents name the same argument differently; the table `FAMILIES` has the known tools.  For a known tool the significant
arguments are first, in a fixed order, and its numbers and switches are left out; for any other tool everything is
written.  Values are written decoded, never as JSON with escapes.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from sesame_core import ToolCall

#: Depth below which nested values are left out.
MAX_DEPTH = 16


class Field(NamedTuple):
    """A significant argument: its label in the text, and its names in the tools of agents."""

    label: str
    keys: tuple[str, ...]
    #: It is written on lines of its own even when it is a single line.
    is_block: bool = False


class Family(NamedTuple):
    """Tools with the same function."""

    fields: tuple[Field, ...]
    #: Its path argument is a file, not a directory to search.
    names_files: bool = False


_FILE = ("file_path", "path", "filePath", "absolute_path", "notebook_path", "filename")
_PATH = Field("path", _FILE)
_OLD = Field("old", ("old", "oldText", "old_text", "old_string", "old_str", "oldString", "search"))
_NEW = Field("new", ("new", "newText", "new_text", "new_string", "new_str", "newString", "replace"))
_CONTENT = Field("content", ("content", "contents", "text", "file_text"), is_block=True)
_DESCRIPTION = Field("description", ("description",))
_PROMPT = Field("prompt", ("prompt",))

_WRITE = Family((_PATH, _CONTENT), names_files=True)
_EDIT = Family((_PATH, _OLD, _NEW), names_files=True)
#: One of the `edits` of an edit; edits do not nest.
_ONE_EDIT = Family(_EDIT.fields)
_READ = Family((_PATH,), names_files=True)
_NOTEBOOK = Family((_PATH, Field("source", ("new_source",), is_block=True)), names_files=True)
_SHELL = Family((Field("command", ("command", "cmd", "script")), _DESCRIPTION))
_DIRECTORY = Field("path", (*_FILE, "dir_path"))
_SEARCH = Family((Field("pattern", ("pattern", "query", "regex")), _DIRECTORY, Field("glob", ("glob", "include"))))
_CODE = Family((Field("code", ("code",), is_block=True),))
_TASK = Family((_DESCRIPTION, _PROMPT))
_WEB = Family((Field("url", ("url",)), Field("query", ("query",)), _PROMPT))

#: By tool name, in lower case, without `_` and `-`.
FAMILIES = {
    **dict.fromkeys(("write", "create", "writefile", "createfile"), _WRITE),
    **dict.fromkeys(("edit", "multiedit", "editfile", "strreplace", "searchreplace", "replace"), _EDIT),
    **dict.fromkeys(("read", "readfile", "view", "viewfile"), _READ),
    **dict.fromkeys(("notebookedit", "notebookread"), _NOTEBOOK),
    **dict.fromkeys(("bash", "shell", "powershell", "runcommand", "execcommand", "runshellcommand"), _SHELL),
    **dict.fromkeys(("grep", "glob", "find", "ls", "grepsearch", "searchfilecontent", "listdirectory"), _SEARCH),
    "codemode": _CODE,
    **dict.fromkeys(("task", "agent", "invokeagent"), _TASK),
    **dict.fromkeys(("webfetch", "websearch", "googlewebsearch"), _WEB),
}
_UNKNOWN = Family((), names_files=True)

#: Types of arguments and nested values; `dict` is first because a check against an abstract class is slow.
_MAPPING = (dict, Mapping)
_NESTED = (dict, list, tuple, Mapping)
#: Arguments of known tools that only set the form of the result.
_STEERING = frozenset({"output_mode"})


def describe(call: ToolCall) -> tuple[str, tuple[str, ...]]:
    """Return the call as text, and the files that it names."""
    family = _family(call.name)
    arguments = _decoded(call.arguments)
    lines = [f"tool: {call.name}"]
    if call.via:
        lines.append(f"via: {call.via}")
    if not isinstance(arguments, _MAPPING):
        lines += _labelled("arguments", arguments)
    elif family is _UNKNOWN:
        lines += _all(arguments)
    else:
        lines += _significant(family, arguments)
    return "\n".join(lines), tuple(_files(arguments)) if family.names_files else ()


@functools.lru_cache
def _family(name: str) -> Family:
    return FAMILIES.get(name.lower().replace("_", "").replace("-", ""), _UNKNOWN)


def _decoded(arguments: Any) -> Any:
    """Return arguments decoded if they are a string of JSON."""
    if isinstance(arguments, str) and arguments.lstrip()[:1] in ("{", "["):
        try:
            return orjson.loads(arguments)
        except orjson.JSONDecodeError:
            return arguments
    return arguments


def _significant(family: Family, arguments: Mapping[Any, Any]) -> list[str]:
    """Write a known tool's arguments: its own fields first, then other strings."""
    lines: list[str] = []
    written = set(_STEERING)
    for field in family.fields:
        for key in field.keys:
            value = arguments.get(key)
            if value is not None:
                written.add(key)
                lines += _labelled(field.label, _joined(value), is_block=field.is_block)
                break
    for key, value in arguments.items():
        if key in written or (not isinstance(value, str) and not isinstance(value, _NESTED)):
            continue
        edits = _decoded(value) if key == "edits" and family is _EDIT else None
        if isinstance(edits, list) and all(isinstance(edit, Mapping) for edit in edits):
            for edit in edits:
                lines += _significant(_ONE_EDIT, edit)
        else:
            lines += _labelled(str(key), value)
    return lines


def _joined(value: Any) -> Any:
    """Return a command that is given as a list of words as one line."""
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return " ".join(value)
    return value


def _all(arguments: Mapping[Any, Any]) -> Iterator[str]:
    for key, value in arguments.items():
        yield from _labelled(str(key), value)


def _labelled(label: str, value: Any, *, indent: str = "", is_block: bool = False) -> list[str]:
    """Return the lines of `label: value`, the value on lines of its own when it has several; [] when it is empty."""
    if isinstance(value, str):
        text = value
    elif isinstance(value, _NESTED):
        nested = list(_nested(value, indent + "  "))
        return [f"{indent}{label}:", *nested] if nested else []
    else:
        text = _plain(value)
    if not text or text.isspace():
        return []
    if is_block or "\n" in text:
        return [f"{indent}{label}:", text]
    return [f"{indent}{label}: {text}"]


def _nested(value: Mapping[Any, Any] | Sequence[Any], indent: str) -> Iterator[str]:
    """Yield a nested value as indented lines, items of a list marked with `-`."""
    if len(indent) > 2 * MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _labelled(str(key), inner, indent=indent)
        return
    for item in value:
        if isinstance(item, _NESTED):
            lines = list(_nested(item, indent + "  "))
            if lines:
                yield f"{indent}- {lines[0].lstrip()}"
                yield from lines[1:]
        elif text := _plain(item):
            yield f"{indent}- {text}"


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)


def _files(arguments: Any) -> dict[str, None]:
    """Return the files that arguments name, in order, without duplicates."""
    found: dict[str, None] = {}
    if not isinstance(arguments, _MAPPING):
        return found
    for key in _FILE:
        path = arguments.get(key)
        if isinstance(path, str) and "://" not in path and "\n" not in path:
            found[path.strip().removeprefix("@")] = None
    edits = _decoded(arguments.get("edits"))
    if isinstance(edits, list):
        for edit in edits:
            if isinstance(edit, Mapping):
                found.update(_files({key: value for key, value in edit.items() if key != "edits"}))
    found.pop("", None)
    return found
