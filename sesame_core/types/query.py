"""What a search asks for: the words that are ranked, the condition a session must meet, and the filters."""

from __future__ import annotations

from datetime import datetime
from typing import TypeAlias, get_args

from ..dataclass import dataclass, field
from .transcript import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word or phrase of a query."""

    #: As it was typed, for messages.
    text: str
    #: Texts that count as this word, each a phrase whose words follow each other; a final `*` is a prefix.
    alternatives: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What an answer must be, apart from its words.  Every field narrows; None and empty leave open."""

    #: The session's directory or one below it.
    cwd: str | None = None
    #: A part of the repository's remote, or of the last part of the session's directory; any case.
    repo: str | None = None
    #: The session's git branch, or the last parts of its name; any case.
    branch: str | None = None
    #: A part of the model's name; any case.
    model: str | None = None
    #: Bounds of the session's modified time, both inclusive, timezone-aware.
    after: datetime | None = None
    before: datetime | None = None
    agents: tuple[str, ...] = ()
    #: Search only tool calls and their results …
    tools_only: bool = False
    #: … or only those of this tool (which implies `tools_only`).
    tool: str | None = None
    #: Search only what has this role: `user` is what a person typed.
    role: Role | None = None
    #: Sessions in which a tool call named this file: a path, or the last parts of one.
    path: str | None = None
    #: Sessions with a call of a shell (`SHELLS`) that holds these words in this order; a final `*` is a prefix.
    cmd: str | None = None
    #: Sessions in which something failed: with `tool`, a call of that tool.
    is_error: bool = False
    #: The workstation's id; the name of the machine and of its owner, any case.
    workstation: str | None = None
    host: str | None = None
    owner: str | None = None
    #: Session ids that are no answer.
    exclude: tuple[str, ...] = ()
    #: Headless sessions too.
    all_kinds: bool = False


# -- what a session must meet -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Has:
    """A chunk of the session holds the word."""

    word: Word


@dataclass(frozen=True, slots=True)
class Is:
    """The session is what the filters ask for; where they narrow to some chunks, it has such a chunk."""

    filters: Filters


@dataclass(frozen=True, slots=True)
class Not:
    """The session does not meet the condition."""

    part: Condition


@dataclass(frozen=True, slots=True)
class AllOf:
    """The session meets every one."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """The session meets at least one."""

    parts: tuple[Condition, ...]


#: A boolean expression about a session as a whole.
Condition: TypeAlias = Has | Is | Not | AllOf | AnyOf


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A parsed query; how to read one from a text is `sesame_core.query.parser`'s business.

    Two queries are equal when they ask for the same, however they were written.
    """

    #: As it was typed.
    text: str = field(compare=False)
    #: What is ranked: one of them is enough, unless the condition asks for more.
    words: tuple[Word, ...] = ()
    #: What a session must meet as well; None is always met.
    condition: Condition | None = None
    #: What the fields of the text ask for.
    filters: Filters = Filters()
    #: Texts of words between which the text says OR, one set for each side; an OR inside of another comes first.
    choices: tuple[tuple[frozenset[str], ...], ...] = field(default=(), compare=False)
    #: What the reader of the text could not make sense of, and took for words.
    hints: tuple[str, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        """Return a text that asks for the same."""
        from ..query.serializer import unparse

        return unparse(self)


# -- words ------------------------------------------------------------------------------------------------

#: Tools that run commands, in small letters without `_` and `-`.
SHELLS = ("bash", "shell", "powershell", "runcommand", "execcommand", "runshellcommand")
#: What `Filters.role` may be.
ROLES: tuple[str, ...] = get_args(Role)


# -- filters ----------------------------------------------------------------------------------------------
