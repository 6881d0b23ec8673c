"""The picker on a key of a shell: the text that a shell reads at its start."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from ..errors import QueryError

#: The shells, each with the file of this name in `shell`.
SHELLS = ("bash", "fish", "zsh")
#: The key, unless another one is given.  It has no meaning in any of the three shells; Ctrl-R, the history, has.
KEY = "alt-j"
#: How each shell writes a key with Alt, and one with Ctrl.
_WRITTEN = {
    "bash": (r"\e{}", r"\C-{}"),
    "fish": (r"\e{}", r"\c{}"),
    "zsh": ("^[{}", "^{}"),
}


def start_of(shell: str, command: Sequence[str], key: str = KEY) -> str:
    """Return what a shell reads at its start.

    :param command: the words that start Sesame.
    :param key: `alt-j`, `ctrl-g`; `none` binds none.
    :raises QueryError: the shell is not known, or the key cannot be bound.
    """
    if shell not in SHELLS:
        raise QueryError(f"no shell {shell!r}: use {', '.join(SHELLS)}")
    text = (Path(__file__).parent / "shell" / f"sesame.{shell}").read_text(encoding="utf-8")
    return text.replace("{program}", " ".join(map(shlex.quote, command))).replace("{key}", _written(shell, key))


def _written(shell: str, key: str) -> str:
    if key == "none":
        return ""
    match = re.fullmatch(r"(alt|ctrl)-([a-z])", key.lower())
    # With Ctrl these are Tab, Enter and Ctrl-C.
    if match is None or key.lower() in ("ctrl-c", "ctrl-i", "ctrl-j", "ctrl-m"):
        raise QueryError(f"{key!r} cannot be bound: use alt- or ctrl- and a letter, such as ctrl-g, or none")
    return _WRITTEN[shell][match[1] == "ctrl"].format(match[2])
