"""Writes filters as SQL conditions for PostgreSQL: on `sessions AS s`, and on `texts AS t`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sesame_core.sdk.sql import REPEATED, Dialect, on_kind
from sesame_core.sdk.where import FALSE, TRUE, Where, like
from sesame_core.types.query import Filters, Word

from .rows import reversed_path
from .words import any_of, either, has_order, phrases, without_order

__all__ = [
    "ALL_STANDING",
    "DIALECT",
    "STANDING",
    "Where",
    "having_chunks",
    "meeting",
    "on_chunks",
    "on_classes",
    "on_kind",
    "on_sessions",
    "said_within",
    "whole",
]


class _Postgres(Dialect):
    mark = "%s"
    like = "ILIKE"
    each = "jsonb_each"
    last_of_cwd = r"substring(replace(s.cwd, '\', '/') FROM '[^/]*$')"
    directory = 'd.key COLLATE "C"'
    tags = "jsonb_array_elements_text(s.notes::jsonb -> 3) AS g (value)"
    weight_class = "t.class"
    role = "t.role"
    tool = "t.tool"
    session_of_chunk = "c.session"

    def time(self, time: datetime) -> datetime:
        return time

    def of_chunk(self, sql: str) -> str:
        return sql

    def holding(self, words: Sequence[Word], chunk: Where = TRUE) -> Where:
        made = phrases(words)
        if not made:
            return FALSE
        if chunk.sql:
            return _in_chunk(made, chunk)
        # The words of a session are in one list, without their order: only sessions with those of a phrase are read.
        ordered = [phrase for phrase in made if has_order(phrase)]
        plain = [phrase for phrase in made if not has_order(phrase)]
        if not ordered:
            return _in_session(plain)
        if not plain:
            return _in_session(ordered).and_(_in_chunk(ordered))
        return _in_session(plain).or_(_in_session(ordered).and_(_in_order(ordered, plain)))

    def running(self, command: Word) -> Where:
        asked = any_of([command])
        if asked is None:
            return FALSE
        found = "c.session = s.id AND c.words @@ to_tsquery('code', %s)"
        return Where(f"(EXISTS (SELECT 1 FROM commands AS c WHERE {found})) IS TRUE", (asked,))

    def having(self, chunk: Where) -> Where:
        return Where(f"EXISTS (SELECT 1 FROM texts AS t WHERE t.session = s.id AND {chunk.sql})", chunk.values)

    def touching(self, path: str) -> Where:
        backwards = reversed_path(path)
        if path.endswith("/"):  # every file below it
            touched = Where("paths.reversed LIKE %s", (f"%{like(backwards)}%",))
        else:
            # Not LIKE: it uses an index only if the pattern is known at planning.
            touched = Where(
                "paths.reversed >= %s AND paths.reversed < %s::text || U&'\\+10FFFF'", (backwards, backwards)
            )
        return Where(f"s.id IN (SELECT session FROM paths{touched.where()})", touched.values)

    def said_within(self, filters: Filters) -> Where:
        """Return the condition on `texts AS t` that a chunk was said between `after` and `before`, or has no time.

        It refers to `allowed`, which says of each session whether all of it was.
        """
        is_within = self.within("c.timestamp", filters)
        if not is_within.sql:
            return TRUE
        # Not EXISTS, for which all chunks would be read once.
        looked_up = f"SELECT c.timestamp IS NULL OR ({is_within.sql}) FROM chunks AS c"
        return Where(
            "(t.session IN (SELECT id FROM allowed WHERE is_whole) OR "
            f"({looked_up} WHERE c.session = t.session AND c.seq = t.seq)) IS TRUE",
            is_within.values,
        )


def _in_chunk(phrases: Sequence[str], chunk: Where = TRUE) -> Where:
    """Return the condition on `sessions AS s` that one of its chunks has one of the phrases."""
    # One query for all sessions: a join would fetch the words of each.
    return Where(
        "(EXISTS (SELECT 1 FROM texts AS t WHERE t.session = s.id "
        f"AND t.words @@ to_tsquery('code', %s){chunk.where('AND')})) IS TRUE",
        (either(phrases), *chunk.values),
    )


def _in_order(phrases: Sequence[str], others: Sequence[str]) -> Where:
    """Return the condition on `sessions AS s` that one of its chunks has one of the phrases, if none has of the others.

    :param others: phrases of one word, which an index of sessions finds: what the words of a chunk are costs more.
    """
    words = without_order("to_tsquery('code', %s)")
    found = f"SELECT v.session FROM vocabularies AS v WHERE v.words @@ {words}"
    asked = either(phrases)
    return Where(
        f"(EXISTS (SELECT 1 FROM texts AS t WHERE t.session = s.id AND t.words @@ {words} "
        f"AND CASE WHEN t.session NOT IN ({found}) THEN t.words @@ to_tsquery('code', %s) END)) IS TRUE",
        (asked, either(others), asked),
    )


def _in_session(phrases: Sequence[str]) -> Where:
    """Return the condition on `sessions AS s` that it has the words of one of the phrases."""
    query = without_order("to_tsquery('code', %s)")
    return Where(
        f"(EXISTS (SELECT 1 FROM vocabularies AS v WHERE v.session = s.id AND v.words @@ {query})) IS TRUE",
        (either(phrases),),
    )


DIALECT = _Postgres()
#: As `sdk.sql.STANDING`, without `files AS f`: files are looked up for the few sessions that several of them contain.
STANDING = Where(
    "NOT EXISTS (SELECT 1 FROM sessions AS o WHERE o.key = s.key AND o.file <> s.file AND ("
    "SELECT (g.missing_since IS NULL, coalesce(o.parent_id, '') <> o.session_id, o.chunk_count, o.id) "
    "> (f.missing_since IS NULL, coalesce(s.parent_id, '') <> s.session_id, s.chunk_count, s.id) "
    "FROM files AS f, files AS g WHERE f.id = s.file AND g.id = o.file))"
)
#: The same for nearly all sessions: those in one file only are known from one reading of the index of keys.
ALL_STANDING = Where(f"(s.key IN ({REPEATED})) IS FALSE").or_(STANDING)
on_sessions, on_chunks, on_classes = DIALECT.on_sessions, DIALECT.on_chunks, DIALECT.on_classes
having_chunks, meeting = DIALECT.having_chunks, DIALECT.meeting
said_within, whole = DIALECT.said_within, DIALECT.whole
