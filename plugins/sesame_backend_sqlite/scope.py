"""Where is searched: what the user asks for, and what is left out by default."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

from sesame_core.dataclass import dataclass
from sesame_core.types.query import Filters, Query

from .filters import Where, meeting, on_chunks, on_sessions
from .schema import SESSION_SHIFT

#: The part of the matches that a filter on tool or role is taken to let through, until it is known better.
SELECTIVE = 0.1
#: There are few headless sessions, and an index lists them; left alone, SQLite would go through one of all sessions.
HEADLESS = "SELECT id FROM sessions INDEXED BY sessions_headless WHERE kind = 'headless'"


@dataclass(frozen=True, slots=True)
class Scope:
    """Which chunks and heads are searched for one query."""

    #: On `chunks_fts AS f`: all that the user asks for, and that without the sessions that are left out by default.
    asked: Where
    shown: Where
    #: On `heads_fts AS h`; None when only some chunks of a session are searched.
    heads: Where | None
    #: Numbers of the sessions that are left out by default.
    hidden: frozenset[int]
    #: The part of all matches that lie in it, roughly.
    share: float


def scope(db: sqlite3.Connection, query: Query, filters: Filters, sessions: int) -> Scope:
    """Work out once which of so many sessions are searched."""
    on_session = on_sessions(filters).and_(meeting(query.condition))
    is_whole = not (filters.tools_only or filters.tool or filters.role)
    share = SELECTIVE if filters.tool or filters.role else 1.0
    # What asks for a chunk's class alone is the cheapest of all, and stands first.
    asked = shown = on_chunks(filters)
    if on_session.sql:
        hides = "0" if filters.all_kinds else "s.kind = 'headless'"
        sql = f"SELECT s.id, {hides} FROM sessions AS s{on_session.where()}"
        found = db.execute(sql, on_session.values).fetchall()
        numbers = [number for number, is_hidden in found if not is_hidden]
        hidden = frozenset(number for number, is_hidden in found if is_hidden)
        share *= len(numbers) / sessions
        # The plus sign keeps SQLite from asking the full-text table once per session.
        heads = Where("+h.rowid IN (SELECT value FROM json_each(?))", (json.dumps(numbers),))
        asked, shown = asked.and_(_in([number for number, _ in found])), shown.and_(_in(numbers))
    else:
        hidden = frozenset() if filters.all_kinds else frozenset(number for (number,) in db.execute(HEADLESS))
        heads = Where(f"h.rowid NOT IN ({HEADLESS})") if hidden else Where()
        if hidden:
            shown = shown.and_(Where(f"f.rowid >> {SESSION_SHIFT} NOT IN ({HEADLESS})"))
    return Scope(asked, shown, heads if is_whole else None, hidden, share)


def hiding(scope: Scope, since: int) -> Where:
    """Return the condition on `chunks_fts AS f` to be what the user asks for, in a session that is left out.

    :param since: the row id from which on.
    """
    return scope.asked.and_(Where("f.rowid >= ?", (since,)), _in(scope.hidden))


def _in(numbers: Iterable[int]) -> Where:
    """Return the condition on `chunks_fts AS f` to lie in one of these sessions."""
    listed: Sequence[int] = sorted(numbers)
    # The bounds keep FTS5 from going on to where none of them is.
    sql = f"f.rowid >= ? AND f.rowid < ? AND f.rowid >> {SESSION_SHIFT} IN (SELECT value FROM json_each(?))"
    first, last = (listed[0], listed[-1]) if listed else (0, -1)
    return Where(sql, (first << SESSION_SHIFT, (last + 1) << SESSION_SHIFT, json.dumps(listed)))
