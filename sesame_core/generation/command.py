"""Uses programs as language models: the prompt on standard input, the answer on standard output.

An agent's own command line is one, `claude -p` or `pi -p`, and has its keys already.  An agent sets the command that
calls its current model in an environment variable, so no other code needs to know the agent.
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

#: Environment variable in which an agent offers its model: a JSON list, the words of the command that calls it.
VARIABLE = "SESAME_AGENT_MODEL"


def agent_command() -> tuple[str, ...]:
    """Return the command that calls the model of the agent that started Sesame.

    :raises ModelError: no agent offers one, or the variable is not a command.
    """
    text = os.environ.get(VARIABLE)
    if not text:
        raise ModelError("no agent offers its model here; for pi, run: sesame integrate pi")
    try:
        command = json.loads(text)
    except ValueError:
        command = None
    if not isinstance(command, list) or not command or not all(isinstance(word, str) for word in command):
        raise ModelError(f"{VARIABLE} is not a JSON list of the words of a command")
    return tuple(command)


def ask_command(
    command: Sequence[str], prompt: str, *, seconds: float, directory: Path
) -> tuple[str, Mapping[str, Any]]:
    """Run a program and return its answer, with tokens and cost if it reports them.

    A program reports them in the last line of its standard error output, a JSON object with any of `model`,
    `inputTokens`, `outputTokens` and `cost` (dollars).

    :param seconds: timeout, after which it is killed with the programs that it started.
    :param directory: working directory; one without files that an agent would read as instructions.
    :raises ModelError: the program does not exist, it times out, or its exit code is not 0.
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
    except (OSError, ValueError) as error:  # ValueError: an argument that cannot be passed to a program
        raise ModelError(f"{command[0]!r} cannot be started: {error}") from error
    with process:
        try:
            out, err = process.communicate(prompt.encode("utf-8", "replace"), timeout=seconds)
        except BaseException as error:  # Ctrl-C too: the program ends with its caller, which gets the reason
            _end(process)
            if isinstance(error, subprocess.TimeoutExpired):
                raise ModelError(f"no answer within {seconds:g} seconds") from None
            raise
    said, took = _parse_stderr(err.decode("utf-8", "replace"))
    if process.returncode:
        raise ModelError(said or f"{command[0]!r} failed with exit code {process.returncode}")
    return out.decode("utf-8", "replace"), took


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and, if the system supports it, the programs that it started."""
    if sys.platform == "win32":
        process.kill()
        return
    with suppress(ProcessLookupError):  # it has just ended
        os.killpg(process.pid, signal.SIGKILL)


def _parse_stderr(text: str) -> tuple[str, Mapping[str, Any]]:
    """Return a program's error message and its usage report, from its standard error output."""
    text = text.rstrip()
    rest, _, last = text.rpartition("\n")
    try:
        took = json.loads(last)
    except ValueError:
        took = None
    return (rest, took) if isinstance(took, dict) else (text, {})
