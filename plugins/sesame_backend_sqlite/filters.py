"""Writes filters as SQL conditions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sesame_core import query as queries
from sesame_core.dataclass import dataclass
from sesame_core.query import SHELLS, AllOf, AnyOf, Filters, Has, Is, Not, Word, word_of

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


_TRUE = Condition()
#: The weight class that holds all chunks of a role, and no others.
_CLASS_OF_ROLE = {"user": 0, "tool": 3}
_CWD = "replace(s.cwd, '\\', '/')"
#: A path without all that ends with a slash is its last part.
_LAST_OF_CWD = f"replace({_CWD}, rtrim({_CWD}, replace({_CWD}, '/', '')), '')"
_PLAIN_TOOL = "lower(replace(replace(c.tool_name, '_', ''), '-', ''))"


def like(text: str) -> str:
    """Escape a text so that LIKE, with a backslash as its escape character, takes it literally."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


#: A row of `sessions AS s JOIN files AS f` speaks for its session: of one read from several files, the file that is
#: there, then the longest, then the latest (`sesame_core.search.standing`).
STANDING = Condition(
    "NOT EXISTS (SELECT 1 FROM sessions AS o JOIN files AS g ON g.id = o.file "
    "WHERE o.key = s.key AND o.id <> s.id AND (g.missing_since IS NULL, o.chunk_count, o.id) "
    "> (f.missing_since IS NULL, s.chunk_count, s.id))"
)


def on_sessions(filters: Filters) -> Condition:
    """Return what a row of `sessions AS s` must be, apart from its kind."""
    parts: list[Condition] = []
    if filters.workstation:
        parts.append(Condition("substr(s.key, 1, instr(s.key, ':') - 1) = ?", (filters.workstation,)))
    if filters.owner:
        parts.append(Condition("s.owner = ? COLLATE NOCASE", (filters.owner,)))
    if filters.host:
        parts.append(Condition("s.host = ? COLLATE NOCASE", (filters.host,)))
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
    if filters.repo:
        parts.append(_either(_holds("s.repository", filters.repo), _holds(_LAST_OF_CWD, filters.repo)))
    if filters.branch:
        parts.append(_ends("s.git_branch", filters.branch))
    if filters.model:
        parts.append(_holds("s.model", filters.model))
    if filters.path:
        path = _ends("replace(path, '\\', '/')", filters.path.replace("\\", "/"))
        parts.append(Condition(f"s.id IN (SELECT session FROM paths WHERE {path.sql})", path.values))
    if filters.cmd:
        sql = f"{_PLAIN_TOOL} IN ({_marks(SHELLS)})"
        call = Condition(f"f.rowid & 3 = 2 AND {_of_chunk(sql)}", SHELLS)
        parts.append(_holding([word_of(filters.cmd)], call))
    if filters.is_error:
        sql = f"s.id IN (SELECT id >> {SESSION_SHIFT} FROM chunks WHERE is_error"
        if filters.tool:
            parts.append(Condition(f"{sql} AND tool_name = ? COLLATE NOCASE)", (filters.tool,)))
        else:
            parts.append(Condition(f"{sql})"))
    return Condition().and_(*parts)


def on_kind(filters: Filters) -> Condition:
    """Return the condition that leaves out what is left out by default."""
    return Condition() if filters.all_kinds else Condition("s.kind <> 'headless'")


def on_chunks(filters: Filters) -> Condition:
    """Return what a row of `chunks_fts AS f` must be by itself."""
    parts = [Condition("f.rowid & 2")] if filters.tools_only or filters.tool else []
    if filters.tool:
        parts.append(Condition(_of_chunk("c.tool_name = ? COLLATE NOCASE"), (filters.tool,)))
    if filters.role in _CLASS_OF_ROLE:
        parts.append(Condition(f"f.rowid & 3 = {_CLASS_OF_ROLE[filters.role]}"))
    elif filters.role:
        parts.append(Condition(f"f.rowid & 3 NOT IN (0, 3) AND {_of_chunk('c.role = ?')}", (filters.role,)))
    return Condition().and_(*parts)


def having_chunks(filters: Filters) -> Condition:
    """Return what a row of `sessions AS s` must be to have a chunk that `on_chunks` lets pass."""
    if filters.role:
        chunk = on_chunks(filters)
        sql = chunk.sql.replace("f.rowid", "f.id")
        bounds = f"f.id >= s.id << {SESSION_SHIFT} AND f.id < (s.id + 1) << {SESSION_SHIFT}"
        return Condition(
            f"EXISTS (SELECT 1 FROM chunks AS f INDEXED BY chunks_facts WHERE {bounds} AND {sql})", chunk.values
        )
    if filters.tool:
        sql = "EXISTS (SELECT 1 FROM json_each(s.tool_counts) AS t WHERE t.key = ? COLLATE NOCASE)"
        return Condition(sql, (filters.tool,))
    return Condition("s.tool_counts <> '{}'") if filters.tools_only else Condition()


def meeting(condition: queries.Condition | None) -> Condition:
    """Return what a row of `sessions AS s` must be to meet a condition of a query."""
    match condition:
        case None:
            return Condition()
        case Has(word):
            return _holding([word])
        case Is(filters):
            return on_sessions(filters).and_(having_chunks(filters))
        case Not(part):
            below = meeting(part)
            # What is not known of a session is not so.
            return Condition(f"NOT coalesce(({below.sql or 1}), 0)", below.values)
        case AllOf(parts):
            return Condition().and_(*map(meeting, parts))
        case AnyOf(parts):
            words = [part.word for part in parts if isinstance(part, Has)]
            others = [meeting(part) for part in parts if not isinstance(part, Has)]
            return _either(*([_holding(words)] if words else []), *others)


def _holding(words: Sequence[Word], chunk: Condition = _TRUE) -> Condition:
    """Return what a row of `sessions AS s` must be to have one of the words, in a chunk that meets a condition."""
    sql = f"SELECT f.rowid >> {SESSION_SHIFT} FROM chunks_fts AS f WHERE chunks_fts MATCH ?{chunk.where('AND')}"
    return Condition(f"s.id IN ({sql})", (fts.any_of(words), *chunk.values))


def _of_chunk(sql: str) -> str:
    """Return a condition on the row of `chunks AS c` that belongs to one of `chunks_fts AS f`."""
    return f"(SELECT {sql} FROM chunks AS c INDEXED BY chunks_facts WHERE c.id = f.rowid)"


def _either(*conditions: Condition) -> Condition:
    """Return the disjunction."""
    sql = " OR ".join(f"({condition.sql or 1})" for condition in conditions)
    return Condition(f"({sql or 0})", tuple(value for condition in conditions for value in condition.values))


def _holds(column: str, text: str) -> Condition:
    return Condition(f"{column} LIKE ? ESCAPE '\\'", (f"%{like(text)}%",))


def _ends(column: str, path: str) -> Condition:
    """Return the condition that a path is the one asked for, or ends with its parts."""
    ending = like(path)
    if path.endswith("/"):
        ending += "%"
    return Condition(f"'/' || {column} LIKE ? ESCAPE '\\'", (f"%/{ending.removeprefix('/')}",))


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
