"""Follows a page step by step, as a reader would: writes its files and runs its commands."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

#: A file of the page, with its name above it, or a block of commands with their output.
_BLOCK = re.compile(r"^(?:`([^`\n]+)`:\n```\w+|```console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
#: Numbers that differ from run to run: times, and the number of the kit's tests.
_VARIABLE = re.compile(r"\d+(?= (?:passed|skipped))|(?<= in )\d+\.\d+(?= ?s)")
#: A line of the page that stands for any number of lines.
ANYTHING = "…"


@dataclass(frozen=True)
class File:
    """A file to write."""

    path: str
    text: str


@dataclass(frozen=True)
class Command:
    """A command, and what it prints according to the page."""

    line: str
    output: str

    def prints(self, output: str) -> bool:
        """Return whether the output is that on the page."""
        lines = (".*" if line == ANYTHING else re.escape(line) for line in _stable(self.output))
        return re.fullmatch("\n".join(lines), "\n".join(_stable(output)), re.DOTALL) is not None


def _stable(output: str) -> list[str]:
    return [_VARIABLE.sub("0", line.rstrip()) for line in output.splitlines()]


def steps(page: Path) -> list[File | Command]:
    """Return the page's steps, in order."""
    found: list[File | Command] = []
    for path, text in _BLOCK.findall(page.read_text(encoding="utf-8")):
        found += [File(path, text)] if path else [Command(*command) for command in _COMMAND.findall(text)]
    return found


def follow(todo: list[File | Command], cwd: Path, environment: Mapping[str, str]) -> list[tuple[Command, str]]:
    """Run the steps in one shell, and return each command with its output.

    :raises AssertionError: a command failed.
    """
    cwd.mkdir()
    printed = cwd.with_name("printed")
    printed.mkdir()
    script = ["set -e"]
    for number, step in enumerate(todo):
        if isinstance(step, File):
            # Unquoted, since a name may begin with `~`.
            script += [
                f"mkdir -p $(dirname {step.path})",
                f"cat >{step.path} <<'END OF FILE'",
                step.text + "END OF FILE",
            ]
        else:
            script += ["{", step.line, f"}} >{printed}/{number}"]
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)], cwd=cwd, env=environment, stderr=subprocess.PIPE, text=True, timeout=600
    )
    ran = {
        number: (step, (printed / str(number)).read_text(encoding="utf-8"))
        for number, step in enumerate(todo)
        if isinstance(step, Command) and (printed / str(number)).exists()
    }
    if done.returncode:
        command, output = list(ran.values())[-1]
        raise AssertionError(f"$ {command.line}\n{output}{done.stderr}")
    return list(ran.values())
