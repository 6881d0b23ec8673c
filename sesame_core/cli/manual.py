"""The manual page of the program, made from the declarations: `man sesame` where the package is installed.

The page is a file of the wheel, `docs/sesame.1`; `python -m sesame_core.cli.manual` prints it, and a test compares the
two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .commands import GROUPS, command
from .help import INTRODUCTION, PROGRAM, described
from .options import Command


def manual() -> str:
    """Return the page as roff, for `man`."""
    lines = [
        '.TH SESAME 1 "" "Sesame" "User Commands"',
        ".SH NAME",
        r"sesame \- full\-text search over your coding\-agent sessions",
        ".SH SYNOPSIS",
        ".B sesame",
        "COMMAND [OPTION]... [ARGUMENT]...",
        ".SH DESCRIPTION",
        _text(INTRODUCTION),
        "Without a command, on a terminal, it opens a list of sessions that follows what you type.",
        ".SH OPTIONS",
        *_table(PROGRAM),
    ]
    for title, names in GROUPS.items():
        lines.append(f'.SH "{title.upper()}"')
        for one in filter(None, map(command, names)):
            lines += _command(one)
    lines += [
        ".SH EXIT STATUS",
        *_table((("0", "done"), ("1", "something failed"), ("2", "wrong usage"), ("130", "stopped with Ctrl-C"))),
        ".SH FILES",
        *_table((("~/.config/sesame/config.jsonc", "the configuration"), ("~/.local/share/sesame", "the index"))),
    ]
    return "\n".join(lines) + "\n"


def _command(of: Command) -> Iterator[str]:
    usage = " ".join(["[OPTION]...", *(argument.metavar for argument in of.arguments)])
    yield f'.SS "sesame {of.name} {_text(usage)}"'
    for number, paragraph in enumerate(of.help.split("\n\n")):
        yield from ([".PP"] if number else [])
        yield _text(paragraph)
    yield from _table([(one.label, one.help) for one in of.arguments])
    yield from _table(map(described, of.options))
    if of.examples:
        yield from (".PP", "Examples:", ".nf", *(f"    {_text(example)}" for example in of.examples), ".fi")


def _table(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, text in rows:
        yield from (".TP", rf"\fB{_text(name)}\fR", _text(text))


def _text(text: str) -> str:
    """Return a text on one line, in ASCII, in which nothing is a request or an escape, and dashes can be copied."""
    plain = " ".join(text.split()).replace("\\", r"\e").replace("-", r"\-")
    plain = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in plain)
    return rf"\&{plain}" if plain[:1] in (".", "'") else plain


if __name__ == "__main__":
    import sys

    sys.stdout.write(manual())
