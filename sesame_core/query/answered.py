"""Queries that another command answers better: a pasted error, and a command of a shell.

A hint is only of use when it is right, so that a query in words has none, whatever it is about: `go test failures` and
`error handling in the parser` are topics, `go test ./...` and `error: no such table` are not.
"""

from __future__ import annotations

import re
import shlex

#: A line that begins as an error does, or says it in the middle as compilers and shells do, and has words behind it.
_ERROR = re.compile(
    r"\A\s*(?:(?:[\w.]*(?:Error|Exception)|error|fatal|panic|ERROR|FATAL)(?:\[\w+\])?:|npm ERR!) \S+ .*\S"
    r"|: (?:fatal )?error(?: [A-Z]{1,4}\d+)?: \S+ "
    r"|\A\S+(?: line \d+)?: (?:\S+: )?(?:command not found|No such file or directory|Permission denied)\b"
    r"|\ATraceback \(most recent call last\):"
)
#: Programs with the subcommands that run something; those of the other ones are files and options alone.
RUNNING = {
    "cargo": "test build run check clippy fmt bench doc nextest",
    "go": "test build run vet generate",
    "npm": "test ci install start run",
    "pnpm": "test install start run dev build lint",
    "yarn": "test install start run dev build lint",
    "bun": "test install run build",
    "mise": "run",
    "uv": "run sync",
    "poetry": "run install",
    "mix": "test compile format",
    "dotnet": "test build run",
    "gradle": "test build",
    "./gradlew": "test build",
    "mvn": "test package verify",
    "terraform": "plan apply init",
    "kubectl": "apply rollout",
    "pytest": "",
    "make": "",
}
_NAME = re.compile(r"[\w:.-]+")
_ARGUMENT = re.compile(r"-.+|.*[/=].*|\.+|\S+\.\w{1,4}")


def better(text: str) -> str | None:
    """Return the hint that names the command for a query; None if a search answers it."""
    if _ERROR.search(text):
        return "An error: for what was done after it: sesame fix ERROR"
    if _is_command(text):
        return f"A command: for how it was run: sesame how {text.strip()}"
    return None


def _is_command(text: str) -> bool:
    words = text.split()
    program, *rest = words
    verbs = RUNNING.get(program)
    if verbs is None:
        return False
    if verbs:
        if not rest or rest.pop(0) not in verbs.split():
            return False
        if words[1] == "run" and rest and _NAME.fullmatch(rest[0]):
            rest.pop(0)
    elif not rest:
        return False
    # Words behind it are arguments, and not what it is about.
    return all(_ARGUMENT.fullmatch(word) for word in rest) and shlex.join(words) == " ".join(words)
