"""Filters: which fields are set, how they are cleaned for a database, and how two of them combine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dataclass import replace
from ..errors import QueryError
from ..text.tokens import clean
from ..types.query import Filters, Is

#: The fields that bound an interval; of two bounds the closer one holds.
_CLOSER: dict[str, Callable[[Any, Any], Any]] = {"after": max, "before": min}
#: Most characters of a value: those of the longest path.  Databases refuse patterns that are ten times as long.
LONGEST = 4_096


def cleaned(filters: Filters) -> Filters:
    """Return filters whose strings every database accepts; indexed text was cleaned in the same way.

    :raises QueryError: a string is too long.
    """
    changed: dict[str, Any] = {}
    for name, value in asked(filters).items():
        if isinstance(value, str):
            changed[name] = clean(bounded(name, value))
        elif isinstance(value, tuple):
            changed[name] = tuple(clean(bounded(name, one)) for one in value)
    return replace(filters, **changed)


def bounded(name: str, value: str) -> str:
    """Return a value.

    :param name: the field's name, for the message.
    :raises QueryError: it is longer than any value that a session has.
    """
    if len(value) > LONGEST:
        raise QueryError(f"{name}: {value[:20]!r}… has {len(value)} characters; use at most {LONGEST}")
    return value


def asked(filters: Filters) -> dict[str, Any]:
    """Return the fields that are set, by name."""
    values = {name: getattr(filters, name) for name in filters.__slots__}
    return {name: value for name, value in values.items() if value not in (None, (), False)}


def of_metadata(filters: Filters) -> Filters:
    """Return filters without those that need more of a session than its metadata: its texts, calls, files, notes."""
    return replace(
        filters, path=None, cmd=None, is_error=False, tool=None, tools_only=False, role=None, branch=None,
        tags=(), starred=False,
    )  # fmt: skip


def both(one: Filters, other: Filters) -> tuple[Filters, tuple[Is, ...]]:
    """Return the filters that combine both; conflicting fields become conditions.

    Agents and excluded sessions are lists, which are concatenated; of two intervals what both have in common remains.
    """
    changed: dict[str, Any] = {}
    rest: list[Is] = []
    mine = asked(one)
    for name, value in asked(other).items():
        if name not in mine or mine[name] == value:
            changed[name] = value
        elif name in _CLOSER:
            changed[name] = _CLOSER[name](mine[name], value)
        elif isinstance(value, tuple):
            changed[name] = tuple(dict.fromkeys((*mine[name], *value)))
        else:
            rest.append(Is(Filters(**{name: value})))
    return replace(one, **changed), tuple(rest)
