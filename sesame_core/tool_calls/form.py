"""The form in which formatters write a tool call: the tool, then labelled values, as docs/hooks.md has it.

Calls of tools that a formatter does not know have the names that agents give their arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..text.readable import arguments_of, is_shell

#: The role of each label.  Those of the default formatter are first.
LABELS = {
    **dict.fromkeys(("path", "file_path", "filePath", "absolute_path", "notebook_path", "filename", "file"), "path"),
    **dict.fromkeys(("abs_path", "absolutePath", "notebookPath", "fileName", "file_name", "filepath", "uri"), "path"),
    **dict.fromkeys(("target_file", "targetFile", "relative_path", "relative_workspace_path", "src", "dst"), "path"),
    **dict.fromkeys(("source_path", "destination_path", "source_file", "destination_file", "dest"), "path"),
    **dict.fromkeys(("old_path", "new_path", "old_file", "new_file", "oldPath", "newPath"), "path"),
    **dict.fromkeys(("old", "oldText", "old_text", "old_string", "old_str", "oldString", "search"), "old"),
    **dict.fromkeys(("new", "newText", "new_text", "new_string", "new_str", "newString", "insert_text"), "new"),
    **dict.fromkeys(("content", "contents", "file_text", "fileText"), "content"),
    **dict.fromkeys(("source", "new_source"), "source"),
    **dict.fromkeys(("patch", "patchText", "input", "diff", "unified_diff"), "patch"),
    **dict.fromkeys(("command", "cmd", "script"), "command"),
    "code": "code",
    "action": "action",
    **dict.fromkeys(("text", "code_edit", "insert", "insert_line", "insertLine", "replace", "replacement"), "change"),
    **dict.fromkeys(("replacements", "operations", "old_lines", "new_lines", "old_content", "new_content"), "change"),
}
#: Roles of what a call has that changes a file.
CHANGES = frozenset(("old", "new", "content", "source", "patch", "action", "change"))
_LABEL = re.compile(rf"^( *)(- )?({'|'.join(LABELS)}):(?: ([^\n]*))?$", re.MULTILINE)
#: A list of changes, whose fields are indented.
_LIST = re.compile(r"^(?:edits|files|changes|operations):$", re.MULTILINE)
#: Lines at the end of a call that say something about it: a formatter writes them after what is changed.
_SAYING = re.compile(r"\n(?:instruction|explanation|cell_id|edit_mode|cell_type): ")
_ABOUT = re.compile(rf"(?:{_SAYING.pattern}.*)+\Z")
_NEXT_NEW = re.compile(r"^(?:  (?:- |  )?)?new(?:Text|_text|_string|_str|String)?:(?: |$)", re.MULTILINE)
#: What may follow a command, and how many of these.
MOST_AFTER = 4
_AFTER = re.compile(r"\n(?:description|workdir|cwd|justification|sandbox_permissions|timeout)(?:: .*|:)\Z")
#: A command in Markdown, and in JSON, as some agents write it into sessions of others.
_MARKDOWN = re.compile(
    r"[^`]*?(?:`(?P<line>[^`\n][^\n]*)`[ \t]*(?:\n|\Z)|^```\w+\n(?P<block>.*?)(?:^```|\Z))", re.DOTALL | re.MULTILINE
)
_JSON = re.compile(r'"(?:cmd|command)"\s*:\s*"((?:\\.|[^"\\])*)', re.DOTALL)


class Field(NamedTuple):
    """A labelled value of a call."""

    role: str
    lines: list[str]
    #: Its value is on the line of its label.
    is_inline: bool
    #: It is in a list.
    is_nested: bool
    #: Where it begins in the text, with its label, and where it ends.
    start: int
    end: int


def names(text: str) -> list[str]:
    """Return the files that a call's arguments name, in order; of a command of a shell none."""
    return [clean(field.lines[0]) for field in fields(text) if field.role == "path" and field.lines]


def clean(path: str) -> str:
    """Return a path without what agents write around it."""
    return path.strip().removeprefix("file://").removeprefix("@").strip("'\"")


def command_in(text: str, tool: str | None) -> str | None:
    """Return the command in the text of a call; None if the tool is not a shell or names none."""
    if not is_shell(tool):
        return None
    label, _, rest = arguments_of(text).partition(":")
    if label == "command" and rest[:1] in ("", " ", "\n"):
        for _ in range(MOST_AFTER):
            rest = rest[: after.start()] if (after := _AFTER.search(rest)) else rest
        return rest.strip() or None
    if label == "text" and (found := _MARKDOWN.match(rest)):
        return (found["line"] or found["block"] or "").strip() or None
    if label == "arguments" and (found := _JSON.search(rest)):
        return _unescaped(found[1]).strip() or None
    return None


def _unescaped(value: str) -> str:
    """Return a string of JSON, as it is written if it was cut in an escape."""
    import json

    try:
        return str(json.loads(f'"{value}"', strict=False))
    except ValueError:
        return value.replace("\\n", "\n").replace('\\"', '"')


def fields(text: str) -> Iterator[Field]:
    """Yield the labelled values of a call that have a role."""
    if _SAYING.search(text):  # few texts do, and to tell takes a tenth of the time
        text = _ABOUT.sub("", text)
    has_list = _LIST.search(text) is not None
    last_new = max((found.start() for found in _NEXT_NEW.finditer(text)), default=-1) if "old" in text else -1
    has_path = False
    last: re.Match[str] | None = None
    for match in _LABEL.finditer(text, text.find("\n") + 1 or len(text)):
        if _begins(match, last, has_list, has_path, last_new):
            if last is not None:
                yield _field(last, match.start() - 1)
            has_path = has_path or LABELS[match[3]] == "path"
            last = match
    if last is not None:
        yield _field(last, len(text))


def _field(label: re.Match[str], end: int) -> Field:
    is_inline = label[4] is not None
    below = label.string[label.end() + 1 : end]
    lines = [label[4]] if is_inline else below.split("\n") if label.end() < end else []
    return Field(LABELS[label[3]], lines, is_inline, _is_nested(label), label.start(), end)


def _is_nested(label: re.Match[str]) -> bool:
    return bool(label[1] or label[2])


def _begins(match: re.Match[str], last: re.Match[str] | None, has_list: bool, has_path: bool, last_new: int) -> bool:
    """Return whether a line that looks like a label is one, and not a line of the value before."""
    role, is_nested = LABELS[match[3]], _is_nested(match)
    if is_nested and not has_list:
        return False
    if last is None or last[4] is not None:
        return True
    if match.start() <= last.end() + 1:
        return False  # a label without a value below it has no lines
    if role == "path":
        return (is_nested and bool(match[2])) or not has_path
    before = LABELS[last[3]]
    if before == "old":
        return role == "new"
    if before == "new":
        return role == "old" and last_new > match.start()
    return bool(match[2]) and is_nested and role == "old"
