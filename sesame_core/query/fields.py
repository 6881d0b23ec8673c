"""The table of fields that narrow a search: each is an option, an argument of a tool and a field of the query language.

`agent:pi` in a query is `--agent pi` on the command line and `"agent": ["pi"]` to a tool.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from ..dataclass import dataclass
from ..errors import QueryError
from ..types.query import ROLES, Filters
from .filters import asked, bounded


@dataclass(frozen=True, slots=True)
class Field:
    """One field."""

    #: The argument's name; with dashes for underscores, the option's.
    name: str
    #: The field of `Filters` that it sets; empty if its value decides.
    filter: str
    #: Help of the option.
    help: str
    #: Description of the argument for agents; empty if the tools do not take it.
    for_agents: str = ""
    #: Its names in a query, the preferred one first; empty if a query cannot contain it.
    keys: tuple[str, ...] = ()
    #: Of a switch in a query: its value.
    word: str = ""
    is_switch: bool = False
    #: What stands for the value in the help of the option.
    metavar: str = ""
    is_repeatable: bool = False
    #: Whether it narrows the passages of a session, so that only a search has it and not a list of sessions.
    is_of_passages: bool = False


#: All fields, in the order in which they are listed to people and to agents.
FIELDS = (
    Field(
        "in",
        "",
        "Only sessions in this directory or repository: ~/code, its name, here.",
        "Only sessions in this directory (a path) or repository (a part of its name, or its address).",
        keys=("in",),
        metavar="PLACE",
    ),
    Field(
        "cwd",
        "cwd",
        "Only sessions in this directory or below it.",
        "Only sessions held in this directory or below it.",
        keys=("cwd",),
        metavar="DIR",
    ),
    Field(
        "here",
        "places",
        "Only sessions in the repository around this directory, or in its worktrees.",
        "Only sessions of the repository around the directory in which this server was started.",
        keys=("is",),
        word="here",
        is_switch=True,
    ),
    Field(
        "repo",
        "repo",
        "Only sessions of this repository, or in a directory of this name.",
        "Only sessions of this repository; a part of its name is enough.",
        keys=("repo",),
        metavar="NAME",
    ),
    Field(
        "branch",
        "branch",
        "Only sessions on this git branch.",
        "Only sessions on this git branch.",
        keys=("branch",),
        metavar="NAME",
    ),
    Field(
        "agent",
        "agents",
        "Only sessions of this agent; repeatable.",
        'Only sessions of these agents: "claude-code", "pi", …',
        keys=("agent",),
        is_repeatable=True,
        metavar="NAME",
    ),
    Field(
        "model",
        "model",
        "Only sessions with this model, or a part of its name.",
        "Only sessions with this model; a part of its name is enough.",
        keys=("model",),
        metavar="NAME",
    ),
    Field(
        "after",
        "after",
        "Only what was said then or later: 7d, monday, 2026-11-01 …",
        "Only what was said then or later: 2026-11-01, 2026-11, yesterday, last week, or an age (30min, 7d).",
        keys=("after",),
        metavar="DATE",
    ),
    Field(
        "before",
        "before",
        "Only what was said then or earlier; a day counts as a whole.",
        "Only what was said then or earlier; a day counts as a whole.",
        keys=("before",),
        metavar="DATE",
    ),
    Field(
        "path",
        "path",
        "Only sessions in which a tool call named this file.",
        "Only sessions in which a tool call named this file; its last parts are enough.",
        keys=("file", "path"),
        metavar="FILE",
    ),
    Field(
        "cmd",
        "cmd",
        "Only sessions in which a shell was called with these words, in this order.",
        "Only sessions in which a shell was called with these words, in this order.",
        keys=("cmd",),
        metavar="WORDS",
    ),
    Field(
        "error",
        "is_error",
        "Only sessions in which something failed; with --tool, that tool.",
        "Only sessions in which something failed.",
        keys=("is",),
        word="error",
        is_switch=True,
    ),
    Field(
        "starred",
        "starred",
        "Only sessions that you starred.",
        "Only sessions that the user starred.",
        keys=("is",),
        word="starred",
        is_switch=True,
    ),
    Field(
        "tag",
        "tags",
        "Only sessions with this tag; repeatable, all of them.",
        "Only sessions with all of these tags.",
        keys=("tag",),
        is_repeatable=True,
        metavar="TAG",
    ),
    Field(
        "workstation",
        "workstation",
        "Only sessions of the workstation with this id.",
        keys=("workstation",),
        metavar="ID",
    ),
    Field("host", "host", "Only sessions of the machine with this name.", keys=("host",), metavar="NAME"),
    Field("owner", "owner", "Only sessions that this person indexed.", keys=("owner",), metavar="NAME"),
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
        metavar="ID",
    ),
    Field(
        "tool",
        "tool",
        "Search only calls of this tool.",
        "Search only calls of this tool and their results.",
        keys=("tool",),
        is_of_passages=True,
        metavar="NAME",
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
        metavar="ROLE",
    ),
)
#: The field of each name in a query.
KEYS = {key: field for field in FIELDS for key in field.keys}
#: The switches of a query by value: `is:error`.
SWITCHES = {field.word: field for field in FIELDS if field.word}
#: The preferred name in a query, by field of `Filters`.
NAMES = {field.filter: field.keys[0] for field in FIELDS if field.filter and field.keys}
#: Least similarity of a name to a field to count as a typo of it (difflib's ratio).
ALIKE = 0.7
#: Fewest characters of a field that names are compared with: `int:` and `bin:` are no typos of `in:`.
LEAST = 3

_PLAIN = re.compile(r"[\w./\\~@+*:-]+")


def read(key: str, value: str, *, now: datetime | None = None) -> Filters:
    """Return the filters of a field of a query with this value.

    :param now: the time that dates are relative to; the present time when None.
    :raises QueryError: the value is not valid.
    """
    field = KEYS[key]
    if field.is_switch:
        switch = SWITCHES.get(value.strip().lower())
        if switch is None:
            known = " or ".join(f"{key}:{word}" for word in sorted(SWITCHES))
            raise QueryError(f"{value!r} is not a property of sessions: use {known}")
        return Filters(**{switch.filter: _switched(switch.filter)})
    return Filters(**_set(field, key, value, now))


def gathered(values: Mapping[str, Any]) -> Filters:
    """Return the filters of all given values.

    :param values: by name of `Field`: a string, a list of strings or one of them, or whether a switch is on; other
        names are ignored.
    :raises QueryError: a value is not valid, or two fields set the same one to different values.
    """
    found: dict[str, Any] = {}
    set_by: dict[str, Field] = {}
    for field in FIELDS:
        value = values.get(field.name)
        if not value:
            continue
        made: dict[str, Any] = {}
        if field.is_switch:
            made = {field.filter: _switched(field.filter)}
        elif field.is_repeatable:
            texts = (value,) if isinstance(value, str) else value
            if texts := tuple(_named(field.filter, text.strip()) for text in texts if text.strip()):
                made = {field.filter: texts}
        else:
            made = _set(field, field.name, value, None)
        for name, one in made.items():
            other = set_by.setdefault(name, field)
            if found.setdefault(name, one) != one:
                raise QueryError(
                    f"{other.name} and {field.name} are two conditions of the same kind: put one of them into the "
                    f"query, {other.keys[0]}:{values[other.name]}"
                )
    return Filters(**found)


def _set(field: Field, key: str, value: str, now: datetime | None) -> dict[str, Any]:
    """Return what a field that takes a value sets of `Filters`: its own one, or the one that the value decides.

    :param key: the field's name, for messages.
    """
    if field.filter:
        return {field.filter: _value(field.filter, key, value, now)}
    from .within import within

    return within(_value("", key, value, now))


def _switched(name: str) -> Any:
    """Return the value of a field of `Filters` when its switch is on."""
    if name == "places":
        from .here import here

        return here()
    return True


def _value(name: str, key: str, value: str, now: datetime | None) -> Any:
    """Return the value of a field of `Filters` for a string.

    :param key: the field's name, for messages.
    """
    value = value.strip()
    if not bounded(key, value):
        raise QueryError(f"{key}: has no value")
    found: Any = value
    if name == "cwd":
        from .directories import absolute

        found = absolute(value)
    elif name in ("agents", "tags"):
        found = (_named(name, value),)
    elif name in ("after", "before"):
        from .dates import parse_date

        found = parse_date(value, is_end=name == "before", now=now)
    elif name == "role":
        found = value.lower()
        if found not in ROLES:
            raise QueryError(f"{value!r} is not a role: use {', '.join(ROLES)}")
    elif name == "cmd" and not any(character.isalnum() for character in value):
        raise QueryError(f"{value!r} does not contain a word")
    return found


def tag_of(text: str) -> str:
    """Return a tag as it is stored: what is seen of it, on one line, without `#` before it; it may be empty."""
    from ..text.folding import spaced

    return spaced(text).removeprefix("#").strip()


def _named(name: str, value: str) -> str:
    """Return one value of a field of several: a tag as it is stored."""
    return (tag_of(value) or value) if name == "tags" else value


def nearest(name: str) -> str | None:
    """Return the name of a field of a query that is most similar to another name; None if none is similar."""
    from difflib import get_close_matches  # only for a typo

    known = [key for key in KEYS if len(key) >= LEAST]
    return next(iter(get_close_matches(name.lower(), known, n=1, cutoff=ALIKE)), None)


def written(filters: Filters, *, is_quoted: bool = False) -> Iterator[str]:
    """Yield filters as fields of a query; filters that no field can express are left out.

    :param is_quoted: whether every value is in quotes.
    """
    for name, value in asked(filters).items():
        key = NAMES.get(name)
        if key is None:
            continue
        switch = next((field for field in SWITCHES.values() if field.filter == name), None)
        if switch is not None:
            yield f"{key}:{switch.word}"
            continue
        for one in value if isinstance(value, tuple) else (value,):
            text = one.isoformat() if isinstance(one, datetime) else one
            yield f"{key}:{text}" if _PLAIN.fullmatch(text) and not is_quoted else f'{key}:"{text}"'
