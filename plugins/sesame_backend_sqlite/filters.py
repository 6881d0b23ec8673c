"""Writes filters as SQL conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sesame_core.query import Filters, Word

from . import fts
from .rows import to_ms
from .schema import SESSION_SHIFT


@dataclass(frozen=True, slots=True)
class Condition:
    """A piece of a WHERE clause and its values; an empty one is true."""

    sql: str = ""
    values: tuple[Any, ...] = ()

    def and_(self, *others: Condition) -> Condition:
        """Return the conjunction."""
        parts = [c for c in (self, *others) if c.sql]
        return Condition(" AND ".join(c.sql for c in parts), tuple(v for c in parts for v in c.values))

    def where(self, keyword: str = "WHERE") -> str:
        """Return the clause with its keyword; nothing when it is true."""
        return f" {keyword} {self.sql}" if self.sql else ""


def like(text: str) -> str:
    """Escape a text so that LIKE, with a backslash as its escape character, takes it literally."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def on_sessions(filters: Filters) -> Condition:
    """Return what a row of `sessions AS s` must be, apart from its kind."""
    parts: list[Condition] = []
    if filters.cwd:
        cwd = filters.cwd.rstrip("/\\") or filters.cwd
        parts.append(
            Condition(
                "(s.cwd = ? OR s.cwd LIKE ? ESCAPE '\\' OR s.cwd LIKE ? ESCAPE '\\')",
                (cwd, like(cwd.rstrip("/")) + "/%", like(cwd) + "\\\\%"),
            )
        )
    if filters.after:
        parts.append(Condition("s.modified >= ?", (to_ms(filters.after),)))
    if filters.before:
        parts.append(Condition("s.modified <= ?", (to_ms(filters.before),)))
    if filters.agents:
        parts.append(Condition(f"s.agent IN ({_marks(filters.agents)})", tuple(filters.agents)))
    if filters.exclude:
        for session_id in filters.exclude:
            below = session_id + "/"
            sql = "s.session_id <> ? AND substr(s.session_id, 1, ?) <> ?"
            parts.append(Condition(sql, (session_id, len(below), below)))
    if filters.path:
        path = like(filters.path.replace("\\", "/"))
        ending = f"{path}%" if path.endswith("/") else path
        parts.append(
            Condition(
                "s.id IN (SELECT session FROM paths WHERE '/' || replace(path, '\\', '/') LIKE ? ESCAPE '\\')",
                (f"%/{ending.removeprefix('/')}",),
            )
        )
    return Condition().and_(*parts)


def on_kind(filters: Filters) -> Condition:
    """Return the condition that leaves out what is left out by default."""
    return Condition() if filters.all_kinds else Condition("s.kind <> 'headless'")


def on_chunks(filters: Filters) -> Condition:
    """Return what a row of `chunks_fts AS f` must be by itself."""
    if filters.tool:
        tool = "(SELECT c.tool_name FROM chunks AS c WHERE c.id = f.rowid) = ? COLLATE NOCASE"
        return Condition(f"f.rowid & 2 AND {tool}", (filters.tool,))
    return Condition("f.rowid & 2") if filters.tools_only else Condition()


def in_sessions(condition: Condition) -> Condition:
    """Return a condition on `chunks_fts AS f`: its session meets the condition."""
    if not condition.sql:
        return condition
    return Condition(
        f"f.rowid >> {SESSION_SHIFT} IN (SELECT s.id FROM sessions AS s WHERE {condition.sql})",
        condition.values,
    )


def with_words(required: Sequence[Word], excluded: Sequence[Word]) -> Condition:
    """Return what a row of `sessions AS s` must hold and must not hold, anywhere."""
    sql = f"(SELECT rowid >> {SESSION_SHIFT} FROM chunks_fts WHERE chunks_fts MATCH ?)"
    parts = [Condition(f"s.id IN {sql}", (fts.any_of([word]),)) for word in required]
    if excluded:
        parts.append(Condition(f"s.id NOT IN {sql}", (fts.any_of(excluded),)))
    return Condition().and_(*parts)


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
