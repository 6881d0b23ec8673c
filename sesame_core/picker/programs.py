"""The programs to which the picker lends its terminal, pager and editor, and the clipboard of the terminal."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from typing import TYPE_CHECKING

from ..errors import SesameError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..types.index import Chunk, StoredSession
    from .screen import Screen

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
    "hx": "",
    "subl": "",
    "zed": "",
}
#: Bytes of a file that are checked for being text.
HEAD = 4096


def copy(screen: Screen, text: str) -> None:
    """Let the terminal put a text into its clipboard (OSC 52), also over ssh."""
    import base64

    screen.write(f"\x1b]52;c;{base64.b64encode(text.encode('utf-8', 'replace')).decode()}\x07")


def show(screen: Screen, transcript: str, position: int | None) -> None:
    """Show a transcript in the pager, at a chunk.

    :raises SesameError: the pager cannot be started.
    """
    pager = _named("PAGER")
    if not pager or os.path.basename(pager[0]) == "cat":
        pager = ["less"]  # the picker comes back at once, over what `cat` has written
    line = 1
    if position is not None:
        line = next((n for n, text in enumerate(transcript.split("\n"), 1) if text.startswith(f"→{position} ")), 1)
    # A text that fits into the screen stays, too, until a key ends it.
    options = ["-+F", f"+{line}g"] if os.path.basename(pager[0]) == "less" else []
    _run(screen, [*pager, *options], "PAGER", transcript)


def edit(screen: Screen, stored: StoredSession, chunk: Chunk | None, transcript: Callable[[], str]) -> None:
    """Open a session's file in the editor, at the record of a chunk; its transcript if the file is gone or not text.

    :raises SesameError: the editor cannot be started.
    """
    editor = _named("VISUAL") or _named("EDITOR") or ["vi"]
    if _is_text(stored.path):
        line = _line_of(stored.path, chunk.entry_id) if chunk and chunk.entry_id else None
        _run(screen, [*editor, *_at(editor[0], stored.path, line)], "EDITOR")
        return
    with tempfile.NamedTemporaryFile("w", prefix="sesame-", suffix=".txt", encoding="utf-8", errors="replace") as file:
        file.write(transcript())
        file.flush()
        _run(screen, [*editor, file.name], "EDITOR")


def _named(variable: str) -> list[str]:
    """Return the command that an environment variable names; nothing if it names none.

    :raises SesameError: it has a quote that is not closed.
    """
    try:
        return shlex.split(os.environ.get(variable, ""))
    except ValueError as error:
        raise SesameError(f"${variable} is not a command: {error}") from error


def _at(program: str, path: str, line: int | None) -> Sequence[str]:
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


def _is_text(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            head = file.read(HEAD)
    except OSError:
        return False
    # Of compressed files, the first bytes are no UTF-8; the last character may be cut.
    return b"\0" not in head and "\ufffd" not in head.decode("utf-8", "replace")[:-4]


def _line_of(path: str, entry_id: str) -> int | None:
    """Return the number of the first line with a record's id."""
    wanted = entry_id.encode("utf-8", "replace")
    with open(path, "rb") as file:
        return next((number for number, line in enumerate(file, 1) if wanted in line), None)


def _run(screen: Screen, command: Sequence[str], variable: str, text: str | None = None) -> None:
    """Run a program on the terminal until it ends.

    :param variable: the environment variable that names it, for the error.
    """
    data = None if text is None else text.encode("utf-8", "replace")
    with screen.lent() as terminal:
        try:
            process = subprocess.Popen(command, stdin=terminal if data is None else subprocess.PIPE, stdout=terminal)
        except OSError as error:
            raise SesameError(f"cannot start {command[0]!r}: {error.strerror or error}; set ${variable}") from error
        process.communicate(data)
