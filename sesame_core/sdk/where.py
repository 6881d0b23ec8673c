"""Parts of a WHERE clause with their values, and patterns of LIKE."""

from __future__ import annotations

from typing import Any

from ..dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Where:
    """A fragment of a WHERE clause and its values; an empty one is true."""

    sql: str = ""
    values: tuple[Any, ...] = ()

    def and_(self, *others: Where) -> Where:
        """Return the conjunction."""
        parts = [c for c in (self, *others) if c.sql]
        return Where(" AND ".join(c.sql for c in parts), tuple(v for c in parts for v in c.values))

    def or_(self, *others: Where) -> Where:
        """Return the disjunction."""
        parts = [c for c in (self, *others) if c.sql != FALSE.sql]
        if len(parts) < 2:
            return parts[0] if parts else FALSE
        sql = " OR ".join(f"({c.sql or 'true'})" for c in parts)
        return Where(f"({sql})", tuple(v for c in parts for v in c.values))

    def not_(self) -> Where:
        """Return the negation; NULL counts as false before it is negated."""
        return Where(f"NOT coalesce(({self.sql or 'true'}), false)", self.values)

    def where(self, keyword: str = "WHERE") -> str:
        """Return the clause with its keyword; "" when it is true."""
        return f" {keyword} {self.sql}" if self.sql else ""


TRUE = Where()
FALSE = Where("false")


def like(text: str) -> str:
    """Escape a string so that LIKE, with a backslash as its escape character, matches it literally."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def ending(path: str) -> str:
    """Return the LIKE pattern of `'/' || path` for paths that equal a path, or end with its components.

    A path that ends with `/` matches everything below it.
    """
    return f"%/{like(path).removeprefix('/')}" + ("%" if path.endswith("/") else "")
