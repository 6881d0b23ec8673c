"""Counts sessions: all that filters select, in groups.

A session counts for the day on which it was last active, as lists show it: messages have no day of their own in the
list of sessions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from ..plugin.backend import IndexReader, Tallying
from ..plugin.paging import all_sessions
from ..types.index import StoredSession
from ..types.query import Filters
from ..types.tally import By, Tallies, Tally
from ..types.transcript import Session


def tallies(reader: IndexReader, filters: Filters, by: By) -> Tallies:
    """Return counts of the sessions that filters select: days and weeks latest first, other groups largest first."""
    with reader.snapshot():
        counted = reader.tallies() if isinstance(reader, Tallying) else None
        found = Tallies(by=by, total=_empty(counted))
        groups: dict[str, Tally] = {}
        for stored in all_sessions(reader, filters):
            _add(found.total, stored, counted)
            for name, calls in _groups(stored.session, by):
                group = groups.setdefault(name, _empty(counted if by != "tool" else None, name))
                _add(group, stored, counted, calls)
            _widen(found, stored.session)
    if by in ("day", "week"):
        found.groups = sorted(groups.values(), key=lambda tally: tally.group, reverse=True)
    else:
        size: Callable[[Tally], int] = (lambda t: t.calls) if by == "tool" else (lambda t: t.messages)
        found.groups = sorted(groups.values(), key=lambda tally: (-size(tally), -tally.sessions, tally.group))
    return found


def _groups(session: Session, by: By) -> Iterable[tuple[str, int | None]]:
    """Return the groups of a session; of a tool, in lower case as filters take it, with the number of its calls."""
    if by == "tool":
        calls: Counter[str] = Counter()
        for tool, number in session.tool_counts.items():
            calls[tool.lower()] += number
        return calls.items()
    moment = session.modified.astimezone() if session.modified else None
    if by == "day":
        name = f"{moment:%Y-%m-%d}" if moment else ""
    elif by == "week":
        name = f"{moment:%G-W%V}" if moment else ""
    elif by == "agent":
        name = session.agent
    else:
        name = session.repository or session.cwd or ""
    return ((name, None),)


def _empty(counted: object, group: str = "") -> Tally:
    none = None if counted is None else 0
    return Tally(group=group, failures=none, files=none)


def _add(
    tally: Tally, stored: StoredSession, counted: Mapping[int, tuple[int, int]] | None, calls: int | None = None
) -> None:
    """Add a session to a tally.

    :param counted: failures and files by the number of the session.
    :param calls: those that count; all when None.
    """
    session = stored.session
    tally.sessions += 1
    tally.messages += session.message_count
    tally.prompts += session.exchange_count
    tally.calls += sum(session.tool_counts.values()) if calls is None else calls
    if counted is not None and tally.failures is not None and tally.files is not None:
        failures, files = counted.get(stored.number, (0, 0))
        tally.failures += failures
        tally.files += files


def _widen(found: Tallies, session: Session) -> None:
    """Let the interval of tallies contain a session."""
    if session.modified is not None:
        first = session.created or session.modified
        found.first = min(found.first or first, first)
        found.last = max(found.last or session.modified, session.modified)
