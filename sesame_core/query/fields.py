"""The fields of the query language, which are the flags of a search too: `agent:pi` is `--agent pi`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from ..errors import QueryError
from ..types.query import ROLES, Filters
from .filters import asked, both

#: Each field's name in a query, and in `Filters`.
FIELDS = {
    "cwd": "cwd",
    "repo": "repo",
    "branch": "branch",
    "agent": "agents",
    "model": "model",
    "workstation": "workstation",
    "host": "host",
    "owner": "owner",
    "tool": "tool",
    "role": "role",
    "file": "path",
    "path": "path",
    "cmd": "cmd",
    "is": "is_error",
    "after": "after",
    "before": "before",
}
#: The name in a query of each field of `Filters` that has one; of several names the first.
NAMES = {name: field for field, name in reversed(FIELDS.items())}
#: How alike a name must be to be taken for a misspelt field (difflib's ratio).
ALIKE = 0.7

_PLAIN = re.compile(r"[\w./\\~@+*:-]+")


def read(field: str, value: str, *, now: datetime | None = None) -> Filters:
    """Return what a field with this value asks for.

    :param now: what dates are relative to; the clock's when None.
    :raises QueryError: the value means nothing.
    """
    name, value = FIELDS[field], value.strip()
    if not value:
        raise QueryError(f"{field}: has no value")
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
    return Filters(**{name: found})


def gathered(given: Mapping[str, str | None], filters: Filters) -> Filters:
    """Return filters that ask for what the fields with a value ask for, too.

    :param given: values by field; each field of `Filters` at most once.
    :raises QueryError: a value means nothing.
    """
    for field, value in given.items():
        if value:
            filters, _ = both(filters, read(field, value))
    return filters


def nearest(name: str) -> str | None:
    """Return the field whose name is most like another one; None when none is."""
    from difflib import get_close_matches  # only for a slip of the pen

    return next(iter(get_close_matches(name.lower(), FIELDS, n=1, cutoff=ALIKE)), None)


def written(filters: Filters) -> Iterator[str]:
    """Yield the fields that ask for the same; what no field can ask for is left out."""
    for name, value in asked(filters).items():
        field = NAMES.get(name)
        if field is None:
            continue
        if value is True:
            yield f"{field}:error"
            continue
        for one in value if isinstance(value, tuple) else (value,):
            text = one.isoformat() if isinstance(one, datetime) else one
            yield f"{field}:{text}" if _PLAIN.fullmatch(text) else f'{field}:"{text}"'
