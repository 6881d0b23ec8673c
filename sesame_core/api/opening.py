"""The programs that a person has chosen: the pager, and the editor, which opens a session's file at a record."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence

from ..errors import SesameError

#: Editors that take `+LINE FILE`, and those that take `FILE:LINE`, with the option for that.
PLUS = (
    "vi",
    "vim",
    "nvim",
    "view",
    "gvim",
    "nano",
    "pico",
    "emacs",
    "emacsclient",
    "kak",
    "micro",
    "joe",
    "jed",
    "less",
    "most",
)
COLON = {
    "code": "--goto",
    "code-insiders": "--goto",
    "codium": "--goto",
    "cursor": "--goto",
    "windsurf": "--goto",
    "hx": "",
    "helix": "",
    "subl": "",
    "zed": "",
}
#: Bytes of a file that are checked for being text.
HEAD = 4096


def named(variable: str) -> list[str]:
    """Return the command that an environment variable names; nothing if it names none.

    :raises SesameError: it has a quote that is not closed.
    """
    try:
        return shlex.split(os.environ.get(variable, ""))
    except ValueError as error:
        raise SesameError(f"${variable} is not a command: {error}") from error


def pager() -> list[str]:
    """Return the command of the pager that `SESAME_PAGER` names, else `PAGER`, else `less`; nothing if it is empty.

    :raises SesameError: it has a quote that is not closed.
    """
    chosen = next((name for name in ("SESAME_PAGER", "PAGER") if name in os.environ), None)
    return named(chosen) if chosen else ["less"]


def editor() -> list[str]:
    """Return the command of the editor that `VISUAL` or `EDITOR` names, else `vi`."""
    return named("VISUAL") or named("EDITOR") or ["vi"]


def at(program: str, path: str, line: int | None) -> Sequence[str]:
    """Return the arguments that open a file at a line, as far as the editor is known to have such."""
    name = os.path.basename(program)
    path = os.path.abspath(path)
    if line is None:
        return [path]
    if name in PLUS:
        return [f"+{line}", path]
    if name in COLON:
        return [*filter(None, [COLON[name]]), f"{path}:{line}"]
    return [path]


def is_text(path: str) -> bool:
    """Return whether a file can be read, and is text."""
    try:
        with open(path, "rb") as file:
            head = file.read(HEAD)
    except OSError:
        return False
    # Of compressed files, the first bytes are no UTF-8; the last character may be cut.
    return b"\0" not in head and "\ufffd" not in head.decode("utf-8", "replace")[:-4]


def line_of(path: str, entry_id: str) -> int | None:
    """Return the number of the line with a record: the first one that has its id as its own, else that mentions it."""
    wanted = entry_id.encode("utf-8", "replace")
    # Records before it may mention it under another name, such as a snapshot of the files that it changes.
    own = re.compile(rb'"(?:id|uuid)"\s*:\s*"' + re.escape(wanted) + b'"')
    mentioned = None
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if wanted in line:
                if own.search(line):
                    return number
                mentioned = mentioned or number
    return mentioned


def refusal(path: str) -> str | None:
    """Return why a session's file cannot be opened; None if it can."""
    if os.path.isdir(path):
        return f"{path} is a directory"
    if os.path.isfile(path):
        return None if is_text(path) else f"{path} is not text"
    above = os.path.dirname(path)
    if os.path.isfile(above):
        return f"the session is a row of a database: {above}"
    return f"{path} does not exist any more"
