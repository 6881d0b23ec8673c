"""Completion of what is before the cursor: a field of the query language, or its value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from ..dataclass import dataclass, replace
from ..query.fields import FIELDS, KEYS, SWITCHES
from ..query.within import HERE
from ..rendering.text import home, one_line
from ..types.query import ROLES

#: Most candidates: more do not fit into a line, and typing is quicker.
MOST = 50
#: Of the fields for dates, which take much more: the commonest.
DATES = ("today", "yesterday", "7d", "30d", "monday", '"last week"', '"last month"')
#: The fields of `Filters` whose values sessions have.
NAMED = ("agents", "branch", "cwd", "host", "model", "owner", "repo", "tags", "tool", "workstation")

_TOKEN = re.compile(r'(?:^|(?<=[\s(]))[+(-]*((?:[A-Za-z]+:)?(?:"[^"]*|[^\s"]*))\Z')
_UNFINISHED = re.compile(r'(?:^|(?<=[\s(]))[+-]*([A-Za-z]+):"?\Z')
_PLAIN = re.compile(r"[\w./\\~@+*:-]+")


@dataclass(frozen=True, slots=True)
class Completion:
    """The candidates for a part of a line, and the one that is in it."""

    candidates: tuple[str, ...]
    #: Where the part starts in the line.
    start: int
    #: The line after the part.
    rest: str
    #: Which candidate; -1 when only what all have in common was inserted.
    at: int = -1

    def moved(self, by: int) -> Completion:
        """Return it with the next candidate, or the previous one."""
        at = self.at + by if self.at >= 0 or by > 0 else by
        return replace(self, at=at % len(self.candidates))

    def line(self, text: str) -> tuple[str, int]:
        """Return the line with the candidate in it, and the cursor after that.

        :param text: the line as it was.
        """
        before = text[: self.start] + self.candidates[self.at]
        space = "" if before.endswith(":") or self.rest.startswith(" ") else " "
        return before + space + self.rest, len(before) + len(space)


def completion(text: str, cursor: int, values: Callable[[str], Sequence[str]]) -> Completion | None:
    """Return the candidates for the part of a line before the cursor; None if there are none.

    :param values: returns what sessions have for a field of `Filters`, the commonest first.
    """
    match = _TOKEN.search(text[:cursor])
    if match is None:
        return None
    key, colon, part = match[1].partition(":")
    if colon:
        field = KEYS.get(key.lower())
        found = _values(key, part.strip('"'), values) if field else []
    else:
        names = dict.fromkeys(f"{field.keys[0]}:" for field in FIELDS if field.keys)
        found = [name for name in names if name.startswith(key.lower())]
    start = match.start(1)
    return Completion(tuple(found[:MOST]), start, text[cursor:]) if found else None


def finished(text: str) -> str:
    """Return a line without the field at its end whose value is still to come: alone, it would be a word."""
    match = _UNFINISHED.search(text)
    return text[: match.start()].rstrip() if match and match[1].lower() in KEYS else text


def common(found: Completion) -> str:
    """Return what all candidates start with."""
    first, last = min(found.candidates), max(found.candidates)
    differs = (at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other)
    return first[: next(differs, len(first))]


def _known(field: str, part: str, values: Callable[[str], Sequence[str]]) -> Iterator[str]:
    """Yield what sessions have for a field of `Filters`; for one that its value decides, directories and repositories.

    :param part: what is typed of the value.
    """
    is_path = part.startswith(("~", "/", "\\"))
    if not field and not is_path:
        yield from (HERE[0], *map(one_line, values("repo")))
    if field == "cwd" or (not field and (is_path or not part)):
        yield from (one_line(value if part.startswith("/") else home(value)) for value in values("cwd"))
    elif field in NAMED:
        yield from map(one_line, values(field))


def _values(key: str, part: str, values: Callable[[str], Sequence[str]]) -> list[str]:
    field = KEYS[key.lower()]
    known: Iterable[str] = ()
    if field.is_switch:
        known = SWITCHES
    elif field.filter in ("after", "before"):
        return [f"{key}:{date}" for date in DATES if date.strip('"').startswith(part.lower())]
    elif field.filter == "role":
        known = ROLES
    else:
        known = _known(field.filter, part, values)
    small = part.casefold()
    listed = list(dict.fromkeys(known))
    first = [value for value in listed if value.casefold().startswith(small)]
    inside = [value for value in listed if small in value.casefold() and value not in first]
    return [
        f"{key}:{value}" if _PLAIN.fullmatch(value) else f'{key}:"{value}"'
        for value in [*first, *inside]
        if '"' not in value
    ]
