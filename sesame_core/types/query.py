"""A parsed query: the words to rank, the condition that a session must meet, and the filters."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import TypeAlias, get_args

from ..dataclass import dataclass, field
from .transcript import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word or phrase of a query."""

    #: The word as typed, for messages.
    text: str
    #: Strings that count as this word, each a phrase of consecutive words; a final `*` makes a prefix.
    alternatives: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Restrictions on the results besides the words.  Every field narrows; None and empty do not restrict."""

    #: A directory: the session was in it or below it.  A `Directory` has other names.
    cwd: str | None = None
    #: Directories: the session was in one of them or below one.
    places: tuple[str, ...] = ()
    #: A part of the repository's remote, or of the last component of the session's directory; any case.
    repo: str | None = None
    #: The session's git branch, or the last components of its name; any case.
    branch: str | None = None
    #: A part of the model's name; any case.
    model: str | None = None
    #: An interval, both ends inclusive, timezone-aware: sessions in which something was said in it.  A search with
    #: words finds only what was said in it; a chunk without a time counts as said at all times of its session.
    after: datetime | None = None
    before: datetime | None = None
    agents: tuple[str, ...] = ()
    #: Search only tool calls and their results.
    tools_only: bool = False
    #: Search only the calls and results of this tool (implies `tools_only`).
    tool: str | None = None
    #: Search only chunks with this role; `user` is text that a person typed.
    role: Role | None = None
    #: Sessions in which a tool call named this file: a path, or its last components.
    path: str | None = None
    #: Sessions with a call of a shell (`SHELLS`) that contains these words in this order; a final `*` makes a prefix.
    cmd: str | None = None
    #: Sessions in which something failed: with `tool`, a call of that tool.
    is_error: bool = False
    #: Sessions that the reader starred: a `Mark` names them.
    starred: bool | str = False
    #: Sessions with all of these tags, in any case: in their notes, or, of a `Mark`, among those that it names.
    tags: tuple[str, ...] = ()
    #: The workstation's id; the names of the machine and of its owner, any case.
    workstation: str | None = None
    host: str | None = None
    owner: str | None = None
    #: Ids of sessions to leave out.
    exclude: tuple[str, ...] = ()
    #: Include headless sessions.
    all_kinds: bool = False


class Directory(str):
    """A directory of a filter with its other names: behind links, of other systems, of the repository's worktrees.

    Equal to its first name, as everything that only shows a filter takes it.
    """

    __slots__ = ("others",)
    others: tuple[str, ...]

    def __new__(cls, name: str, others: tuple[str, ...] = ()) -> Directory:
        """Return a directory with these other names."""
        made = super().__new__(cls, name)
        made.others = others
        return made


class Mark(str):
    """A mark of a filter, with the ids of the sessions that a person gave it, and of those that it was taken from.

    Equal to its name, as everything that only shows a filter takes it.
    """

    __slots__ = ("sessions", "without")
    sessions: tuple[str, ...]
    without: tuple[str, ...]

    def __new__(cls, name: str, sessions: tuple[str, ...] = (), without: tuple[str, ...] = ()) -> Mark:
        """Return a mark with these sessions."""
        made = super().__new__(cls, name)
        made.sessions, made.without = sessions, without
        return made


def marked(mark: bool | str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the ids of the sessions that a person gave a mark of a filter, and of those that it was taken from."""
    return (mark.sessions, mark.without) if isinstance(mark, Mark) else ((), ())


def names_of(directory: str) -> tuple[str, ...]:
    """Return all names of a directory of a filter, as plain strings without slashes at their ends."""
    others = directory.others if isinstance(directory, Directory) else ()
    return tuple(name.rstrip("/\\") or str(name) for name in (directory, *others))


def is_within(directory: str, names: Collection[str]) -> bool:
    """Return whether a directory is one of several, or below one, with either slash."""
    below = (start for name in names for start in (f"{name.rstrip('/')}/", f"{name}\\"))
    return directory in names or directory.startswith(tuple(below))


# -- conditions on a session ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Has:
    """A chunk of the session contains the word."""

    word: Word


@dataclass(frozen=True, slots=True)
class Is:
    """The session passes the filters; where they restrict chunks, it has a chunk that passes."""

    filters: Filters


@dataclass(frozen=True, slots=True)
class Not:
    """The session does not meet the condition."""

    part: Condition


@dataclass(frozen=True, slots=True)
class AllOf:
    """The session meets every condition."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """The session meets at least one condition."""

    parts: tuple[Condition, ...]


#: A boolean expression about a session as a whole.
Condition: TypeAlias = Has | Is | Not | AllOf | AnyOf


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A parsed query; `sesame_core.query.parser` makes one from a string.

    Two queries are equal when they mean the same, however they were written.
    """

    #: The query as typed.
    text: str = field(compare=False)
    #: The words to rank: one of them is enough, unless the condition requires more.
    words: tuple[Word, ...] = ()
    #: What a session must also meet; None is always met.
    condition: Condition | None = None
    #: The filters that the fields of the query set.
    filters: Filters = Filters()
    #: The query as typed, on one line, without fields and exclusions.
    typed: str = field(default="", compare=False)
    #: The strings of words joined by OR, one set for each operand; an OR nested in another comes first.
    choices: tuple[tuple[frozenset[str], ...], ...] = field(default=(), compare=False)
    #: Messages about parts that the parser could not interpret and read as words.
    hints: tuple[str, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        """Return a string that parses to an equal query."""
        from ..query.serializer import unparse

        return unparse(self)


# -- words ------------------------------------------------------------------------------------------------

#: Tools that run commands, in lower case without `_` and `-`.
SHELLS = ("bash", "shell", "powershell", "runcommand", "execcommand", "runshellcommand")
#: Valid values of `Filters.role`.
ROLES: tuple[str, ...] = get_args(Role)
