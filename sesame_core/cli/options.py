"""The options of the commands that are called most, declared once, and a parser that needs no typer.

Importing and running typer takes longer than a search.  So `search` and `status` are read from this table when
every word of the command line is certain; help, completion, abbreviations and mistakes are left to typer, whose
commands `app` builds from the same table.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ..dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Option:
    """One option: `--flag VALUE`, or a switch when its kind is bool."""

    name: str
    kind: type[str] | type[int] | type[bool]
    help: str
    #: Spellings beside `--name` with dashes; a switch's may be "--no-…", which turns it off.
    more: tuple[str, ...] = ()
    default: str | int | bool | None = None
    is_repeatable: bool = False
    #: Bounds of a number.
    least: int | None = None
    most: int | None = None

    @property
    def flag(self) -> str:
        """The long spelling."""
        return "--" + self.name.replace("_", "-")


@dataclass(frozen=True, slots=True)
class Command:
    """One command: where its function is, and what it takes."""

    name: str
    module: str
    options: tuple[Option, ...]
    #: Name, placeholder and help of the words that are no options; None when there are none.
    words: tuple[str, str, str] | None = None

    def run(self, values: dict[str, Any]) -> None:
        """Call the command's function, which has its name."""
        getattr(import_module(self.module, __package__), self.name)(**values)


JSON = Option("json", bool, "Print JSON.", default=False)

SEARCH = Command(
    "search",
    ".searching",
    (
        Option("cwd", str, "Only sessions in this directory or below it."),
        Option("repo", str, "Only sessions of this repository, or in a directory of this name."),
        Option("branch", str, "Only sessions on this git branch."),
        Option("after", str, "Last active then or later: 7d, 2026-11-01 …"),
        Option("before", str, "Last active then or earlier; a day counts whole."),
        Option("limit", int, "Results at most.", more=("-n",), default=10, least=1, most=1000),
        Option("offset", int, "Results to pass over.", default=0, least=0),
        Option("tools", bool, "Search only tool calls and their results.", default=False),
        Option("tool", str, "Search only calls of this tool."),
        Option("role", str, "Search only what has this role: user, assistant, tool, summary …"),
        Option("path", str, "Only sessions in which a tool call named this file."),
        Option("cmd", str, "Only sessions in which this command was run; its words in order."),
        Option("error", bool, "Only sessions in which something failed; with --tool, that tool.", default=False),
        Option("model", str, "Only sessions with this model, or a part of its name."),
        Option("workstation", str, "Only sessions of the workstation with this id."),
        Option("host", str, "Only sessions of the machine with this name."),
        Option("owner", str, "Only sessions that this person indexed."),
        Option("exclude", str, "Leave out this session; repeatable.", is_repeatable=True),
        Option("include_current", bool, "Do not leave out the session this was started from.", default=False),
        Option("agent", str, "Only sessions of this agent; repeatable.", is_repeatable=True),
        Option("all_kinds", bool, "Headless runs too.", default=False),
        Option("hits", int, "Passages of each session at most.", default=1, least=1, most=100),
        Option("context", int, "Show this much around each passage.", more=("-C",), least=0),
        Option("before_context", int, "Show this much before each passage.", more=("-B",), least=0),
        Option("after_context", int, "Show this much after each passage.", more=("-A",), least=0),
        Option("explain", bool, "Tell how the query was read and how scores came about.", default=False),
        JSON,
        Option("max_bytes", int, "Bytes of the JSON results at most.", least=0),
        Option("refresh", bool, "Index what changed first.", more=("--no-refresh",), default=True),
    ),
    words=("query", "[QUERY]...", 'Words, "a phrase", AND, OR, NOT, ( ), pre*, field:value; none or *: newest.'),
)
STATUS = Command("status", ".reporting", (JSON,))

COMMANDS = {command.name: command for command in (SEARCH, STATUS)}


def parse(command: Command, arguments: Sequence[str]) -> dict[str, Any] | None:
    """Return the command's values, by name, as typer would; None when typer must decide.

    :param arguments: what stands behind the command's name.
    """
    by_flag: dict[str, tuple[Option, bool]] = {}
    values: dict[str, Any] = {}
    for option in command.options:
        values[option.name] = [] if option.is_repeatable else option.default
        for flag in (option.flag, *option.more):
            by_flag[flag] = option, not flag.startswith("--no-")
    words: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            words += rest
        elif argument.startswith("-") and argument != "-":
            flag, equals, value = argument.partition("=")
            if flag not in by_flag:
                return None
            option, is_on = by_flag[flag]
            if equals and (option.kind is bool or not flag.startswith("--")):
                return None
            if option.kind is bool:
                values[option.name] = is_on
                continue
            given = _value(option, value if equals else next(rest, "-"))
            if given is None:
                return None
            if option.is_repeatable:
                values[option.name].append(given)
            else:
                values[option.name] = given
        else:
            words.append(argument)
    if command.words:
        values[command.words[0]] = words
    elif words:
        return None
    return values


def _value(option: Option, text: str) -> str | int | None:
    """Return an option's value; None when it is not certainly one."""
    if text.startswith("-"):
        return None
    if option.kind is str:
        return text
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        return None
    number = int(text)
    is_within = (option.least is None or number >= option.least) and (option.most is None or number <= option.most)
    return number if is_within else None
