"""The scope of a search: what the filters select, without what is left out by default."""

from __future__ import annotations

import sqlite3

from sesame_core.dataclass import dataclass
from sesame_core.types.query import Condition, Filters

from .filters import Remembering, Where, on_chunks, said_within, whole
from .numbers import Numbers

#: The assumed part of the matches that passes a filter on tool or role, until it is measured.
SELECTIVE = 0.1
#: There are few headless sessions, and this index lists them; by itself SQLite would scan an index of all sessions.
HEADLESS = "SELECT id FROM sessions INDEXED BY sessions_headless WHERE kind = 'headless'"


@dataclass(frozen=True, slots=True)
class Scope:
    """The chunks and heads to search for one query."""

    #: On `chunks_fts AS f`: everything that the filters select, and the same without sessions left out by default.
    asked: Where
    shown: Where
    #: On `heads_fts AS h`; None if filters narrow chunks, so that heads are not searched.
    heads: Where | None
    #: Numbers of the sessions left out by default, and of those that lasted beyond the interval of the filters, whose
    #: heads do not count.
    hidden: frozenset[int]
    beyond: frozenset[int]
    #: The estimated part of all matches that are in the scope.
    share: float


def scope(
    db: sqlite3.Connection, dialect: Remembering, condition: Condition | None, filters: Filters, sessions: int
) -> Scope:
    """Return the scope of a search.

    :param sessions: number of all sessions.
    """
    is_whole = not (filters.tools_only or filters.tool or filters.role)
    share = SELECTIVE if filters.tool or filters.role else 1.0
    chosen = _chosen(db, dialect, condition, filters)
    # A condition on a chunk's class alone is the cheapest one, and comes first.
    asked = shown = on_chunks(filters)
    if chosen is not None:
        numbers = chosen.numbers.and_(Numbers(chosen.hidden).not_())
        share *= numbers.count(db) / sessions
        asked, shown = asked.and_(chosen.numbers.on_chunks()), shown.and_(numbers.on_chunks())
        heads = numbers.and_(Numbers(chosen.beyond).not_()).among("h.rowid")
        if chosen.beyond:
            during = Numbers(chosen.beyond).not_().on_chunks().or_(said_within(filters))
            asked, shown = asked.and_(during), shown.and_(during)
        return Scope(asked, shown, heads if is_whole else None, chosen.hidden, chosen.beyond, share)
    hidden = headless(db, filters)
    rest = Numbers(hidden).not_()
    heads, shown = rest.among("h.rowid"), shown.and_(rest.on_chunks())
    return Scope(asked, shown, heads if is_whole else None, hidden, frozenset(), share)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The sessions that a condition and filters select."""

    numbers: Numbers
    #: As in `Scope`.
    hidden: frozenset[int]
    beyond: frozenset[int] = frozenset()


def _chosen(
    db: sqlite3.Connection, dialect: Remembering, condition: Condition | None, filters: Filters
) -> _Chosen | None:
    """Return the sessions that a condition and filters select; None for all."""
    on_session = dialect.on_sessions(filters)
    if not on_session.sql and (numbers := dialect.numbers(condition)) is not None:
        # Without reading any session.
        return _Chosen(numbers, numbers.and_(Numbers(headless(db, filters))).listed)
    on_session = on_session.and_(dialect.meeting(condition))
    if not on_session.sql:
        return None
    hides = "0" if filters.all_kinds else "s.kind = 'headless'"
    all_of_it = whole(filters)
    sql = f"SELECT s.id, {hides}, {all_of_it.sql or '1'} FROM sessions AS s{on_session.where()}"
    found = db.execute(sql, (*all_of_it.values, *on_session.values)).fetchall()
    return _Chosen(
        numbers=Numbers(frozenset(number for number, *_ in found)),
        hidden=frozenset(number for number, is_hidden, _ in found if is_hidden),
        # Only chunks of sessions that lasted beyond the interval need be looked up.
        beyond=frozenset(number for number, _, is_whole in found if not is_whole),
    )


def headless(db: sqlite3.Connection, filters: Filters) -> frozenset[int]:
    """Return the numbers of all sessions left out by default."""
    return frozenset() if filters.all_kinds else frozenset(number for (number,) in db.execute(HEADLESS))


def hiding(scope: Scope, since: int) -> Where:
    """Return the condition on `chunks_fts AS f` that the filters select a chunk, in a session that is left out.

    :param since: the least row id.
    """
    return scope.asked.and_(Where("f.rowid >= ?", (since,)), Numbers(scope.hidden).on_chunks())
