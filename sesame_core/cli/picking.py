"""`sesame pick`, the picker, which `sesame` alone starts on a terminal; `sesame init`, its key in a shell."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from .options import Argument, Command, Option
from .sessions import start
from .stopping import STOPPED
from .terminal import write


def pick(query: Sequence[str], *, print_: bool) -> None:
    """Let a person choose a session, and resume it; exit with 130 when none is chosen.

    :param print_: print the command that resumes it instead.
    """
    from ..picker.app import pick as choose

    chosen = choose(" ".join(query), is_printing=print_)
    if chosen is None:
        raise SystemExit(STOPPED)
    if not print_:
        start(chosen)
    from ..api.resuming import shell_line

    write(shell_line(chosen))


def is_wanted() -> bool:
    """Return whether `sesame` alone starts the picker: on a terminal that can show it."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    from ..picker.screen import unusable

    return unusable(os.environ) is None


def init(shell: str, *, key: str) -> None:
    """Print what a shell reads at its start, so that a key opens the picker."""
    from ..picker.shells import start_of

    write(start_of(shell, _program(), key).rstrip("\n"))


def _program() -> list[str]:
    """Return the words that start this Sesame in a shell: its name alone, where that finds it."""
    import shutil

    from ..installation import started_by

    command = started_by(sys.argv[0], [sys.executable, "-P", "-m", "sesame_core"])
    found = shutil.which("sesame")
    return ["command", "sesame"] if found and [os.path.abspath(found)] == command else command


COMMANDS = (
    Command(
        "pick",
        pick,
        "Choose a session in a list that follows what you type, and resume it; `sesame` alone does the same.",
        (Argument("query", "[QUERY]...", "What is typed at first.", is_repeatable=True),),
        (Option("print_", bool, "Print the command that resumes the session instead of running it.", default=False),),
        examples=("sesame pick", "sesame pick flaky test --print"),
    ),
    Command(
        "init",
        init,
        "Print what your shell reads at its start, so that a key opens the picker.",
        (Argument("shell", "SHELL", "bash, fish or zsh.", is_required=True),),
        (Option("key", str, "Another key: alt- or ctrl- and a letter, or none.", default="alt-j"),),
        examples=("sesame init zsh", "sesame init bash --key alt-s"),
        is_brief=True,
    ),
)
