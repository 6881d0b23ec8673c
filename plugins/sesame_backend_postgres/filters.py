"""Writes filters as SQL conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sesame_core import query as queries
from sesame_core.query import SHELLS, AllOf, AnyOf, Filters, Has, Is, Not, Word, word_of

from . import words


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
_FALSE = Condition("false")
#: The weight class that holds all chunks of a role, and no others.
_CLASS_OF_ROLE = {"user": 0, "tool": 3}
_LAST_OF_CWD = r"substring(replace(s.cwd, '\', '/') FROM '[^/]*$')"
#: The workstation of a session, as its key has it.
WORKSTATION = "split_part(s.key, ':', 1)"


def like(text: str) -> str:
    """Escape a text so that LIKE takes it literally."""
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
        parts.append(Condition(f"{WORKSTATION} = %s", (filters.workstation,)))
    if filters.owner:
        parts.append(Condition("lower(s.owner) = lower(%s)", (filters.owner,)))
    if filters.host:
        parts.append(Condition("lower(s.host) = lower(%s)", (filters.host,)))
    if filters.cwd:
        cwd = filters.cwd.rstrip("/\\") or filters.cwd
        below = (like(cwd.rstrip("/")) + "/%", like(cwd) + "\\\\%")
        parts.append(Condition("(s.cwd = %s OR s.cwd LIKE %s OR s.cwd LIKE %s)", (cwd, *below)))
    if filters.after:
        parts.append(Condition("s.modified >= %s", (filters.after,)))
    if filters.before:
        parts.append(Condition("s.modified <= %s", (filters.before,)))
    if filters.agents:
        parts.append(Condition("s.agent = ANY (%s)", (list(filters.agents),)))
    for session_id in filters.exclude:
        sql = "s.session_id <> %s AND NOT starts_with(s.session_id, %s)"
        parts.append(Condition(sql, (session_id, session_id + "/")))
    if filters.repo:
        parts.append(_either(_holds("s.repository", filters.repo), _holds(_LAST_OF_CWD, filters.repo)))
    if filters.branch:
        ending = f"%/{like(filters.branch.removeprefix('/'))}" + ("%" if filters.branch.endswith("/") else "")
        parts.append(Condition("'/' || s.git_branch ILIKE %s", (ending,)))
    if filters.model:
        parts.append(_holds("s.model", filters.model))
    if filters.path:
        beginning = words_of_path(filters.path)
        parts.append(Condition("s.id IN (SELECT session FROM paths WHERE paths.reversed LIKE %s)", (beginning,)))
    if filters.cmd:
        call = Condition("t.class = 2 AND translate(t.tool, '_-', '') = ANY (%s)", (list(SHELLS),))
        parts.append(_holding([word_of(filters.cmd)], call))
    if filters.is_error:
        sql = "s.id IN (SELECT c.session FROM chunks AS c WHERE c.is_error"
        if filters.tool:
            parts.append(Condition(f"{sql} AND lower(c.tool_name) = lower(%s))", (filters.tool,)))
        else:
            parts.append(Condition(f"{sql})"))
    return Condition().and_(*parts)


def words_of_path(path: str) -> str:
    """Return the pattern of `paths.reversed` for a path that is asked for by its last parts."""
    from .rows import reversed_path

    pattern = like(reversed_path(path)) + "%"
    # Of a directory, all that is below it.
    return f"%{pattern}" if path.endswith("/") else pattern


def on_kind(filters: Filters) -> Condition:
    """Return the condition that leaves out what is left out by default."""
    return Condition() if filters.all_kinds else Condition("s.kind <> 'headless'")


def on_chunks(filters: Filters) -> Condition:
    """Return what a row of `texts AS t` must be by itself."""
    parts = [Condition("t.class >= 2")] if filters.tools_only or filters.tool else []
    if filters.tool:
        parts.append(Condition("t.tool = lower(%s)", (filters.tool,)))
    if filters.role in _CLASS_OF_ROLE:
        parts.append(Condition("t.class = %s", (_CLASS_OF_ROLE[filters.role],)))
    elif filters.role:
        parts.append(Condition("t.class NOT IN (0, 3) AND t.role = %s", (filters.role,)))
    return Condition().and_(*parts)


def having_chunks(filters: Filters) -> Condition:
    """Return what a row of `sessions AS s` must be to have a chunk that `on_chunks` lets pass."""
    if filters.role:
        chunk = on_chunks(filters)
        return Condition(f"EXISTS (SELECT 1 FROM texts AS t WHERE t.session = s.id AND {chunk.sql})", chunk.values)
    if filters.tool:
        sql = "EXISTS (SELECT 1 FROM jsonb_object_keys(s.tool_counts) AS t (name) WHERE lower(t.name) = lower(%s))"
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
            return Condition(f"NOT coalesce(({below.sql or 'true'}), false)", below.values)
        case AllOf(parts):
            return Condition().and_(*map(meeting, parts))
        case AnyOf(parts):
            held = [part.word for part in parts if isinstance(part, Has)]
            others = [meeting(part) for part in parts if not isinstance(part, Has)]
            return _either(*([_holding(held)] if held else []), *others)


def _holding(held: Sequence[Word], chunk: Condition = _TRUE) -> Condition:
    """Return what a row of `sessions AS s` must be to have one of the words, in a chunk that meets a condition."""
    asked = words.any_of(held)
    if asked is None:
        return _FALSE
    sql = f"SELECT t.session FROM texts AS t WHERE t.words @@ to_tsquery('code', %s){chunk.where('AND')}"
    return Condition(f"s.id IN ({sql})", (asked, *chunk.values))


def _either(*conditions: Condition) -> Condition:
    """Return the disjunction."""
    sql = " OR ".join(f"({condition.sql or 'true'})" for condition in conditions)
    return Condition(f"({sql or 'false'})", tuple(value for condition in conditions for value in condition.values))


def _holds(column: str, text: str) -> Condition:
    return Condition(f"{column} ILIKE %s", (f"%{like(text)}%",))
