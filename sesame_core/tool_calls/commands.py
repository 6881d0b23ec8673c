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
from collections.abc import Iterator, Sequence

from ..dataclass import dataclass, replace
from .command_names import ASSIGNMENT, name_of, program_of, unwrapped
from .programs import (
    GRAMMAR,
    KEYWORDS,
    LOOKING,
    READERS,
    SHELL_OPTIONS,
)
from .shell_words import Simple, Written, split_commands

#: Characters of a command that are read.
LONGEST = 100_000
#: Scripts in one another that are read: `ssh box "sudo bash -c '…'"`.
DEEPEST = 3
#: Arguments that mean everything.
EVERYTHING = frozenset((".", "./...", "..."))


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
    #: Files into which its output goes, and that are its input.
    written: tuple[Written, ...] = ()
    read: tuple[str, ...] = ()
    #: Texts that are its input.
    bodies: tuple[str, ...] = ()
    #: Its output is the input of the next one.
    is_piped: bool = False
    #: A quote in it has no end.
    is_cut: bool = False
    #: It is in a substitution.
    is_inner: bool = False

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


@functools.lru_cache(maxsize=4096)
def commands(text: str) -> tuple[Command, ...]:
    """Return the commands of a line or script of a shell, in order; those in substitutions are not counted."""
    return tuple(one for one in all_commands(text) if one.words and not one.is_inner)


@functools.lru_cache(maxsize=256)
def all_commands(text: str) -> tuple[Command, ...]:
    """Return the commands of a text, also those in substitutions, and redirections of none, which have no words."""
    return tuple(_commands(text[:LONGEST], 0))


def _commands(text: str, depth: int) -> Iterator[Command]:
    directory = ""
    for one in split_commands(text):
        words = unwrapped(one.words)
        program = program_of(words[0]) if words else ""
        if depth < DEEPEST:
            for inside in one.inner:
                for inner in _commands(inside, depth + 1):
                    yield replace(inner, directory=joined(directory, inner.directory), is_inner=True)
        script = _script(program, words) or _script_of_input(program, words, one.bodies)
        if script and depth < DEEPEST:
            for inner in _commands(script, depth + 1):
                yield replace(inner, directory=joined(directory, inner.directory))
            words, program = [], ""
        elif program in ("cd", "pushd", "chdir", "Set-Location") and len(words) > 1:
            directory = "" if words[-1] == "-" else joined(directory, words[-1])
            words = []
        elif program in KEYWORDS:
            words = []
        else:
            words = [program, *words[1:]] if words else []
        if words or one.written or one.read or one.bodies:
            yield _command(one, words, directory)
        if program == "ssh" and len(words) > 2 and " " in words[-1] and depth < DEEPEST:
            # What runs on another machine is a command, too; its directory is there.
            yield from _commands(words[-1], depth + 1)


def _command(one: Simple, words: Sequence[str], directory: str) -> Command:
    return Command(
        words=tuple(words),
        name=name_of(words) if words else (),
        directory=directory,
        given=_as_given(one.words),
        written=tuple(one.written),
        read=tuple(one.read),
        bodies=tuple(one.bodies),
        is_piped=one.is_piped,
        is_cut=one.is_cut,
    )


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


def joined(directory: str, inside: str) -> str:
    """Return a path in a directory, unless it is absolute."""
    if not directory or not inside or inside.startswith(("/", "~", "$", "\\")) or inside[1:2] == ":":
        return inside or directory
    return posixpath.normpath(posixpath.join(directory, inside))


def _as_given(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a command without variables and words of the shell in front."""
    place = 0
    while place < len(words) - 1 and (ASSIGNMENT.match(words[place]) or words[place] in GRAMMAR):
        place += 1
    return tuple(words[place:])


def _script(program: str, words: Sequence[str]) -> str:
    """Return what `bash -lc` is given; a list of words that was joined has lost its quotes."""
    option = SHELL_OPTIONS.get(program)
    if option is None or len(words) < 3 or not re.fullmatch(option, words[1], re.IGNORECASE):
        return ""
    return words[2] if " " in words[2] else " ".join(words[2:])


def _script_of_input(program: str, words: Sequence[str], bodies: Sequence[str]) -> str:
    """Return the script that a shell is given as its input: `bash <<EOF`."""
    if not bodies or program not in SHELL_OPTIONS or any(not word.startswith("-") for word in words[1:]):
        return ""
    return bodies[0]
