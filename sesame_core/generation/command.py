"""Programs as language models: a prompt on standard input, the answer on standard output.

An agent's own command line is one, `claude -p` or `pi -p`, and has its keys already.  How an agent lets the model be
asked that it talks to itself, it says in its environment, and nobody else needs to know.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import ModelError

#: Environment variable in which an agent offers its model: a JSON list, the words of the command that asks it.
VARIABLE = "SESAME_AGENT_MODEL"


def agent_command() -> tuple[str, ...]:
    """Return the command that asks the model of the agent that started Sesame.

    :raises ModelError: no agent offers one, or what it offers is no command.
    """
    text = os.environ.get(VARIABLE)
    if not text:
        raise ModelError("no agent offers its model here; in pi, what sesame integrate pi installs does")
    try:
        command = json.loads(text)
    except ValueError:
        command = None
    if not isinstance(command, list) or not command or not all(isinstance(word, str) for word in command):
        raise ModelError(f"{VARIABLE} is no JSON list of the words of a command")
    return tuple(command)


def ask_command(
    command: Sequence[str], prompt: str, *, seconds: float, directory: Path
) -> tuple[str, Mapping[str, Any]]:
    """Return what a program answers, and what that took, if it says so.

    It does in the last line of its standard error output, a JSON object of any of `model`, `inputTokens`,
    `outputTokens` and `cost` (dollars).

    :param seconds: after which it is ended, with the programs that it started.
    :param directory: where it runs; a place without files that an agent would take for instructions.
    :raises ModelError: there is no such program, it takes longer, or its exit code is not 0.
    """
    program = shutil.which(command[0])
    if program is None:
        raise ModelError(f"there is no program {command[0]!r}")
    try:
        process = subprocess.Popen(
            [program, *command[1:]],
            cwd=directory,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:  # ValueError: an argument that no program can be given
        raise ModelError(f"{command[0]!r} does not start: {error}") from error
    with process:
        try:
            out, err = process.communicate(prompt.encode("utf-8", "replace"), timeout=seconds)
        except BaseException as error:  # Ctrl-C, too: the program ends with whoever asked, who gets to know why
            _end(process)
            if isinstance(error, subprocess.TimeoutExpired):
                raise ModelError(f"no answer within {seconds:g} seconds") from None
            raise
    said, took = _told(err.decode("utf-8", "replace"))
    if process.returncode:
        raise ModelError(said or f"{command[0]!r} ended with {process.returncode}")
    return out.decode("utf-8", "replace"), took


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program at once, where the system can with those that it started."""
    if sys.platform == "win32":
        process.kill()
        return
    with suppress(ProcessLookupError):  # it ended just now
        os.killpg(process.pid, signal.SIGKILL)


def _told(text: str) -> tuple[str, Mapping[str, Any]]:
    """Return what a program complains of, and what an answer took, from its standard error output."""
    text = text.rstrip()
    rest, _, last = text.rpartition("\n")
    try:
        took = json.loads(last)
    except ValueError:
        took = None
    return (rest, took) if isinstance(took, dict) else (text, {})
