"""A shell command as a noun: the words that identify it, without directories, variables, pipes and wrappers.

    cd web && CI=1 npx vitest run 2>&1 | tail -5     runs `vitest run`, in web
    sudo docker compose -f dev.yml up -d             runs `docker compose up`

A command is split as a shell splits it, as far as a reader needs: quotes, substitutions, heredocs and comments are
understood, and nothing is expanded.
"""

from __future__ import annotations

import functools
import posixpath
import re
from collections.abc import Sequence

from ..dataclass import dataclass
from ..text.readable import is_shell
from .programs import (
    CONSOLES,
    DEEPER,
    DEPTHS,
    GRAMMAR,
    INTERPRETERS,
    KEYWORDS,
    LOOKING,
    READERS,
    RUNNERS,
    RUNNING,
    SHELL_OPTIONS,
    VALUED,
    WRAPPERS,
)
from .shell_words import split_commands

#: Characters of a command that are read: longer ones write files.
LONGEST = 4_000
#: Arguments that mean everything.
EVERYTHING = frozenset((".", "./...", "..."))
#: A plain word, such as a subcommand: `test`, `test:ci`, `css:build`, `pre-commit`.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:[:.-][A-Za-z0-9_]+)*")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_VERSION = re.compile(r"(?<=[a-z])\d+(?:\.\d+)*\Z")
#: The argument of a shell's call in the text of its chunk, and what may follow it (`sesame_formatter_default`).
_ARGUMENT = re.compile(r"\Atool: (\S+)\n(?:via: .*\n)?command:[ \n]")
_AFTER = re.compile(r"\n(?:description|workdir|cwd|justification|sandbox_permissions|timeout)(?:: .*|:)\Z")


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a shell: what one program was given."""

    #: The program, without a directory, and its arguments, without quotes; no variables, wrappers and redirections.
    words: tuple[str, ...]
    #: The words that identify it: the program, and its subcommand.
    name: tuple[str, ...]
    #: The directory that a `cd` before it went to; "" if there was none.
    directory: str = ""
    #: As it was given: with wrappers, and the program's directory.
    given: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The command as one line, without variables and redirections."""
        return " ".join(word if word and not re.search(r"\s", word) else f'"{word}"' for word in self.given)

    @property
    def targets(self) -> frozenset[str]:
        """The arguments that are neither options nor part of the name: files, directories, packages."""
        return frozenset(word for word in self.words if not word.startswith("-")) - frozenset(self.name)

    @property
    def is_looking(self) -> bool:
        """Whether it only shows something."""
        program, rest = self.name[0], " ".join(self.name[1:])
        if program == "sed":
            return not any(word.startswith("-i") or word == "--in-place" for word in self.words)
        return program in READERS or program == "cd" or rest in LOOKING.get(program, ())


def command_in(text: str, tool: str | None) -> str | None:
    """Return the command in the text of a call's chunk; None if the tool is not a shell or names none."""
    if not is_shell(tool):
        return None
    found = _ARGUMENT.match(text)
    if found is None:
        return None
    rest = text[found.end() :]
    while after := _AFTER.search(rest):
        rest = rest[: after.start()]
    return rest.strip() or None


@functools.lru_cache(maxsize=4096)
def commands(text: str) -> tuple[Command, ...]:
    """Return the commands of a line or script of a shell, in order; those in substitutions are not counted."""
    found: list[Command] = []
    directory = ""
    for given in split_commands(text[:LONGEST]):
        words = _unwrapped(given)
        program = _program(words[0]) if words else ""
        if not words or program in KEYWORDS:
            continue
        if (script := _script(program, words)) and script != text:
            inner = commands(script)
            found += (Command(one.words, one.name, _joined(directory, one.directory), one.given) for one in inner)
            continue
        if program in ("cd", "pushd", "chdir", "Set-Location") and len(words) > 1:
            directory = "" if words[1] == "-" else _joined(directory, words[1])
            continue
        words = [program, *words[1:]]
        found.append(Command(tuple(words), _name(words), directory, _as_given(given)))
        if program == "ssh" and len(words) > 2 and " " in words[-1] and words[-1] != text:
            # What runs on another machine is a command, too; its directory is there.
            found += commands(words[-1])
    return tuple(found)


def doing(text: str) -> tuple[Command, ...]:
    """Return the commands that do something; all, if they only look."""
    found = commands(text)
    return tuple(one for one in found if not one.is_looking) or found


def sameness(one: Sequence[Command], other: Sequence[Command]) -> int:
    """Return how far two calls run the same.

    3 is the same program on the same, 2 the same program, 1 another one on the same files, 0 none of these.

    A wrapper is no difference: `rtk bun test` is `bun test`.
    """
    best = 0
    for a in one:
        for b in other:
            a, b = _without_wrapper(a, b), _without_wrapper(b, a)
            if a.name == b.name:
                best = max(best, 3 if a.targets == b.targets or not b.targets.isdisjoint(EVERYTHING) else 2)
            elif any(len(target) > 3 and ("/" in target or "." in target) for target in a.targets & b.targets):
                best = max(best, 1)
    return best


def _without_wrapper(one: Command, other: Command) -> Command:
    """Return a command without the program before it, if it is then another one."""
    end = 1 + len(other.name)
    return Command(one.words[1:], other.name) if one.words[1:end] == other.name else one


def _joined(directory: str, inside: str) -> str:
    """Return a directory in another one, unless it is absolute."""
    if not directory or not inside or inside.startswith(("/", "~", "$", "\\")) or inside[1:2] == ":":
        return inside or directory
    return posixpath.normpath(posixpath.join(directory, inside))


def _as_given(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a command without variables and words of the shell in front."""
    place = 0
    while place < len(words) - 1 and (_ASSIGNMENT.match(words[place]) or words[place] in GRAMMAR):
        place += 1
    return tuple(words[place:])


def _script(program: str, words: Sequence[str]) -> str:
    """Return what `bash -lc` is given; a list of words that was joined has lost its quotes."""
    option = SHELL_OPTIONS.get(program)
    if option is None or len(words) < 3 or not re.fullmatch(option, words[1], re.IGNORECASE):
        return ""
    return words[2] if " " in words[2] else " ".join(words[2:])


def _program(word: str) -> str:
    """Return the name of a program without its directory, version and suffix: `/usr/bin/python3.11` is `python`."""
    name = re.split(r"[/\\]", word)[-1] or word
    name = name.removesuffix(".exe")
    return _VERSION.sub("", name) if name.startswith(("python", "pip", "node", "ruby")) else name


def _unwrapped(words: list[str]) -> list[str]:
    """Return a command's words without variables and wrappers in front."""
    while words:
        program = _program(words[0])
        if _ASSIGNMENT.match(words[0]) or words[0] in GRAMMAR:
            words = words[1:]
        elif program == "command" and words[1:2] in (["-v"], ["-V"]):
            return ["which", *words[2:]]
        elif program in WRAPPERS and len(words) > 1:
            rest = _without_options(words[1:], WRAPPERS[program].split())
            if program in ("timeout", "gtimeout") and rest:
                rest = rest[1:]
            words = rest
        elif (program, *words[1:2]) in RUNNERS and len(words) > 2:
            rest = words[words.index("--") + 1 :] if "--" in words else _without_options(words[2:], RUNNING)
            words = rest or words[:0]
        else:
            return words
    return words


def _without_options(words: list[str], valued: Sequence[str]) -> list[str]:
    place = 0
    while place < len(words) and words[place].startswith("-") and words[place] != "-":
        place += 2 if words[place] in valued else 1
    return words[place:]


def _name(words: Sequence[str]) -> tuple[str, ...]:
    program = words[0]
    rest = list(words[1:])
    if program in INTERPRETERS:
        if rest[:1] == ["-m"] and len(rest) > 1:
            # `python -m pytest` is `pytest`.
            return _name([rest[1], *rest[2:]])
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
