"""The scope of a search: what the filters select, without what is left out by default."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

from sesame_core.dataclass import dataclass
from sesame_core.types.query import Condition, Filters

from .filters import Dialect, Where, on_chunks, said_within, whole
from .schema import SESSION_SHIFT

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
    db: sqlite3.Connection, dialect: Dialect, condition: Condition | None, filters: Filters, sessions: int
) -> Scope:
    """Return the scope of a search.

    :param sessions: number of all sessions.
    """
    on_session = dialect.on_sessions(filters).and_(dialect.meeting(condition))
    is_whole = not (filters.tools_only or filters.tool or filters.role)
    share = SELECTIVE if filters.tool or filters.role else 1.0
    # A condition on a chunk's class alone is the cheapest one, and comes first.
    asked = shown = on_chunks(filters)
    if on_session.sql:
        hides = "0" if filters.all_kinds else "s.kind = 'headless'"
        all_of_it = whole(filters)
        sql = f"SELECT s.id, {hides}, {all_of_it.sql or '1'} FROM sessions AS s{on_session.where()}"
        found = db.execute(sql, (*all_of_it.values, *on_session.values)).fetchall()
        numbers = [number for number, is_hidden, _ in found if not is_hidden]
        hidden = frozenset(number for number, is_hidden, _ in found if is_hidden)
        # Only chunks of sessions that lasted beyond the interval need be looked up.
        beyond = frozenset(number for number, _, is_whole in found if not is_whole)
        share *= len(numbers) / sessions
        # The plus sign keeps SQLite from querying the full-text table once per session.
        heads = Where(
            "+h.rowid IN (SELECT value FROM json_each(?))", (json.dumps([n for n in numbers if n not in beyond]),)
        )
        asked, shown = asked.and_(_in([number for number, *_ in found])), shown.and_(_in(numbers))
        if beyond:
            listed = (json.dumps(sorted(beyond)),)
            inside = Where(f"f.rowid >> {SESSION_SHIFT} NOT IN (SELECT value FROM json_each(?))", listed)
            during = inside.or_(said_within(filters))
            asked, shown = asked.and_(during), shown.and_(during)
    else:
        beyond = frozenset()
        hidden = frozenset() if filters.all_kinds else frozenset(number for (number,) in db.execute(HEADLESS))
        heads = Where(f"h.rowid NOT IN ({HEADLESS})") if hidden else Where()
        if hidden:
            shown = shown.and_(Where(f"f.rowid >> {SESSION_SHIFT} NOT IN ({HEADLESS})"))
    return Scope(asked, shown, heads if is_whole else None, hidden, beyond, share)


def hiding(scope: Scope, since: int) -> Where:
    """Return the condition on `chunks_fts AS f` that the filters select a chunk, in a session that is left out.

    :param since: the least row id.
    """
    return scope.asked.and_(Where("f.rowid >= ?", (since,)), _in(scope.hidden))


def _in(numbers: Iterable[int]) -> Where:
    """Return the condition on `chunks_fts AS f` that a chunk is in one of these sessions."""
    listed: Sequence[int] = sorted(numbers)
    # The bounds keep FTS5 from scanning ranges without any of them.
    sql = f"f.rowid >= ? AND f.rowid < ? AND f.rowid >> {SESSION_SHIFT} IN (SELECT value FROM json_each(?))"
    first, last = (listed[0], listed[-1]) if listed else (0, -1)
    return Where(sql, (first << SESSION_SHIFT, (last + 1) << SESSION_SHIFT, json.dumps(listed)))
