"""Errors of a command line as one line each: what is wrong, what is possible, where the help is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Any

from .commands import called_here
from .commands import command as command_of
from .options import Argument, Option


def is_usage_error(error: BaseException) -> bool:
    """Return whether typer, or click under it, has raised an error about a command line."""
    # Its class is in `click`, or in a part of typer, depending on the version of typer.
    return any(kind.__name__ == "UsageError" for kind in type(error).__mro__)


def usage_error(error: Any, arguments: Sequence[str]) -> str:
    """Return an error about a command line as one line.

    :param error: as typer raised it.
    :param arguments: the command line.
    """
    name = next((word for word in arguments if not word.startswith("-")), None)
    declared = command_of(name) if name else None
    param = str(getattr(getattr(error, "param", None), "name", "")).rstrip("_")
    known: list[Option | Argument] = [*declared.options, *declared.arguments] if declared else []
    each = next((one for one in known if one.name == param), None)
    help = f"see: sesame {name} --help" if declared else "see: sesame --help"
    return f"{_told(error, each, arguments)}; {help}"


def _told(error: Any, each: Option | Argument | None, arguments: Sequence[str]) -> str:
    kind = type(error).__name__
    if kind == "NoSuchOption":
        near = next(iter(error.possibilities or ()), "")  # the most similar first
        meant = f"; did you mean {near}" if near else ""
        told, _, rest = str(error.message).partition("; ")
        return f"{_small(told)}{meant}{'; ' * bool(rest)}{rest}"
    if isinstance(each, Argument):
        return f"{each.metavar.removesuffix('...')} is missing: {each.help[:1].lower()}{each.help[1:].rstrip('.')}"
    if isinstance(each, Option):
        return f"{each.flag} must be {_wanted(each)}{_given(each, arguments)}"
    message = _small(str(error.format_message()).rstrip("."))
    extra = re.fullmatch(r"got unexpected extra arguments?(?:\(s\))? \((.*)\)", message, re.DOTALL)
    if extra:
        return f"unexpected: {extra[1]}"
    if message.startswith("no such command"):
        return _other_command(message, arguments)
    return message.replace("'. Did", "'; did").removesuffix("?")


def _other_command(message: str, arguments: Sequence[str]) -> str:
    """Return what may be meant by a word that is no command: another one, or a text to search for."""
    unknown, _, similar = message.partition(". Did you mean ")
    if own := called_here(unknown.split("'")[1]):
        similar = repr(own)
    meant = f"; did you mean {similar.removesuffix('?')}" if similar else ""
    if meant or arguments[0].startswith("-"):
        return f"{unknown}{meant}"
    return f"{unknown}; to search for it: sesame search {shlex.join(arguments)}"


def _wanted(option: Option) -> str:
    """Return what an option takes."""
    if option.kind is not int:
        return option.metavar or "a value"
    if option.least is not None and option.most is not None:
        return f"a whole number from {option.least} to {option.most}"
    if option.least is not None:
        return f"a whole number of at least {option.least}"
    return "a whole number" if option.most is None else f"a whole number of at most {option.most}"


def _given(option: Option, arguments: Sequence[str]) -> str:
    """Return what was given of an option that is not as it must be."""
    flags = (option.flag, *option.more)
    for place, word in enumerate(arguments):
        flag, equals, value = word.partition("=")
        if flag in flags:
            following = arguments[place + 1 : place + 2]
            return f", not {value if equals else following[0]!r}" if equals or following else ""
        short = next((one for one in flags if len(one) == 2 and word.startswith(one)), None)
        if short and not word.startswith("--"):
            return f", not {word[len(short) :]!r}"
    return ""


def _small(text: str) -> str:
    """Return a text that starts with a lower-case letter."""
    return text[:1].lower() + text[1:]
