"""The pager: shows output that is longer than the screen."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from shutil import which
from typing import TYPE_CHECKING

from ..api.opening import pager
from .terminal import write

if TYPE_CHECKING:
    from ..rendering.screen.style import Screen

#: Options of `less`, when nobody has set others: marks are kept, one screen is left alone.
OPTIONS = "FRX"


def page(pieces: Iterable[str], screen: Screen) -> None:
    """Print pieces of an output, each ends a line; from the first one on that no longer fits, with the pager.

    There is none when its name is empty or `cat`.

    :raises SesameError: its name is not a command.
    """
    waiting = iter(pieces)
    first, rows = [], 0
    for piece in waiting:
        first.append(piece)
        rows += piece.count("\n") + 1
        if rows >= screen.height:
            break
    else:
        write("\n".join(first))
        return
    command = _pager()
    if not command:
        for piece in (*first, *waiting):
            write(piece)
        return
    environment = {"LESS": OPTIONS, "LESSCHARSET": "utf-8", **os.environ}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, env=environment, encoding="utf-8", errors="replace"
    ) as process:
        assert process.stdin is not None
        # The reader has seen enough; the pager, not Sesame, is what Ctrl-C is for.
        with suppress(BrokenPipeError, KeyboardInterrupt):
            for piece in (*first, *waiting):
                process.stdin.write(piece + "\n")
        with suppress(BrokenPipeError):
            process.stdin.close()
        while True:
            try:
                process.wait()
            except KeyboardInterrupt:
                continue
            return


def _pager() -> list[str]:
    command = pager()
    return [] if command == ["cat"] or not command or which(command[0]) is None else command
