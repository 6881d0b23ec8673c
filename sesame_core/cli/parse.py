"""A parser of command lines that does not need typer.

Importing and running typer takes longer than a search.  So a command line is parsed here when every word of it is
certain; help, completion, abbreviations and errors are left to typer, whose commands `app` makes from the same table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .options import Command, Kind, Option

#: Digits of the longest number that is certain.
DIGITS = 9

#: Commands whose argument is text, which may begin with a dash.
TEXTUAL = ("search", "fix", "how")

_OPTION_WITH_VALUE = re.compile(r"--[a-z-]+=")
#: An excluded word, phrase or group; options with one dash have one letter, perhaps with a number after it.
_EXCLUDED_WORD = re.compile(r"-(?:[^\W\d_]{2}|[(\"])")


def with_dashed_queries(arguments: Sequence[str]) -> list[str]:
    """Return a command line in which queries that start with a dash come after `--`.

    An argument with a space in it, such as "--prune --map negative tests", is a query, not an option; so is an
    excluded word, `-draft`.
    """
    given = list(arguments)
    if not given or given[0] not in TEXTUAL or "--" in given:
        return given
    queries = [
        a
        for a in given
        if _EXCLUDED_WORD.match(a) or (a.startswith("-") and " " in a.strip() and not _OPTION_WITH_VALUE.match(a))
    ]
    if not queries:
        return given
    # Words stay in their order, where no option is between them.
    first, last = given.index(queries[0]), len(given) - given[::-1].index(queries[-1])
    options = [place for place, a in enumerate(given) if a.startswith("-") and a != "-" and a not in queries]
    if all(place < first for place in options):
        return [*given[:first], "--", *given[first:]]
    if options[0] >= last:
        return [given[0], *given[options[0] :], "--", *given[1 : options[0]]]
    return [*(a for a in given if a not in queries), "--", *queries]


def parse(command: Command, arguments: Sequence[str]) -> dict[str, Any] | None:
    """Return the command's values, by name, as typer would; None when typer must parse it.

    :param arguments: the words after the command's name.
    """
    by_flag = {flag: option for option in command.options for flag in (option.flag, *option.more)}
    values: dict[str, Any] = {o.name: [] if o.is_repeatable else o.default for o in command.options}
    words: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            words += rest
        elif argument.startswith("-") and argument != "-":
            flag, equals, text = argument.partition("=")
            option = by_flag.get(flag)
            if option is None or (equals and (option.kind is bool or not flag.startswith("--"))):
                return None
            if option.kind is bool:
                values[option.name] = flag == option.flag or not flag.startswith("--no-")
                continue
            value = _value(option, text if equals else next(rest, "-"))
            if value is None:
                return None
            if option.is_repeatable:
                values[option.name].append(value)
            else:
                values[option.name] = value
        else:
            words.append(argument)
    return values if _place(command, words, values) else None


def _place(command: Command, words: list[str], values: dict[str, Any]) -> bool:
    """Add the values of the arguments; return whether they are certain."""
    for argument in command.arguments:
        mine = words if argument.is_repeatable else words[:1]
        words = words[len(mine) :]
        if argument.is_required and not any(mine):
            return False
        made = [_converted(argument.kind, word) for word in mine]
        values[argument.name] = made if argument.is_repeatable else next(iter(made), None)
    return not words


def _value(option: Option, text: str) -> Any:
    """Return an option's value; None when it is not certain to be valid."""
    if text.startswith("-"):
        return None
    if option.kind is not int:
        return _converted(option.kind, text)
    if not (text.isascii() and text.isdigit() and len(text) <= DIGITS):
        return None
    number = int(text)
    is_within = (option.least is None or number >= option.least) and (option.most is None or number <= option.most)
    return number if is_within else None


def _converted(kind: Kind, text: str) -> Any:
    return text if kind is str else kind(text)
