"""The programs to which the picker lends its terminal, pager and editor, and the clipboard of the terminal."""

from __future__ import annotations

import os
import subprocess
import tempfile
from typing import TYPE_CHECKING

from ..api.opening import at, editor, is_text, line_of, pager
from ..errors import SesameError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..types.index import Chunk, StoredSession
    from .screen import Screen


def copy(screen: Screen, text: str) -> None:
    """Let the terminal put a text into its clipboard (OSC 52), also over ssh."""
    import base64

    screen.write(f"\x1b]52;c;{base64.b64encode(text.encode('utf-8', 'replace')).decode()}\x07")


def show(screen: Screen, transcript: str, position: int | None) -> None:
    """Show a transcript in the pager, at a chunk.

    :raises SesameError: the pager cannot be started.
    """
    command = pager()
    if not command or os.path.basename(command[0]) == "cat":
        command = ["less"]  # the picker comes back at once, over what `cat` has written
    line = 1
    if position is not None:
        line = next((n for n, text in enumerate(transcript.split("\n"), 1) if text.startswith(f"→{position} ")), 1)
    # A text that fits into the screen stays, too, until a key ends it.
    options = ["-+F", f"+{line}g"] if os.path.basename(command[0]) == "less" else []
    _run(screen, [*command, *options], "PAGER", transcript)


def edit(screen: Screen, stored: StoredSession, chunk: Chunk | None, transcript: Callable[[], str]) -> None:
    """Open a session's file in the editor, at the record of a chunk; its transcript if the file is gone or not text.

    :raises SesameError: the editor cannot be started.
    """
    command = editor()
    if is_text(stored.path):
        line = line_of(stored.path, chunk.entry_id) if chunk and chunk.entry_id else None
        _run(screen, [*command, *at(command[0], stored.path, line)], "EDITOR")
        return
    with tempfile.NamedTemporaryFile("w", prefix="sesame-", suffix=".txt", encoding="utf-8", errors="replace") as file:
        file.write(transcript())
        file.flush()
        _run(screen, [*command, file.name], "EDITOR")


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
