"""Plans that connections keep of statements that are asked again with other values.

Planning a search takes 10 ms, up to half of what the search takes; a connection that is kept plans it once.  A plan
takes 2.5 MB of the server's memory.
"""

from __future__ import annotations

import re
from itertools import count
from weakref import WeakKeyDictionary

import psycopg

#: Plans that one connection keeps: there is one for words alone, and one for each kind of filter or condition.
MOST = 24


class Alike(str):
    """A statement whose plan is right for all values, and that others differ from only in these."""

    __slots__ = ()


class Prepared:
    """What has been planned, by connection; all that use a connection share one."""

    def __init__(self) -> None:
        self._names: WeakKeyDictionary[psycopg.Connection[object], dict[str, str]] = WeakKeyDictionary()
        self._numbers = count()

    def asked(self, db: psycopg.Connection[object], sql: str) -> str:
        """Return what asks for a statement, with the same values; it has more than one result the first time."""
        if not isinstance(sql, Alike):
            return sql
        names = self._names.setdefault(db, {})
        before = ""
        if sql in names:
            names[sql] = names.pop(sql)  # the last one used stands last
        else:
            if not names:
                before = "DEALLOCATE ALL; "  # also what a question has left behind that failed
            elif len(names) == MOST:
                before = f"DEALLOCATE {names.pop(next(iter(names)))}; "
            numbers = count(1)
            names[sql] = f"search_{next(self._numbers)}"
            before += f"PREPARE {names[sql]} AS {re.sub('%s', lambda _: f'${next(numbers)}', sql)}; "
        return f"{before}EXECUTE {names[sql]} ({', '.join(['%s'] * sql.count('%s'))})"

    def forget(self, db: psycopg.Connection[object]) -> None:
        """Count on nothing that a connection has planned: a question failed, before it was planned or after."""
        self._names.pop(db, None)
