"""The nearest directory and the nearest days with sessions, for a filter that finds none."""

from __future__ import annotations

import os
import shlex
from datetime import datetime, timedelta
from typing import Any

from ..dataclass import replace
from ..plugin.backend import IndexReader
from ..query.filters import both
from ..text.suggest import nearest
from ..types.answer import Answer
from ..types.query import Filters, Query
from . import values

#: Most sessions on each side of an interval whose days are compared.
SIDE = 20


def directories(reader: IndexReader, value: Any, matching: str | None) -> str | None:
    """Return a hint on a directory, or on several: where there are sessions, if they have none at all.

    :param matching: how many sessions match without the filter, as a text.
    """
    places = value if isinstance(value, tuple) else (value,)
    asked = places[0]
    if reader.list_sessions(Filters(all_kinds=True, places=places), limit=1)[1]:
        return matching
    known = dict(values.known(reader, "cwd"))
    found = [_told(place, known) for place in (_above(asked, known), _similar(asked, known)) if place]
    by_name = os.path.basename(asked.rstrip("/\\"))
    count = reader.list_sessions(Filters(repo=by_name), limit=1)[1] if by_name else 0
    if count:
        found.append(f"{_sessions(count)} with --repo {shlex.quote(by_name)}")
    if not found and (above := _branching(asked, known)):
        found.append(_told(above, known))
    told = f"; nearest: {', '.join(dict.fromkeys(found))}" if found else ""
    nowhere = f"no session is in {asked}{told}"
    return f"{matching}; {nowhere}" if matching else nowhere


def _sessions(count: int) -> str:
    return f"{count} session{'' if count == 1 else 's'}"


def _told(place: str, known: dict[str, int]) -> str:
    below = place.rstrip("/\\")
    count = sum(n for cwd, n in known.items() if cwd == place or cwd.startswith((below + "/", below + "\\")))
    return f"{place} ({_sessions(count)})"


def _above(asked: str, known: dict[str, int]) -> str | None:
    """Return the nearest directory above one that has sessions of its own."""
    parent = os.path.dirname(asked)
    while parent != asked:
        if parent in known:
            return parent
        asked, parent = parent, os.path.dirname(parent)
    return None


def _branching(asked: str, known: dict[str, int]) -> str | None:
    """Return the nearest directory above one that has sessions below it; None if that is the root."""
    parent = os.path.dirname(asked)
    while parent != os.path.dirname(parent):
        if any(cwd.startswith(parent + "/") for cwd in known):
            return parent
        parent = os.path.dirname(parent)
    return None


def _similar(asked: str, known: dict[str, int]) -> str | None:
    """Return the directory that a link leads to, one of the same name elsewhere, or one that is spelt similarly."""
    real = "" if "\0" in asked else os.path.realpath(asked)
    if real not in ("", asked) and any(cwd == real or cwd.startswith(real + "/") for cwd in known):
        return real
    name = os.path.basename(asked.rstrip("/\\")).lower()
    same = [cwd for cwd in known if os.path.basename(cwd).lower() == name]
    if same:
        return max(same, key=lambda cwd: known[cwd])
    parent = os.path.dirname(asked)
    siblings = {os.path.basename(cwd): cwd for cwd in known if os.path.dirname(cwd) == parent}
    near = nearest(name, siblings)
    return siblings[near] if near else None


def days(
    reader: IndexReader,
    query: Query,
    filters: Filters,
    interval: tuple[datetime | None, datetime | None],
    found: Answer,
) -> list[str]:
    """Return the nearest days before and after an interval on which something was said, for people.

    :param query: the query without the interval, like `filters`.
    :param found: its answer.
    """
    first, last = interval
    if query.words:
        chunks = [hit.chunk for hit in found.hits if hit.chunk is not None]
        times = [chunk.timestamp for chunk in chunks if chunk.timestamp is not None]
    else:
        times = _browsed(reader, query, filters, first, last)
    earlier = max((time for time in times if first is not None and time < first), default=None)
    later = min((time for time in times if last is not None and time > last), default=None)
    return [f"{time.astimezone():%Y-%m-%d}" for time in (earlier, later) if time]


def _browsed(
    reader: IndexReader, query: Query, filters: Filters, first: datetime | None, last: datetime | None
) -> list[datetime]:
    """Return the times at which sessions next to an interval began and ended."""
    times: list[datetime | None] = []
    filters, _ = both(filters, query.filters)
    tick = timedelta(milliseconds=1)
    if first is not None:
        before = replace(filters, before=first - tick)
        found, _ = reader.list_sessions(before, limit=SIDE, condition=query.condition)
        times += [time for stored in found for time in (stored.session.created, stored.session.modified)]
    if last is not None:
        after = replace(filters, after=last + tick)
        _, total = reader.list_sessions(after, limit=1, condition=query.condition)
        found, _ = reader.list_sessions(after, limit=SIDE, offset=max(0, total - SIDE), condition=query.condition)
        times += [time for stored in found for time in (stored.session.created, stored.session.modified)]
    return [time for time in times if time is not None]
