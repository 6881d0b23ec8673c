"""Declarations of commands, arguments and options; and those that several commands share.

A command is declared once, in the module of its function.  The lean parser (`parse`) reads command lines by the
declaration, and typer's commands (`app`) are made from it.  Options that narrow a search come from the table of fields
in `query`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from ..dataclass import dataclass
from ..query.fields import FIELDS

if TYPE_CHECKING:
    from pathlib import Path

#: The type of a value.  `bool` makes an option a switch, which takes no value.
Kind: TypeAlias = "type[str] | type[int] | type[bool] | type[Path]"


@dataclass(frozen=True, slots=True)
class Argument:
    """A word that is not an option, or, if it is repeatable, all remaining ones."""

    name: str
    metavar: str
    help: str
    kind: Kind = str
    is_required: bool = False
    is_repeatable: bool = False

    @property
    def label(self) -> str:
        """What stands before its help: the placeholder, without a bracket that closes behind another argument."""
        is_alone = self.metavar.count("[") == self.metavar.count("]")
        return self.metavar if is_alone else self.metavar.strip("[]")


@dataclass(frozen=True, slots=True)
class Option:
    """One option: `--flag VALUE`, or a switch when its kind is bool."""

    name: str
    kind: Kind
    help: str
    #: Further spellings; a switch's may be "--no-…", which turns it off.
    more: tuple[str, ...] = ()
    default: str | int | bool | None = None
    is_repeatable: bool = False
    #: Bounds of a number.
    least: int | None = None
    most: int | None = None
    #: The placeholder of the value in the help; `help.metavar` chooses one when None.
    metavar: str | None = None

    @property
    def flag(self) -> str:
        """The long spelling: the name, with dashes."""
        return "--" + self.name.strip("_").replace("_", "-")


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its arguments, its options, and its function."""

    name: str
    #: It takes the values of the arguments and options by name; repeatable ones as lists.
    function: Callable[..., None]
    help: str
    #: In the order of the command line; only the last may be repeatable, and required ones come first.
    arguments: tuple[Argument, ...] = ()
    options: tuple[Option, ...] = ()
    #: Command lines that show what it is for.
    examples: tuple[str, ...] = ()
    #: Whether it ends quickly, so that it runs without the garbage collector.
    is_brief: bool = False

    def run(self, values: dict[str, Any]) -> None:
        """Call the command's function."""
        self.function(**values)


#: Options and arguments that several commands share.
JSON = Option("json", bool, "Print JSON.", default=False)
COLOR = Option("color", str, "auto, always or never.", default="auto", metavar="WHEN")
REFRESH = Option("refresh", bool, "Index changes first.", more=("--no-refresh",), default=True)
INCLUDE_CURRENT = Option("include_current", bool, "Do not leave out the session this was started from.", default=False)
YES = Option("yes", bool, "Do not ask.", more=("-y",), default=False)
MODEL = Option(
    "model", str, "Ask this model instead; repeatable, the first that answers.", is_repeatable=True, metavar="NAME"
)
SESSION = Argument(
    "session", "SESSION", "An id or a prefix of one, words of a name, a hit (35ea:21), or latest.", is_required=True
)


def limited(help: str, default: int | None, *, least: int = 1, most: int | None = None) -> Option:
    """Return `--limit`."""
    return Option("limit", int, help, more=("-n",), default=default, least=least, most=most)


def skipping(help: str, *, metavar: str | None = None) -> Option:
    """Return `--offset`."""
    return Option("offset", int, help, default=0, least=0, metavar=metavar)


def narrowing(*names: str) -> Iterator[Option]:
    """Yield the options that narrow a search: those with these names of `FIELDS`, or all of them."""
    for field in FIELDS:
        if not names or field.name in names:
            kind: Kind = bool if field.is_switch else str
            default = False if field.is_switch else None
            yield Option(
                field.name,
                kind,
                field.help,
                default=default,
                is_repeatable=field.is_repeatable,
                metavar=field.metavar or None,
            )
