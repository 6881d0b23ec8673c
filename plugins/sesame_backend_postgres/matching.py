"""Finds and scores the chunks that match a query, within a budget, in one statement.

BM25 needs three numbers of a chunk and a word: in how many chunks the word occurs, how often in this one, and how
long this one is.  The second is what `ts_rank_cd` returns when every weight is 1: it counts the places where a query
is met, of words, prefixes and phrases alike; other weights make it the weighted number that FTS5 takes for columns.
So the scores are those of FTS5 to the last digits.

Reading and scoring a chunk takes 2 µs and 1 µs per word, so broad words are bounded: candidates are the chunks with
the rarest words, as many as the budget allows, and the newest ones when even the rarest word is too common.  The
budget picks candidates; each candidate's score counts all words of the query.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from sesame_core.protocols import Candidates, ScoredChunk
from sesame_core.query import Filters, Query

from . import words
from .filters import Condition, meeting, on_chunks, on_kind, on_sessions

#: Chunks that one query may score, so that 100,000 chunks answer within 50 ms.
BUDGET = 10000
#: When even the rarest word has more chunks than that, so many of its newest.
NEWEST = 4000
#: Of chunks that were chosen by some words only, the best whose score then counts all words.
RESCORED = 600
#: Candidates handed to the ranking; more change nothing [facts: 500 as good as all].
CANDIDATES = 500
#: Words with more chunks than that are not counted but looked up in `lexemes`.
COUNTED = 1_500
#: Sessions whose conversation is scored: the best by chunks and head.  Each takes 50 µs, since the rows are long.
CONVERSATIONS = 300
#: Weights of the columns, in `ts_rank_cd`'s order D, C, B, A, and what they were divided by.
HEAD_WEIGHTS, HEAD_SCALE = "{0, 1, 0.5, 1}", 2.0
CONVERSATION_WEIGHTS, CONVERSATION_SCALE = "{0, 0.25, 0.375, 1}", 4.0
#: BM25's constants and the least a word counts, as FTS5 has them.
K1, B, FLOOR = 1.2, 0.75, 1e-6


@dataclass(frozen=True, slots=True)
class _Asked:
    """The words of a query: each alternative once, and which of them stand for which word."""

    phrases: list[str]
    #: By word: positions of its phrases.
    words: list[list[int]]

    @classmethod
    def of(cls, query: Query) -> _Asked:
        phrases = words.phrases(query.words)
        place = {phrase: number for number, phrase in enumerate(phrases)}
        return cls(phrases, [[place[phrase] for phrase in words.phrases([word])] for word in query.words])


def candidates(db: psycopg.Connection[Any], query: Query, filters: Filters) -> Candidates:
    """Return the scored chunks and heads for a query."""
    asked = _Asked.of(query)
    found = Candidates(
        chunks=[],
        heads={},
        document_frequencies=[0] * len(query.words),
        chunk_total=0,
        session_total=0,
        left_out={},
    )
    if not asked.phrases:
        row = db.execute("SELECT coalesce(sum(chunks), 0)::bigint FROM workstations").fetchone()
        found.chunk_total = row[0] if row else 0
        return found
    statement = _statement(asked, query, filters)
    rows = db.execute(statement.sql, statement.values).fetchall()
    for what, a, b, c, score in rows:
        if what == "chunk":
            found.chunks.append(ScoredChunk(session=a, seq=b, weight_class=c, score=score))
        elif what == "head":
            found.heads[a] = score
        elif what == "conversation":
            found.conversations[a] = score
        elif what == "word":
            found.document_frequencies[b] = a
        elif what == "whole":
            found.chunk_total, found.scanned, found.is_truncated = a, b, not c
        elif what == "sessions":
            found.session_total = a
        elif a:
            found.left_out = {"headless": a}
    found.chunks.sort(key=lambda chunk: (-chunk.score, -chunk.session, chunk.seq))
    return found


def _statement(asked: _Asked, query: Query, filters: Filters) -> Condition:
    """Return the one statement that finds everything."""
    narrow = on_sessions(filters).and_(meeting(query.condition))
    chunk = on_chunks(filters)
    heads_count = not (filters.tools_only or filters.tool or filters.role)
    numbers = range(len(asked.phrases))
    single = {n for n in numbers if words.is_single(asked.phrases[n])}
    values: list[Any] = []

    def use(condition: Condition, keyword: str = "AND") -> str:
        values.extend(condition.values)
        return condition.where(keyword)

    listed = ", ".join(f"({n}, to_tsquery('code', %s))" for n in numbers)
    values.extend(asked.phrases)
    of_words = ", ".join(f"({w}, {n})" for w, used in enumerate(asked.words) for n in used)
    parts = [
        """total AS MATERIALIZED (
  SELECT greatest(sum(chunks), 1)::float8 AS chunks,
    greatest(sum(chunk_tokens) / greatest(sum(chunks), 1), 1)::float8 AS chunk_length,
    greatest(sum(sessions), 1)::float8 AS sessions,
    greatest(sum(head_tokens) / greatest(sum(sessions), 1), 1)::float8 AS head_length,
    greatest(sum(conversation_tokens) / greatest(sum(sessions), 1), 1)::float8 AS conversation_length,
    coalesce(sum(chunks) / nullif((SELECT value::float8 FROM meta WHERE key = 'counted'), 0), 1)::float8 AS growth
  FROM workstations
)""",
        # A phrase has as many chunks as its rarest word at most; when that is common, a sample tells the share.
        f"""phrase AS MATERIALIZED (
  SELECT n, q, least(CASE
      WHEN known <= {COUNTED} THEN (SELECT count(*) FROM texts AS t WHERE t.words @@ q)
      WHEN numnode(q) = 1 THEN known * growth
      ELSE (SELECT count(*) FILTER (WHERE words @@ q) * CASE WHEN count(*) < {COUNTED} THEN 1 ELSE known / {COUNTED} END
            FROM (SELECT t.words FROM texts AS t WHERE t.words @@ every LIMIT {COUNTED}) AS sample)
    END, chunks)::float8 AS df
  FROM (VALUES {listed}) AS v (n, q), total,
  LATERAL (SELECT replace(regexp_replace(q::text, '<\\d+>|<->', '&', 'g'), '&&', '&')::tsquery AS every) AS e,
  LATERAL (
    SELECT coalesce(min(count), 0) AS known FROM (
      SELECT CASE WHEN m[2] IS NULL THEN (SELECT chunks FROM lexemes WHERE lexeme = m[1])
        ELSE (SELECT sum(chunks) FROM lexemes WHERE lexeme >= m[1] AND lexeme < m[1] || U&'\\+10FFFF') END AS count
      FROM regexp_matches(q::text, '''([^'']+)''(:\\*)?', 'g') AS m
    ) AS counts
  ) AS k
)""",
        f"""word AS MATERIALIZED (
  SELECT w, df, q, sum(df) OVER (ORDER BY df = 0, df, w) AS until FROM (
    SELECT w, string_agg('(' || q::text || ')', ' | ')::tsquery AS q,
      CASE WHEN count(*) = 1 THEN max(df) WHEN sum(df) <= {COUNTED}
      THEN (SELECT count(*) FROM texts AS t WHERE t.words @@ string_agg('(' || q::text || ')', ' | ')::tsquery)
      ELSE max(df) END::float8 AS df
    FROM (VALUES {of_words}) AS v (w, n) JOIN phrase USING (n) GROUP BY w
  ) AS counted
)""",
    ]
    within = "1.0"
    if narrow.sql:
        parts.append(
            f"allowed AS MATERIALIZED (SELECT s.id, s.kind, s.chunk_count FROM sessions AS s{use(narrow, 'WHERE')})"
        )
        within = "least(1.0, (SELECT coalesce(sum(chunk_count), 0) FROM allowed) / total.chunks)"
    sessions = "allowed" if narrow.sql else "sessions"
    parts.append(
        f"""plan AS MATERIALIZED (
  SELECT *, least(1.0, {NEWEST} / greatest(chosen * within, 1)) AS newest FROM (
    SELECT within, whole, chunks, chunk_length,
      (SELECT string_agg('(' || q::text || ')', ' | ')::tsquery FROM word) AS every,
      (SELECT string_agg('(' || q::text || ')', ' & ')::tsquery FROM word WHERE df > 0) AS together,
      (SELECT string_agg('(' || q::text || ')', ' | ')::tsquery FROM word
       WHERE df > 0 AND (whole OR chosen_word)) AS either,
      (SELECT sum(df) FROM word WHERE df > 0 AND (whole OR chosen_word)) AS chosen
    FROM (SELECT *, (SELECT sum(df) FROM word) * within <= {BUDGET} AS whole
          FROM (SELECT chunks, chunk_length, {within} AS within FROM total) AS t) AS u
  ) AS v
)"""
    )
    # Whether a word is among the rarest that fit into the budget; the rarest of all always is.
    fits = f"(until * within <= {BUDGET} OR until = df)"
    parts[-1] = parts[-1].replace("chosen_word", fits)
    parts.append(
        f"""cutoff AS MATERIALIZED (
  SELECT coalesce(min(id), 0) AS first FROM (
    SELECT id, chunk_count, sum(chunk_count) OVER (ORDER BY id DESC) AS until FROM {sessions}
    WHERE NOT (SELECT whole FROM plan) AND (SELECT chosen * within > {BUDGET} FROM plan)
  ) AS s WHERE until - chunk_count < (SELECT newest * within * chunks FROM plan)
)"""
    )
    selected = ", ".join(
        f"bool_or(n = {n} AND (w IN (SELECT w FROM word WHERE (SELECT whole FROM plan) OR "
        f"(SELECT {fits} FROM plan)))) AS s{n}, max(q::text) FILTER (WHERE n = {n})::tsquery AS q{n}, "
        f"max({_idf('chunks', 'df')}) FILTER (WHERE n = {n}) AS i{n}"
        for n in numbers
    )
    parts.append(
        f"""used AS MATERIALIZED (
  SELECT {selected} FROM (VALUES {of_words}) AS v (w, n) JOIN phrase USING (n), total
)"""
    )
    in_sessions = "t.session IN (SELECT id FROM allowed)" if narrow.sql else ""
    headless = "t.session IN (SELECT id FROM sessions WHERE kind = 'headless')"
    hidden = headless if not filters.all_kinds else "false"
    own = Condition(in_sessions).and_(chunk)
    first = _sum(numbers, "t.words", "t.tokens / chunk_length", "WHEN s{n}", single=single)
    rest = _sum(numbers, "t.words", "t.tokens / chunk_length", "WHEN NOT s{n}", single=single)
    # Two ways, of which one is gone: the index of sessions costs more than it saves when all of them are wanted.
    ways = [
        f"""SELECT t.session, t.seq, t.class, {hidden} AS is_hidden, CASE WHEN NOT ({hidden}) THEN {first} END AS score
  FROM plan, used, texts AS t
  WHERE {way} AND t.words @@ plan.either{use(own)}"""
        for way in (
            "(SELECT first = 0 FROM cutoff)",
            "(SELECT first > 0 FROM cutoff) AND t.session >= (SELECT first FROM cutoff)",
        )
    ]
    parts.append(f"met AS MATERIALIZED (({' UNION ALL '.join(ways)}) LIMIT {2 * BUDGET})")
    parts.append(
        f"""best AS MATERIALIZED (
  SELECT session, seq, class, score + CASE WHEN (SELECT whole FROM plan) THEN 0 ELSE (
      SELECT {rest} FROM plan, used, texts AS t WHERE t.session = m.session AND t.seq = m.seq
    ) END AS score
  FROM (SELECT * FROM met WHERE NOT is_hidden ORDER BY score DESC LIMIT {RESCORED}) AS m
)"""
    )
    # When the budget took the newest only, older chunks with all words are candidates too.
    everything = _sum(numbers, "t.words", "t.tokens / chunk_length", "WHEN true", single=single)
    parts.append(
        f"""together AS MATERIALIZED (
  SELECT t.session, t.seq, t.class, {everything} AS score FROM plan, used, (
    SELECT t.* FROM plan, texts AS t
    WHERE (SELECT first > 0 FROM cutoff) AND (SELECT count(*) > 1 FROM word) AND t.words @@ plan.together
      AND NOT ({hidden}){use(own)}
    ORDER BY t.session DESC, t.seq DESC LIMIT {RESCORED}
  ) AS t
)"""
    )
    parts.append(
        f"""chunk AS MATERIALIZED (
  SELECT session, seq, class, score FROM (SELECT * FROM best UNION SELECT * FROM together) AS b
  ORDER BY score DESC LIMIT {CANDIDATES}
)"""
    )
    if heads_count:
        shown = narrow.and_(on_kind(filters))
        kept = ""
        if narrow.sql and not filters.all_kinds:
            kept = " AND h.session IN (SELECT id FROM allowed WHERE kind <> 'headless')"
        elif narrow.sql:
            kept = " AND h.session IN (SELECT id FROM allowed)"
        elif shown.sql:
            kept = " AND h.session NOT IN (SELECT id FROM sessions WHERE kind = 'headless')"
        parts.append(_document_statistics("heads", "head", numbers))
        told = _sum(numbers, "h.words", "h.tokens / head_length", "WHEN true", weights=HEAD_WEIGHTS, scale=HEAD_SCALE)
        parts.append(
            f"""head AS MATERIALIZED (
  SELECT * FROM (
    SELECT h.session, {told} AS score
    FROM total, head_used, (SELECT every FROM plan) AS p, heads AS h WHERE h.words @@ every{kept}
  ) AS h WHERE score > 0 ORDER BY score DESC LIMIT {CANDIDATES}
)"""
        )
        parts.append(
            f"""near AS MATERIALIZED (
  SELECT session FROM (
    SELECT session, max(score) / (SELECT max(score) FROM chunk) AS score FROM chunk GROUP BY 1
    UNION ALL SELECT session, 0.3 * score / (SELECT max(score) FROM head) FROM head
  ) AS s WHERE EXISTS (SELECT 1 FROM head) GROUP BY 1 ORDER BY sum(score) DESC LIMIT {CONVERSATIONS}
)"""
        )
        parts.append(_document_statistics("conversations", "conversation", numbers, "count(DISTINCT d.session)"))
        each = ", ".join(f"ts_rank_cd('{CONVERSATION_WEIGHTS}', words, q{n}) AS f{n}" for n in numbers)
        sums = ", ".join(f"sum(f{n}) * {CONVERSATION_SCALE} AS f{n}" for n in numbers)
        scored = " + ".join(_bm25(f"f{n}", f"i{n}", "s.conversation_tokens / conversation_length") for n in numbers)
        parts.append(
            f"""conversation AS MATERIALIZED (
  SELECT session, {scored} AS score FROM total, conversation_used, (
    SELECT session, {sums} FROM (
      SELECT near.session, {each} FROM conversation_used, near,
        -- Changes nothing, but takes the long value out of its storage once for all words.
        LATERAL (
          SELECT setweight(words, 'D', '{{}}') AS words FROM conversations WHERE session = near.session OFFSET 0
        ) AS c
    ) AS part GROUP BY 1
  ) AS c JOIN sessions AS s ON s.id = c.session
)"""
        )
    answers = [
        "SELECT 'chunk' AS what, session::bigint AS a, seq AS b, class::int AS c, score FROM chunk",
        "SELECT 'word', round(df)::bigint, w, 0, 0 FROM word",
        "SELECT 'whole', (SELECT coalesce(sum(chunks), 0)::bigint FROM workstations), "
        "(SELECT count(*) FROM met WHERE NOT is_hidden)::int, "
        f"(SELECT whole AND (SELECT count(*) FROM met) < {2 * BUDGET} FROM plan)::int, 0",
        "SELECT 'sessions', count(DISTINCT session), 0, 0, 0 FROM "
        "(SELECT session FROM met WHERE NOT is_hidden UNION SELECT session FROM together) AS s",
    ]
    if heads_count:
        answers.append("SELECT 'head', session, 0, 0, score FROM head")
        answers.append("SELECT 'conversation', session, 0, 0, score FROM conversation WHERE score > 0")
    if not filters.all_kinds:
        answers.append(
            "SELECT 'hidden', CASE WHEN (SELECT whole FROM plan) THEN "
            "(SELECT count(DISTINCT session) FROM met WHERE is_hidden) ELSE ("
            f"SELECT count(*) FROM {sessions} AS s WHERE s.kind = 'headless' AND EXISTS (SELECT 1 FROM texts AS t "
            f"WHERE t.session = s.id AND t.words @@ (SELECT every FROM plan){use(chunk)} OFFSET 0)) END, 0, 0, 0"
        )
    return Condition("WITH " + ",\n".join(parts) + "\n" + "\nUNION ALL ".join(answers), tuple(values))


def _document_statistics(table: str, name: str, numbers: Sequence[int], count: str = "count(*)") -> str:
    """Return a WITH part of one row: each phrase and how much it tells in a table of one document per session."""
    columns = ", ".join(
        f"max(q::text) FILTER (WHERE n = {n})::tsquery AS q{n}, max(idf) FILTER (WHERE n = {n}) AS i{n}"
        for n in numbers
    )
    return f"""{name}_used AS MATERIALIZED (
  SELECT {columns} FROM (
    SELECT n, q, {_idf("sessions", f"(SELECT {count} FROM {table} AS d WHERE d.words @@ q)")} AS idf FROM phrase, total
  ) AS p
)"""


def _idf(total: str, count: str) -> str:
    return f"greatest({FLOOR}, ln(greatest({FLOOR}, ({total} - {count} + 0.5) / ({count} + 0.5))))"


def _occurrences(column: str, number: int) -> str:
    """Return how often one word occurs, in half of `ts_rank_cd`'s time.

    `ts_rank` is (1 + 1/4 + … + 1/n²) · 6/π² of a word that occurs n times, which is 1 - 6/π² / (n + ½), nearly.
    """
    return f"round(1 / (1.6449340668 * (1 - ts_rank('{{1, 1, 1, 1}}', {column}, q{number}))) - 0.5)"


def _bm25(frequency: str, idf: str, length: str) -> str:
    """Return a word's part of a score; `length` is relative to the mean.

    frequency · (K1 + 1) / (frequency + k), written so that the frequency is worked out once.
    """
    k = f"({K1 * (1 - B):.4g} + {K1 * B:.4g} * {length})"
    return f"{idf} * {K1 + 1} * (1 - {k} / ({frequency} + {k}))"


def _sum(
    numbers: Sequence[int],
    column: str,
    length: str,
    when: str,
    *,
    single: Container[int] = (),
    weights: str = "{1, 1, 1, 1}",
    scale: float = 1.0,
) -> str:
    """Return the BM25 of a word list.

    :param when: the case in which phrase `{n}` counts.
    :param single: phrases that are one word, where all columns weigh the same.
    """
    times = f" * {scale}" if scale != 1.0 else ""
    terms = [
        f"CASE {when.format(n=n)} THEN "
        + _bm25(
            _occurrences(column, n) if n in single else f"ts_rank_cd('{weights}', {column}, q{n}){times}",
            f"i{n}",
            length,
        )
        + " ELSE 0 END"
        for n in numbers
    ]
    return "(" + " + ".join(terms) + ")"
