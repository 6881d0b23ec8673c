"""The help of the program and of each command, made from the declarations: usage, arguments, options, examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .commands import GROUPS, command
from .options import Argument, Command, Option

#: Most columns of a help, and most of the names on its left.
WIDEST, NAMES = 100, 26
#: Options of the program itself.
PROGRAM = (
    ("-V, --version", "Print the version."),
    ("--install-completion", "Install completion for the current shell."),
    ("--show-completion [SHELL]", "Print what that would install, or the completion for a shell: bash, zsh, fish."),
    ("-h, --help", "Print this help; every command has it."),
)
INTRODUCTION = "Full-text search over your coding-agent sessions: find it, read it, go on."


def program_help(width: int) -> str:
    """Return the help of the program: its commands by what they are for.

    :param width: columns of the terminal.
    """
    width = min(width, WIDEST)
    lines = ["Usage: sesame COMMAND [OPTION]... [ARGUMENT]...", "", *_wrapped(INTRODUCTION, width)]
    for title, names in GROUPS.items():
        listed = [(one.name, _brief(one, width)) for one in map(command, names) if one]
        lines += ["", f"{title}:", *_table(listed, width)]
    return "\n".join([*lines, "", "Options:", *_table(PROGRAM, width)])


def command_help(of: Command, width: int) -> str:
    """Return the help of a command.

    :param width: columns of the terminal.
    """
    width = min(width, WIDEST)
    usage = " ".join(["sesame", of.name, "[OPTION]...", *(argument.metavar for argument in of.arguments)])
    lines = [f"Usage: {usage}"]
    for paragraph in of.help.split("\n\n"):
        lines += ["", *_wrapped(paragraph, width)]
    if of.arguments:
        lines += ["", "Arguments:", *_table(((one.label, one.help) for one in of.arguments), width)]
    options = [*map(described, of.options), ("-h, --help", "Print this help.")]
    lines += ["", "Options:", *_table(options, width)]
    if of.examples:
        lines += ["", "Examples:", *(f"  {example}" for example in of.examples)]
    return "\n".join(lines)


def metavar(option: Option | Argument) -> str:
    """Return what stands for an option's value: its own word, N for a number, else its name in capitals."""
    if option.metavar:
        return option.metavar
    return "N" if option.kind is int else option.name.strip("_").replace("_", "-").upper()


def described(option: Option) -> tuple[str, str]:
    """Return an option's spellings with what stands for its value, and its help with what is possible."""
    short = [flag for flag in option.more if not flag.startswith("--")]
    long = [option.flag, *(flag for flag in option.more if flag.startswith("--"))]
    value = "" if option.kind is bool else f" {metavar(option)}"
    told = []
    if option.kind is bool and option.default is not None:
        told += ["default: on"] if option.default else []
    elif option.default is not None:
        told.append(f"default: {option.default}")
    if option.kind is int:
        told.append(f"{option.least or 0} to {option.most}" if option.most else f"from {option.least or 0}")
    return ", ".join([*short, *long]) + value, option.help + (f" [{'; '.join(told)}]" if told else "")


def _brief(of: Command, width: int) -> str:
    """Return the first sentence of a command's help, or the clauses of it that fit on a line."""
    sentence = of.help.partition("\n")[0].partition(".  ")[0].rstrip(".")
    for mark in ("; ", ": ", ", "):
        if len(sentence) > min(width, 80) - NAMES:
            sentence = sentence.partition(mark)[0]
    return sentence + "."


def _table(rows: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    """Yield rows of two columns; a name that is too long has a line of its own."""
    listed = list(rows)
    column = min(max(len(name) for name, _ in listed), NAMES) + 4
    for name, text in listed:
        lines = list(_wrapped(text, width, " " * column)) or [" " * column]
        if len(name) + 4 > column:
            yield f"  {name}"
        else:
            lines[0] = f"  {name}".ljust(column) + lines[0][column:]
        yield from lines


def _wrapped(text: str, width: int, indent: str = "  ") -> list[str]:
    import textwrap

    return textwrap.wrap(" ".join(text.split()), width, initial_indent=indent, subsequent_indent=indent)
