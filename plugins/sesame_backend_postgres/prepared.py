"""Prepared statements of connections, for queries that are repeated with other values.

Planning a search takes 10 ms, up to half of its time; a connection that is reused plans it once.  A plan takes 2.5 MB
of the server's memory.
"""

from __future__ import annotations

import re
from itertools import count
from weakref import WeakKeyDictionary

import psycopg

#: Most plans of one connection: there is one for words alone, and one for each kind of filter or condition.
MOST = 24


class Alike(str):
    """A statement whose plan suits all values, so that it is prepared once."""

    __slots__ = ()


class Prepared:
    """The prepared statements by connection; all users of a connection share one object."""

    def __init__(self) -> None:
        self._names: WeakKeyDictionary[psycopg.Connection[object], dict[str, str]] = WeakKeyDictionary()
        self._numbers = count()

    def asked(self, db: psycopg.Connection[object], sql: str) -> str:
        """Return the SQL that executes a statement with the same values; the first time it has several results."""
        if not isinstance(sql, Alike):
            return sql
        names = self._names.setdefault(db, {})
        before = ""
        if sql in names:
            names[sql] = names.pop(sql)  # the most recently used comes last
        else:
            if not names:
                before = "DEALLOCATE ALL; "  # also those of a failed query
            elif len(names) == MOST:
                before = f"DEALLOCATE {names.pop(next(iter(names)))}; "
            numbers = count(1)
            names[sql] = f"search_{next(self._numbers)}"
            before += f"PREPARE {names[sql]} AS {re.sub('%s', lambda _: f'${next(numbers)}', sql)}; "
        return f"{before}EXECUTE {names[sql]} ({', '.join(['%s'] * sql.count('%s'))})"

    def forget(self, db: psycopg.Connection[object]) -> None:
        """Forget the plans of a connection after a failed query, which may have been prepared or not."""
        self._names.pop(db, None)
