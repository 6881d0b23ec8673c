"""What a shell completes behind an option or as an argument: agents, roles, sessions, what sessions have."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeAlias

from .terminal import COLORS

#: A value with what the shell tells of it.
Completion: TypeAlias = tuple[str, str]
#: Sessions that are completed: the last active ones.
SESSIONS = 100
#: The variable by which a shell asks, `complete_bash`.
ASKS = "_SESAME_COMPLETE"
#: What of a value bash takes for syntax, by the quotation mark before it, and what must stand for it there.
_SYNTAX = {
    "": (re.compile(r"[^\w@%+=:,./-]"), r"\\\g<0>"),
    '"': (re.compile(r'["$`\\]'), r"\\\g<0>"),
    "'": (re.compile("'"), r"'\\''"),
}
#: What PowerShell may, and what ends a text in quotes there unless it is doubled.
_POWER_SYNTAX = re.compile(r"[^\w%+=:./\\-]")
_POWER_QUOTES = re.compile("['\N{LEFT SINGLE QUOTATION MARK}-\N{SINGLE HIGH-REVERSED-9 QUOTATION MARK}]")
#: What stands between a value and its title in the answer to PowerShell.
_POWER_BREAK = ":::"
#: What of a value is lost in zsh: it evaluates the whole answer, in which a backslash lets a command out of its quotes.
_LOST = re.compile(r"""[\\'"]|  """)


class _Quoted(str):
    """A value as it must stand on a shell's line; it begins with what was typed if it does so as it is."""

    __slots__ = ("plain",)
    plain: str

    @classmethod
    def for_bash(cls, plain: str, mark: str) -> _Quoted:
        """Return the value with a backslash before what bash takes for syntax.

        :param mark: the quotation mark that is open before it; "" for none.
        """
        syntax, instead = _SYNTAX[mark]
        return cls(plain, syntax.sub(instead, plain))

    @classmethod
    def for_powershell(cls, plain: str) -> _Quoted:
        """Return the value in quotes if it has what PowerShell takes for syntax."""
        return cls(plain, "'" + _POWER_QUOTES.sub(r"\g<0>\g<0>", plain) + "'" if _POWER_SYNTAX.search(plain) else plain)

    def __new__(cls, plain: str, quoted: str) -> _Quoted:
        made = super().__new__(cls, quoted)
        made.plain = plain
        return made

    def startswith(self, *given: object) -> bool:
        """Compare the value itself."""
        return self.plain.startswith(*given)  # type: ignore[arg-type]


def completer(name: str, command: str = "") -> Callable[[str], list[Completion]] | None:
    """Return what completes the values of an option or an argument; None if nothing is known of them.

    :param name: its name.
    :param command: the command that has it, for one whose values differ from those of the others.
    """
    if name == "about":
        return lambda incomplete: _for_shell(_files(incomplete))
    values = _VALUES.get(f"{command} {name}") or _VALUES.get(name)
    return (lambda incomplete: _for_shell(v for v in values() if v[0].startswith(incomplete))) if values else None


def _for_shell(found: Iterable[Completion]) -> list[Completion]:
    """Return completions that the shell that asks takes for text: names and titles are what anybody wrote.

    A value that it could not insert as it is, such as one with a line feed, is left out.
    """
    shell = os.environ.get(ASKS, "").rpartition("_")[2]
    kept = ((value, title) for value, title in found if value.isprintable())
    if shell == "bash":
        mark = _open_mark()
        # In double quotes bash expands an exclamation mark, and keeps the backslash before one.
        return [(_Quoted.for_bash(value, mark), title) for value, title in kept if mark != '"' or "!" not in value]
    if shell == "zsh":
        return [(value, title.replace("\\", " ")) for value, title in kept if not _LOST.search(value)]
    if shell in ("powershell", "pwsh"):
        return [(_Quoted.for_powershell(value), title) for value, title in kept if _POWER_BREAK not in value]
    return list(kept)


def _open_mark() -> str:
    """Return the quotation mark with which the word begins that bash completes; "" for none."""
    words = os.environ.get("COMP_WORDS", "").split("\n")
    number = int(os.environ.get("COMP_CWORD", "0"))
    mark = words[number][:1] if number < len(words) else ""
    return mark if mark in _SYNTAX else ""


def _agents() -> Iterator[Completion]:
    from ..plugin.manager import PluginManager

    for info in PluginManager().catalogue():
        if info.kind == "parser" and not info.error:
            yield info.name, ""


def _roles() -> Iterator[Completion]:
    from ..types.query import ROLES

    yield from ((role, "") for role in ROLES)


def _colors() -> Iterator[Completion]:
    yield from ((color, "") for color in COLORS)


def _visibilities() -> Iterator[Completion]:
    from ..config.model import LEVELS

    yield from ((level, "") for level in LEVELS)


def _known(field: str) -> Iterator[Completion]:
    """Yield what sessions have for a field of `Filters`; nothing where there is no index."""
    from ..api.sesame import Sesame
    from ..errors import SesameError

    try:
        with Sesame() as sesame:
            yield from ((value, "") for value in sesame.known_values(field))
    except SesameError:
        return


def _places() -> Iterator[Completion]:
    from ..query.within import HERE

    yield HERE[0], ""
    yield from _known("repo")
    yield from _known("cwd")


def _groups() -> Iterator[Completion]:
    from typing import get_args

    from ..types.tally import By

    yield from ((group, "") for group in get_args(By))


def _digest_groups() -> Iterator[Completion]:
    from typing import get_args

    from ..types.knowing import DigestBy

    yield from ((group, "") for group in get_args(DigestBy))


def _files(incomplete: str) -> list[Completion]:
    """Return the files and directories that are here and begin so."""
    from glob import escape, iglob
    from itertools import islice
    from os.path import isdir

    found = islice(iglob(escape(incomplete) + "*"), SESSIONS)
    return [(path + "/" if isdir(path) else path, "") for path in sorted(found)]


def _sessions() -> Iterator[Completion]:
    """Yield the latest sessions; none where there is no index: a shell shows no errors."""
    from ..api.sesame import Sesame
    from ..errors import SesameError
    from ..rendering.text import session_name

    try:
        with Sesame() as sesame:
            found, _ = sesame.list_sessions(limit=SESSIONS)
            short = sesame.abbreviations(stored.session.id for stored in found)
    except SesameError:
        return
    yield from ((short[stored.session.id], session_name(stored)) for stored in found)


_VALUES: dict[str, Callable[[], Iterator[Completion]]] = {
    "agent": _agents,
    "role": _roles,
    "color": _colors,
    "visibility": _visibilities,
    "session": _sessions,
    "exclude": _sessions,
    "tag": partial(_known, "tags"),
    "in": _places,
    "cwd": partial(_known, "cwd"),
    "repo": partial(_known, "repo"),
    "branch": partial(_known, "branch"),
    "tool": partial(_known, "tool"),
    "workstation": partial(_known, "workstation"),
    "host": partial(_known, "host"),
    "owner": partial(_known, "owner"),
    "by": _groups,
    "digest by": _digest_groups,
}
