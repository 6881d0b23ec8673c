"""The words that identify a command: its program and subcommand, without what only runs it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .programs import (
    CONSOLES,
    DEEPER,
    DEPTHS,
    GRAMMAR,
    INTERPRETERS,
    READERS,
    RUNNER_OPTIONS,
    RUNNERS,
    VALUED,
    WRAPPERS,
)

#: A plain word, such as a subcommand: `test`, `test:ci`, `css:build`, `pre-commit`.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:[:.-][A-Za-z0-9_]+)*")
_DIRECTORY = re.compile(r"[/\\]")
_VERSION = re.compile(r"(?<=[a-z])\d+(?:\.\d+)*\Z")
#: A variable in front of a command.
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")


def program_of(word: str) -> str:
    """Return the name of a program without its directory, version and suffix: `/usr/bin/python3.11` is `python`."""
    name = (_DIRECTORY.split(word)[-1] if "/" in word or "\\" in word else word) or word
    name = name.removesuffix(".exe")
    return _VERSION.sub("", name) if name.startswith(("python", "pip", "node", "ruby")) else name


def unwrapped(words: list[str]) -> list[str]:
    """Return a command's words without variables and wrappers in front."""
    while words:
        program = program_of(words[0])
        if ASSIGNMENT.match(words[0]) or words[0] in GRAMMAR:
            words = words[1:]
        elif program == "command" and words[1:2] in (["-v"], ["-V"]):
            return ["which", *words[2:]]
        elif program in WRAPPERS and len(words) > 1:
            rest = _without_options(words[1:], WRAPPERS[program].split())
            if program in ("timeout", "gtimeout") and rest:
                rest = rest[1:]
            words = rest
        elif (program, *words[1:2]) in RUNNERS and len(words) > 2:
            rest = words[words.index("--") + 1 :] if "--" in words else _without_options(words[2:], RUNNER_OPTIONS)
            words = rest or words[:0]
        else:
            return words
    return words


def _without_options(words: list[str], valued: Sequence[str]) -> list[str]:
    place = 0
    while place < len(words) and words[place].startswith("-") and words[place] != "-":
        place += 2 if words[place] in valued else 1
    return words[place:]


def name_of(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words that identify a command: the program, then its subcommand or the script that it runs."""
    program = words[0]
    rest = list(words[1:])
    if program in INTERPRETERS:
        if rest[:1] == ["-m"] and len(rest) > 1:
            # `python -m pytest` is `pytest`.
            return name_of([rest[1], *rest[2:]])
        script = next((word for word in rest if not word.startswith("-")), "")
        file = re.split(r"[/\\]", script)[-1]
        if file in CONSOLES:
            after = [word for word in rest[rest.index(script) + 1 :] if not word.startswith("-")]
            return (program, file, *after[:1])
        is_file = re.fullmatch(r"[\w./\\~@+-]+\.\w{1,5}", script) is not None and "-c" not in rest and "-e" not in rest
        return (program, file) if is_file else (program,)
    if program in READERS:
        return (program,)
    name, depth = [program], DEPTHS.get(program, 2)
    valued = VALUED.get(program, "").split()
    while rest and len(name) < depth:
        word = rest.pop(0)
        if word in valued and rest:
            rest.pop(0)
            continue
        if word.startswith(("-", "+")):
            continue
        if not _PLAIN.fullmatch(word) or (program not in DEPTHS and not word.replace("-", "").isalpha()):
            break
        name.append(word)
        depth += word in DEEPER
    return tuple(name)
