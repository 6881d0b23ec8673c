"""What narrows a search, each declared once: an option, an argument of a tool, a field of the query language.

`agent:pi` in a query is `--agent pi` on the command line and `"agent": ["pi"]` to a tool.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from ..dataclass import dataclass
from ..errors import QueryError
from ..types.query import ROLES, Filters
from .filters import asked


@dataclass(frozen=True, slots=True)
class Field:
    """One thing that narrows a search."""

    #: The argument's name; with dashes for underscores, the option's.
    name: str
    #: The field of `Filters` that it sets.
    filter: str
    #: Help of the option.
    help: str
    #: What an agent reads about the argument; empty: the tools do not take it.
    for_agents: str = ""
    #: Its names in a query, the first of which is written; empty: a query cannot say it.
    keys: tuple[str, ...] = ()
    is_switch: bool = False
    is_repeatable: bool = False
    #: It narrows the passages of a session, and so takes a search: a list of sessions does not have it.
    is_of_passages: bool = False


#: All of them, in the order in which they are listed to people and to agents.
FIELDS = (
    Field(
        "cwd",
        "cwd",
        "Only sessions in this directory or below it.",
        "Only sessions held in this directory or below it.",
        keys=("cwd",),
    ),
    Field(
        "repo",
        "repo",
        "Only sessions of this repository, or in a directory of this name.",
        "Only sessions of this repository; a part of its name is enough.",
        keys=("repo",),
    ),
    Field(
        "branch",
        "branch",
        "Only sessions on this git branch.",
        "Only sessions on this git branch.",
        keys=("branch",),
    ),
    Field(
        "agent",
        "agents",
        "Only sessions of this agent; repeatable.",
        'Only sessions of these agents: "claude-code", "pi", …',
        keys=("agent",),
        is_repeatable=True,
    ),
    Field(
        "model",
        "model",
        "Only sessions with this model, or a part of its name.",
        "Only sessions with this model; a part of its name is enough.",
        keys=("model",),
    ),
    Field(
        "after",
        "after",
        "Last active then or later: 7d, 2026-11-01 …",
        "Only sessions last active then or later: 2026-11-01, today, yesterday, or an age (24h, 7d).",
        keys=("after",),
    ),
    Field(
        "before",
        "before",
        "Last active then or earlier; a day counts whole.",
        "Only sessions last active then or earlier; a day counts whole.",
        keys=("before",),
    ),
    Field(
        "path",
        "path",
        "Only sessions in which a tool call named this file.",
        "Only sessions in which a tool call named this file; its last parts are enough.",
        keys=("file", "path"),
    ),
    Field(
        "cmd",
        "cmd",
        "Only sessions in which this command was run; its words in order.",
        "Only sessions in which a shell was called with these words, in this order.",
        keys=("cmd",),
    ),
    Field(
        "error",
        "is_error",
        "Only sessions in which something failed; with --tool, that tool.",
        "Only sessions in which something failed.",
        keys=("is",),
        is_switch=True,
    ),
    Field("workstation", "workstation", "Only sessions of the workstation with this id.", keys=("workstation",)),
    Field("host", "host", "Only sessions of the machine with this name.", keys=("host",)),
    Field("owner", "owner", "Only sessions that this person indexed.", keys=("owner",)),
    Field(
        "all_kinds",
        "all_kinds",
        "Headless runs too.",
        "Headless runs (scripts, cron) too.",
        is_switch=True,
    ),
    Field(
        "exclude",
        "exclude",
        "Leave out this session; repeatable.",
        "Ids of sessions to leave out.",
        is_repeatable=True,
    ),
    Field(
        "tool",
        "tool",
        "Search only calls of this tool.",
        "Search only calls of this tool and their results.",
        keys=("tool",),
        is_of_passages=True,
    ),
    Field(
        "tools",
        "tools_only",
        "Search only tool calls and their results.",
        "Search only tool calls and their results.",
        is_switch=True,
        is_of_passages=True,
    ),
    Field(
        "role",
        "role",
        "Search only what has this role: user, assistant, tool, summary …",
        'Search only what has this role: "user" is what a person typed, "assistant", "tool", …',
        keys=("role",),
        is_of_passages=True,
    ),
)
#: What each name in a query means.
KEYS = {key: field for field in FIELDS for key in field.keys}
#: The name in a query of each field of `Filters` that has one.
NAMES = {field.filter: field.keys[0] for field in FIELDS if field.keys}
#: How alike a name must be to be taken for a misspelt field (difflib's ratio).
ALIKE = 0.7

_PLAIN = re.compile(r"[\w./\\~@+*:-]+")


def read(key: str, value: str, *, now: datetime | None = None) -> Filters:
    """Return what a field of a query with this value asks for.

    :param now: what dates are relative to; the clock's when None.
    :raises QueryError: the value means nothing.
    """
    field = KEYS[key]
    return Filters(**{field.filter: _value(field.filter, key, value, now)})


def gathered(values: Mapping[str, Any]) -> Filters:
    """Return the filters that ask for all that is given.

    :param values: by name of `Field`: a string, a list of them, or whether a switch is on; other names are passed over.
    :raises QueryError: a value means nothing.
    """
    found: dict[str, Any] = {}
    for field in FIELDS:
        value = values.get(field.name)
        if not value:
            continue
        if field.is_switch:
            found[field.filter] = True
        elif field.is_repeatable:
            found[field.filter] = tuple(value)
        else:
            found[field.filter] = _value(field.filter, field.name, value, None)
    return Filters(**found)


def _value(name: str, key: str, value: str, now: datetime | None) -> Any:
    """Return the value of a field of `Filters` that a string means.

    :param key: what the field was called where the string was given.
    """
    value = value.strip()
    if not value:
        raise QueryError(f"{key}: has no value")
    found: Any = value
    if name == "cwd":
        found = os.path.abspath(os.path.expanduser(value))
    elif name == "agents":
        found = (value,)
    elif name in ("after", "before"):
        from .dates import parse_date

        found = parse_date(value, is_end=name == "before", now=now)
    elif name == "is_error":
        if value.lower() != "error":
            raise QueryError(f"{value!r} is nothing a session can be: use is:error")
        found = True
    elif name == "role":
        found = value.lower()
        if found not in ROLES:
            raise QueryError(f"{value!r} is no role: use {', '.join(ROLES)}")
    elif name == "cmd" and not any(character.isalnum() for character in value):
        raise QueryError(f"{value!r} holds no word")
    return found


def nearest(name: str) -> str | None:
    """Return the field of a query whose name is most like another one; None when none is."""
    from difflib import get_close_matches  # only for a slip of the pen

    return next(iter(get_close_matches(name.lower(), KEYS, n=1, cutoff=ALIKE)), None)


def written(filters: Filters) -> Iterator[str]:
    """Yield the fields that ask for the same; what no field can ask for is left out."""
    for name, value in asked(filters).items():
        key = NAMES.get(name)
        if key is None:
            continue
        if value is True:
            yield f"{key}:error"
            continue
        for one in value if isinstance(value, tuple) else (value,):
            text = one.isoformat() if isinstance(one, datetime) else one
            yield f"{key}:{text}" if _PLAIN.fullmatch(text) else f'{key}:"{text}"'
