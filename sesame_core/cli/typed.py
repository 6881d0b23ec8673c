"""Runs a command line with typer: one that the lean parser is not certain of, or that is wrong."""

from __future__ import annotations

import os
from collections.abc import Sequence

from .app import app

#: Shells for which typer makes a script.
SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")


def run(arguments: Sequence[str]) -> str | None:
    """Run a command line; return what is wrong with it, on one line, None if it ran.

    :raises SystemExit: it ended with an exit code.
    """
    if len(arguments) == 2 and arguments[0] == "--show-completion":
        return _completion(arguments[1])
    try:
        # In a terminal of its own, typer would print an error as three lines.
        code = app(args=list(arguments), standalone_mode=False)
    except Exception as error:
        from .usage import is_usage_error, usage_error

        if type(error).__name__ == "Abort":
            raise SystemExit(130) from None
        if not is_usage_error(error):
            raise
        if not arguments:
            error.show()  # type: ignore[attr-defined]  # the help
            raise SystemExit(2) from None
        return usage_error(error, arguments)
    if code:
        raise SystemExit(code)
    return None


def _completion(shell: str) -> str | None:
    """Print the script of a shell, which need not be the one that Sesame runs in."""
    if shell not in SHELLS:
        return f"no completion for {shell!r}: there is one for {', '.join(SHELLS)}"
    os.environ["_SESAME_COMPLETE"] = f"source_{shell}"
    app(args=[], prog_name="sesame")
    return None
