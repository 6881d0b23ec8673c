"""Translates filters and conditions to SQL, for backends, bundled or not, with a relational database.

The rules are defined here once; a `Dialect` has the SQL that differs between databases.  Conditions refer to tables
with the columns of `sdk.rows`: `sessions AS s`, mostly joined with `files AS f`, and the full-text table.  Keys, ids
and directories (`s.key`, `s.session_id`, `s.cwd`) must compare byte by byte.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from ..dataclass import replace
from ..text.words import word_of
from ..types.query import SHELLS, AllOf, AnyOf, Condition, Filters, Has, Is, Not, Word, marked, names_of
from .where import FALSE, TRUE, Where, ending, like

#: A row of `sessions AS s JOIN files AS f` represents its session: of one read from several files, the file that
#: exists, then one that was not imported, then the longest, then the latest (`sesame_core.search.grouping.copy_rank`).
STANDING = Where(
    "NOT EXISTS (SELECT 1 FROM sessions AS o JOIN files AS g ON g.id = o.file "
    "WHERE o.key = s.key AND o.id <> s.id "
    "AND (g.missing_since IS NULL, coalesce(o.parent_id, '') <> o.session_id, o.chunk_count, o.id) "
    "> (f.missing_since IS NULL, coalesce(s.parent_id, '') <> s.session_id, s.chunk_count, s.id))"
)
#: The keys of sessions that were read from several files: only of these, some rows do not represent their session.
REPEATED = "SELECT key FROM sessions GROUP BY key HAVING count(*) > 1"
#: The column of `sessions AS s` that has the value of a field of filters, for `Values.values`.
COLUMNS = {
    "agents": "s.agent",
    "branch": "s.git_branch",
    "cwd": "s.cwd",
    "host": "s.host",
    "model": "s.model",
    "owner": "s.owner",
    "repo": "s.repository",
}
#: When a row of `sessions AS s` began.
_CREATED = "coalesce(s.created, s.modified)"
#: The weight class that has all chunks of a role, and no others.
_CLASS_OF_ROLE = {"user": 0, "tool": 3}


def on_kind(filters: Filters) -> Where:
    """Return the condition on `sessions AS s` that excludes the kinds of sessions excluded by default."""
    return TRUE if filters.all_kinds else Where("s.kind <> 'headless'")


class Dialect(ABC):
    """The SQL of one database.

    Its attributes are fragments of SQL.  A condition on chunks refers to rows of the full-text table; `of_chunk` looks
    up the columns of a chunk that this table lacks.
    """

    #: The placeholder of a value in a statement.
    mark: str
    #: The operator that matches a pattern, ignoring case.
    like: str
    #: The function that expands a JSON object to rows with a column `key`.
    each: str
    #: The last component of a session's directory, whatever the separator.
    last_of_cwd: str
    #: The column `key` of `each(s.directories) AS d`, compared byte by byte.
    directory: str = "d.key"
    #: The tags in the notes of a row of `sessions AS s`, as a table with a column `value`.
    tags: str = "json_each(s.notes, '$[3]') AS g"
    #: The workstation of a row of `sessions AS s`: its key up to the first colon.
    workstation: str = "split_part(s.key, ':', 1)"
    #: A chunk's weight class (`types.Chunk.weight_class`), its role, and its tool's name in lower case.
    weight_class: str
    role: str
    tool: str
    #: The session of a row of `chunks AS c`.
    session_of_chunk: str
    #: The condition that this is the session of a row of `sessions AS s`, if an index answers another one faster.
    chunks_of_session: str = ""

    @abstractmethod
    def time(self, time: datetime) -> Any:
        """Return a time as the column `modified` stores it."""

    @abstractmethod
    def of_chunk(self, sql: str) -> str:
        """Return a condition on a chunk's role or tool as one on the full-text table."""

    @abstractmethod
    def holding(self, words: Sequence[Word], chunk: Where = TRUE) -> Where:
        """Return the condition that a row of `sessions AS s` has one of the words in a chunk that meets `chunk`."""

    @abstractmethod
    def having(self, chunk: Where) -> Where:
        """Return the condition that a row of `sessions AS s` has a chunk that meets a condition."""

    @abstractmethod
    def touching(self, path: str) -> Where:
        """Return the condition that a row of `sessions AS s` has a tool call that names a file.

        :param path: path of the file, or its last components; with a final `/`, of a directory that contains the file.
        """

    # -- the same in all databases, or in most ------------------------------------------------------------

    def running(self, command: Word) -> Where:
        """Return the condition that a row of `sessions AS s` has a call of a shell with a word, or words in order."""
        plain = f"replace(replace({self.tool}, '_', ''), '-', '')"
        shell = Where(self.of_chunk(f"{plain} IN ({self.marks(SHELLS)})"), SHELLS)
        return self.holding([command], Where(f"{self.weight_class} = 2").and_(shell))

    def marks(self, values: Iterable[object]) -> str:
        """Return the placeholders of several values."""
        return ", ".join(self.mark for _ in values)

    def insert(self, table: str, columns: Sequence[str]) -> str:
        """Return the statement that inserts a row."""
        return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({self.marks(columns)})"

    def assignments(self, columns: Iterable[str]) -> str:
        """Return the assignments after SET in an UPDATE."""
        return ", ".join(f"{column} = {self.mark}" for column in columns)

    def begins(self, column: str, text: str) -> Where:
        """Return the condition that a column starts with a string; an index of the column can answer it.

        :param text: a string that ends with an ASCII character.
        """
        upper = text[:-1] + chr(ord(text[-1]) + 1)
        return Where(f"({column} >= {self.mark} AND {column} < {self.mark})", (text, upper))

    def family(self, column: str, session_id: str) -> Where:
        """Return the condition that a column is a session's id, or that of a subagent of it."""
        return self._is(column, session_id).or_(self.begins(column, session_id + "/"))

    def values_of(self, field: str) -> str:
        """Return the query of `Values.values`, whose only value is the limit."""
        source, value = "sessions AS s", COLUMNS.get(field)
        if field == "cwd":
            others = f"SELECT {self.directory}, s.key {self._moved}"
            source, value = f"(SELECT s.cwd, s.key FROM sessions AS s UNION ALL {others}) AS s", "s.cwd"
        if field == "tool":
            source, value = f"{source}, {self.each}(s.tool_counts) AS t", "t.key"
        elif field == "tags":
            source, value = f"{source}, {self.tags}", "g.value"
        elif field == "workstation":
            value = self.workstation
        return (
            f"SELECT {value}, count(DISTINCT s.key) FROM {source} WHERE coalesce({value}, '') <> '' "
            f"GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {self.mark}"
        )

    def directories(self) -> str:
        """Return the query of `Directories.directories`, whose only value is the limit."""
        others = f"SELECT {self.directory} {self._moved} AND {self.directory} <> ''"
        return f"SELECT s.cwd FROM sessions AS s WHERE s.cwd <> '' UNION {others} LIMIT {self.mark}"

    def on_sessions(self, filters: Filters) -> Where:
        """Return the condition of the filters on a row of `sessions AS s`, except for its kind."""
        parts: list[Where] = []
        if filters.workstation:
            parts.append(self.begins("s.key", filters.workstation + ":"))
        if filters.owner:
            parts.append(self._is_named("lower(s.owner)", filters.owner))
        if filters.host:
            parts.append(self._is_named("lower(s.host)", filters.host))
        if filters.cwd:
            parts.append(self._in(filters.cwd))
        if filters.places:
            parts.append(self._in(*filters.places))
        parts.append(self._during(filters))
        if filters.agents:
            parts.append(Where(f"s.agent IN ({self.marks(filters.agents)})", tuple(filters.agents)))
        parts += [self.family("s.session_id", session_id).not_() for session_id in filters.exclude]
        if filters.repo:
            parts.append(self._holds("s.repository", filters.repo).or_(self._holds(self.last_of_cwd, filters.repo)))
        if filters.branch:
            parts.append(self._matches("'/' || s.git_branch", ending(filters.branch)))
        if filters.model:
            parts.append(self._holds("s.model", filters.model))
        if filters.starred:
            parts.append(self._among(marked(filters.starred)[0]))
        parts += map(self._tagged, filters.tags)
        if filters.path:
            parts.append(self.touching(filters.path))
        if filters.cmd:
            parts.append(self.running(word_of(filters.cmd)))
        if filters.is_error:
            failed = Where("c.is_error")
            if filters.tool:
                failed = failed.and_(self._is_named("lower(c.tool_name)", filters.tool))
            sql = f"s.id IN (SELECT {self.session_of_chunk} FROM chunks AS c{failed.where()})"
            parts.append(Where(sql, failed.values))
        return TRUE.and_(*parts)

    def within(self, column: str, filters: Filters) -> Where:
        """Return the condition that a time is between `after` and `before`."""
        bounds = ((">=", filters.after), ("<=", filters.before))
        return TRUE.and_(*(Where(f"{column} {sign} {self.mark}", (self.time(t),)) for sign, t in bounds if t))

    def whole(self, filters: Filters) -> Where:
        """Return the condition that all of a row of `sessions AS s` is between `after` and `before`."""
        return self.within(_CREATED, filters).and_(self.within("s.modified", filters))

    def _during(self, filters: Filters) -> Where:
        """Return the condition that something was said in a row of `sessions AS s` between `after` and `before`."""
        began = self.within(_CREATED, replace(filters, after=None))
        lasted = self.within("s.modified", replace(filters, before=None))
        if not (filters.after and filters.before):
            return lasted.and_(began)
        # Only of a session that lasted beyond both ends its chunks must tell.
        is_at_end = self.within(_CREATED, filters).or_(self.within("s.modified", filters))
        chunks = self.chunks_of_session or f"{self.session_of_chunk} = s.id"
        # Not EXISTS, for which a planner may read all chunks once in place of those of a few sessions.
        of_session = f"(SELECT true FROM chunks AS c WHERE {chunks} AND"
        is_said = self.within("c.timestamp", filters)
        said = Where(f"{of_session} {is_said.sql} LIMIT 1) IS TRUE", is_said.values)
        is_timeless = Where(f"{of_session} c.timestamp IS NOT NULL LIMIT 1) IS NOT TRUE")
        return lasted.and_(began, is_at_end.or_(said, is_timeless))

    def on_chunks(self, filters: Filters) -> Where:
        """Return the condition of the filters on a single chunk, except for `after` and `before`."""
        if filters.role and filters.role not in _CLASS_OF_ROLE:
            is_role = Where(self.of_chunk(f"{self.role} = {self.mark}"), (filters.role,))
            return self.on_classes(filters).and_(is_role)
        return self.on_classes(filters)

    def on_classes(self, filters: Filters) -> Where:
        """Return the part of `on_chunks` that weight class and tool decide: all but the role of some chunks."""
        parts: list[Where] = []
        if filters.tools_only or filters.tool:
            parts.append(Where(f"{self.weight_class} >= 2"))
        if filters.tool:
            named = self._is_named(self.tool, filters.tool)
            parts.append(Where(self.of_chunk(named.sql), named.values))
        if filters.role in _CLASS_OF_ROLE:
            parts.append(Where(f"{self.weight_class} = {_CLASS_OF_ROLE[filters.role]}"))
        elif filters.role:
            parts.append(Where(f"{self.weight_class} NOT IN (0, 3)"))
        return TRUE.and_(*parts)

    def having_chunks(self, filters: Filters) -> Where:
        """Return the condition that a row of `sessions AS s` has a chunk that meets `on_chunks`."""
        if filters.role:
            return self.having(self.on_chunks(filters))
        if filters.tool:
            named = self._is_named("lower(t.key)", filters.tool)
            return Where(f"EXISTS (SELECT 1 FROM {self.each}(s.tool_counts) AS t WHERE {named.sql})", named.values)
        return Where("s.tool_counts <> '{}'") if filters.tools_only else TRUE

    def meeting(self, condition: Condition | None) -> Where:
        """Return the condition that a row of `sessions AS s` meets a condition of a query."""
        match condition:
            case None:
                return TRUE
            case Has(word):
                return self.holding([word])
            case Is(filters):
                return self.on_sessions(filters).and_(self.having_chunks(filters))
            case Not(part):
                return self.meeting(part).not_()
            case AllOf(parts):
                return TRUE.and_(*map(self.meeting, parts))
            case AnyOf(parts):
                words = [part.word for part in parts if isinstance(part, Has)]
                others = [self.meeting(part) for part in parts if not isinstance(part, Has)]
                # One lookup in the index for all words.
                return FALSE.or_(*([self.holding(words)] if words else []), *others)

    def _in(self, *directories: str) -> Where:
        """Return the condition that a row of `sessions AS s` was in one of several directories, or below one."""
        names = dict.fromkeys(name for each in directories for name in names_of(each))
        first, other = (
            FALSE.or_(*(self._below(column, name) for name in names)) for column in ("s.cwd", self.directory)
        )
        # Two lookups, each with an index: of a disjunction, planners read all sessions.
        moved = f"SELECT s.id {self._moved} AND {other.sql}"
        sql = f"SELECT s.id FROM sessions AS s WHERE {first.sql} UNION ALL {moved}"
        return Where(f"s.id IN ({sql})", (*first.values, *other.values))

    @property
    def _moved(self) -> str:
        """The clauses for the directories of sessions besides their first: `d`; most sessions have none."""
        return f"FROM sessions AS s, {self.each}(s.directories) AS d WHERE s.directories IS NOT NULL"

    def _tagged(self, tag: str) -> Where:
        """Return the condition that a row of `sessions AS s` has a tag, in its notes or by its reader's mark."""
        given, without = marked(tag)
        named = self._is_named("lower(g.value)", tag)
        noted = Where(f"EXISTS (SELECT 1 FROM {self.tags} WHERE {named.sql})", named.values)
        if without:
            noted = noted.and_(self._among(without).not_())
        return noted.or_(self._among(given))

    def _among(self, session_ids: Sequence[str]) -> Where:
        """Return the condition that a row of `sessions AS s` has one of these ids."""
        return Where(f"s.session_id IN ({self.marks(session_ids)})", tuple(session_ids)) if session_ids else FALSE

    def _below(self, column: str, directory: str) -> Where:
        """Return the condition that a column is a directory or one below it."""
        slash, backslash = directory.rstrip("/") + "/", directory + "\\"
        return self._is(column, directory).or_(self.begins(column, slash), self.begins(column, backslash))

    def _is(self, column: str, text: str) -> Where:
        return Where(f"{column} = {self.mark}", (text,))

    def _is_named(self, small: str, name: str) -> Where:
        """Return the condition that a lower-case name equals a name, ignoring case."""
        return Where(f"{small} = lower({self.mark})", (name,))

    def _holds(self, column: str, text: str) -> Where:
        return self._matches(column, f"%{like(text)}%")

    def _matches(self, column: str, pattern: str) -> Where:
        return Where(f"{column} {self.like} {self.mark} ESCAPE '\\'", (pattern,))
