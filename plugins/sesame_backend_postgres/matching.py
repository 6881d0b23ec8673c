"""Finds and scores the chunks that match a query, within a budget, in one statement.

Reading a chunk takes 1.2 µs and scoring it 0.4 µs per word, so broad words are bounded: candidates are the chunks with
the rarest words, as many as the budget allows, and the newest ones when even the rarest word is too common, with those
that have all words.  The budget picks candidates; each candidate's score counts all words of the query.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sesame_core.protocols import Candidates, ScoredChunk
from sesame_core.query import Filters, Query

from . import scoring, words
from .filters import Condition, meeting, on_chunks, on_kind, on_sessions

#: Chunks that one query may score, so that 100,000 chunks answer within 50 ms.
BUDGET = 10_000
#: When even the rarest word has more chunks than that, so many of its newest.
NEWEST = 4_000
#: So many times as many chunks are looked at when a filter on chunks lets only some of them be scored.
READS = 3
#: Of chunks that were chosen by some words only, the best whose score then counts all words; and the newest with all.
RESCORED = 600
#: Candidates handed to the ranking; more change nothing [facts: 500 as good as all].
CANDIDATES = 500
#: Chunks that are read for a phrase, since the index of words does not know in which order they stand; of commoner
#: words the newest.  Each takes 1.5 µs; of a million chunks hardly any three words in a row have more.
READ = 200_000
#: Words with more chunks are not counted but looked up in `lexemes`; phrases are counted in a sample so large.
COUNTED = 1_000
#: Of the newest chunks so many with all words let expect that there are more of them just before.
FEW = 30
#: Documents, one for each session, that are looked at to tell in how many of them a word occurs.
DOCUMENTS = 4_000
#: Headless sessions that are looked at, the newest, to tell how many were left out of an answer to common words.
HEADLESS = 1_000
#: Sessions whose conversation is scored: the best by chunks and head.  Each takes 30 µs; 300 answer alike.
CONVERSATIONS = 150
#: Weights of the columns, in `ts_rank_cd`'s order D, C, B, A, and what they were divided by.
HEAD_WEIGHTS, HEAD_SCALE = "{0, 1, 0.5, 1}", 2.0
CONVERSATION_WEIGHTS, CONVERSATION_SCALE = "{0, 0.25, 0.375, 1}", 4.0


def candidates(ask: Callable[[str, Sequence[Any]], list[Any]], query: Query, filters: Filters) -> Candidates:
    """Return the scored chunks and heads for a query.

    :param ask: returns the rows that answer a question.
    """
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
        ((found.chunk_total,),) = ask("SELECT coalesce(sum(chunks), 0)::bigint FROM workstations", ())
        return found
    statement = _statement(asked, query, filters)
    for what, a, b, c, score in ask(statement.sql, statement.values):
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

    @property
    def numbers(self) -> range:
        """The phrases' positions."""
        return range(len(self.phrases))

    @property
    def single(self) -> set[int]:
        """Positions of phrases that are one whole word."""
        return {n for n in self.numbers if words.is_single(self.phrases[n])}

    @property
    def pairs(self) -> str:
        """The positions of words with those of their phrases, as rows of a VALUES list."""
        return ", ".join(f"({w}, {n})" for w, used in enumerate(self.words) for n in used)


class _Parts:
    """The parts of a WITH clause and their values, in order."""

    def __init__(self) -> None:
        self.sql: list[str] = []
        self.values: list[Any] = []

    def use(self, condition: Condition, keyword: str = "AND") -> str:
        """Return a condition's text for the part that is added next."""
        self.values.extend(condition.values)
        return condition.where(keyword)

    def add(self, name: str, select: str) -> None:
        """Add a part, which is worked out once."""
        self.sql.append(f"{name} AS MATERIALIZED (\n{select}\n)")


def _statement(asked: _Asked, query: Query, filters: Filters) -> Condition:
    """Return the one statement that finds everything."""
    parts = _Parts()
    narrow = on_sessions(filters).and_(meeting(query.condition))
    _add_frequencies(parts, asked)
    if narrow.sql:
        parts.add("allowed", f"SELECT s.id, s.kind, s.chunk_count FROM sessions AS s{parts.use(narrow, 'WHERE')}")
    sessions = "allowed" if narrow.sql else "sessions"
    _add_plan(parts, asked, sessions, filters)
    _add_chunks(parts, asked, filters, is_filtered=bool(narrow.sql))
    df = "round(df)::bigint"
    if len(asked.words) == 1 and not narrow.sql and not on_chunks(filters).sql:
        # What was estimated is known now.
        df = f"CASE WHEN (SELECT whole FROM plan) THEN (SELECT count(*) FROM met) ELSE {df} END"
    answers = [
        "SELECT 'chunk' AS what, session::bigint AS a, seq AS b, class::int AS c, score FROM chunk",
        f"SELECT 'word', {df}, w, 0, 0 FROM word",
        "SELECT 'whole', (SELECT coalesce(sum(chunks), 0)::bigint FROM workstations), "
        "(SELECT count(*) FROM met WHERE NOT is_hidden)::int, "
        f"(SELECT whole AND (SELECT count(*) FROM met) < {2 * BUDGET} FROM plan)::int, 0",
        "SELECT 'sessions', count(*), 0, 0, 0 FROM "
        "(SELECT session FROM met WHERE NOT is_hidden UNION SELECT session FROM older) AS s",
    ]
    if not (filters.tools_only or filters.tool or filters.role):
        kept = ""
        if narrow.sql:
            kept = f" AND h.session IN (SELECT s.id FROM allowed AS s{on_kind(filters).where()})"
        elif not filters.all_kinds:
            kept = " AND h.session NOT IN (SELECT id FROM sessions WHERE kind = 'headless')"
        _add_documents(parts, asked, kept)
        answers.append("SELECT 'head', session, 0, 0, score FROM head WHERE score > 0")
        answers.append("SELECT 'conversation', session, 0, 0, score FROM conversation WHERE score > 0")
    if not filters.all_kinds:
        # The index of words would be asked about all sessions once for each.
        answers.append(
            "SELECT 'hidden', CASE WHEN (SELECT whole FROM plan) THEN "
            "(SELECT count(*) FROM (SELECT FROM met WHERE is_hidden GROUP BY session) AS s) ELSE ("
            f"SELECT count(*) FROM (SELECT id FROM {sessions} WHERE kind = 'headless' ORDER BY id DESC "
            f"LIMIT {HEADLESS}) AS s WHERE EXISTS (SELECT 1 FROM texts AS t WHERE t.session = s.id "
            f"AND (t.words @@ (SELECT every FROM plan)) IS TRUE{parts.use(on_chunks(filters))})) END, 0, 0, 0"
        )
    return Condition("WITH " + ",\n".join(parts.sql) + "\n" + "\nUNION ALL ".join(answers), tuple(parts.values))


def _add_frequencies(parts: _Parts, asked: _Asked) -> None:
    """Add `total`, what there is, and `phrase` and `word`, in how many chunks each of them is (`df`)."""
    parts.add(
        "total",
        """  SELECT greatest(sum(chunks), 1)::float8 AS chunks,
    greatest(sum(chunk_tokens) / greatest(sum(chunks), 1), 1)::float8 AS chunk_length,
    greatest(sum(sessions), 1)::float8 AS sessions,
    greatest(sum(head_tokens) / greatest(sum(sessions), 1), 1)::float8 AS head_length,
    greatest(sum(conversation_tokens) / greatest(sum(sessions), 1), 1)::float8 AS conversation_length,
    coalesce(sum(chunks) / nullif((SELECT value::float8 FROM meta WHERE key = 'counted'), 0), 1)::float8 AS growth,
    (SELECT (max(id) - min(id) + 1)::float8 FROM sessions) AS numbers
  FROM workstations""",
    )
    listed = ", ".join(f"({n}, to_tsquery('code', %s))" for n in asked.numbers)
    parts.values.extend(asked.phrases)
    # A phrase has as many chunks as its rarest word at most; when that is common, a sample tells the share.  What is
    # not in the sample is rarer than one in it, and must count as something to be looked for.
    parts.add(
        "phrase",
        f"""  SELECT n, q, least(CASE
      WHEN known <= {COUNTED} THEN (SELECT count(*) FROM texts AS t WHERE t.words @@ q)
      WHEN numnode(q) = 1 THEN known * growth
      ELSE (SELECT CASE WHEN taken < {COUNTED} THEN found ELSE greatest(found, 0.5) * known / {COUNTED} END
            FROM (SELECT count(*) AS taken, count(*) FILTER (WHERE words @@ q) AS found
              FROM (SELECT t.words FROM texts AS t WHERE t.words @@ every LIMIT {COUNTED}) AS s) AS sample)
    END, chunks)::float8 AS df, CASE WHEN q::text LIKE '%%<%%' THEN known ELSE 0 END::float8 AS read
  FROM (VALUES {listed}) AS v (n, q), total,
  LATERAL (SELECT replace(regexp_replace(q::text, '<\\d+>|<->', '&', 'g'), '&&', '&')::tsquery AS every) AS e,
  LATERAL (
    SELECT coalesce(min(count), 0) AS known FROM (
      SELECT CASE WHEN m[2] IS NULL THEN (SELECT chunks FROM lexemes WHERE lexeme = m[1])
        ELSE (SELECT sum(chunks) FROM lexemes WHERE lexeme >= m[1] AND lexeme < m[1] || U&'\\+10FFFF') END AS count
      FROM regexp_matches(q::text, '''([^'']+)''(:\\*)?', 'g') AS m
    ) AS counts
  ) AS k""",
    )
    parts.add(
        "word",
        f"""  SELECT w, df, q, read, sum(df) OVER (ORDER BY df = 0, df, w) AS until FROM (
    SELECT w, string_agg('(' || q::text || ')', ' | ')::tsquery AS q,
      CASE WHEN count(*) = 1 THEN max(df) WHEN sum(df) <= {COUNTED}
      THEN (SELECT count(*) FROM texts AS t WHERE t.words @@ string_agg('(' || q::text || ')', ' | ')::tsquery)
      ELSE max(df) END::float8 AS df, sum(read) AS read
    FROM (VALUES {asked.pairs}) AS v (w, n) JOIN phrase USING (n) GROUP BY w
  ) AS counted""",
    )


def _add_plan(parts: _Parts, asked: _Asked, sessions: str, filters: Filters) -> None:
    """Add which words choose candidates: `plan`, and `used`, each phrase with what scoring needs of it.

    `plan` is `whole` when all words do without limits, `few` when that is so because the filters let few chunks pass;
    otherwise `cutoff.first` is the number of the first session of the newest, or 0 when the chosen words need no such
    limit.

    :param sessions: the table of sessions that the filters leave.
    """
    own = on_chunks(filters)
    reads = READS if own.sql else 1
    few = "false"
    if _is_listed(filters):
        few = (
            f"(SELECT count(*) <= {BUDGET} FROM "
            f"(SELECT FROM texts AS t{parts.use(own, 'WHERE')} LIMIT {BUDGET + 1}) AS t)"
        )
    within = "1.0"
    if sessions == "allowed":
        within = "least(1.0, (SELECT coalesce(sum(chunk_count), 0) FROM allowed) / total.chunks)"
    # The rarest words that fit into the budget; the rarest of all always does.
    most = reads * BUDGET
    chosen = f"df > 0 AND (whole OR until * within <= {most} OR until = df)"
    parts.add(
        "plan",
        f"""  SELECT *, NOT whole AND (found > {most} OR read > {READ}) AS is_cut,
    least(CASE WHEN found > {most} THEN {reads * NEWEST} / found ELSE 1 END, {READ} / greatest(read, 1))
      * within * chunks AS newest,
    within * chunks < greatest(chosen, reading) AS is_narrow,
    cardinality(choosing) = (SELECT count(*) FROM word WHERE df > 0) AS is_complete
  FROM (SELECT *, chosen * within AS found, least(reading, within * chunks) AS read FROM (
    SELECT within, few, whole, chunks, chunk_length,
      (SELECT string_agg('(' || q::text || ')', ' | ')::tsquery FROM word) AS every,
      (SELECT string_agg('(' || q::text || ')', ' & ')::tsquery FROM word WHERE df > 0) AS together,
      (SELECT string_agg('(' || q::text || ')', ' | ')::tsquery FROM word WHERE {chosen}) AS either,
      (SELECT array_agg(w) FROM word WHERE {chosen}) AS choosing,
      (SELECT sum(df) FROM word WHERE {chosen}) AS chosen,
      (SELECT sum(read) FROM word WHERE {chosen}) AS reading
    FROM (
      SELECT *, few OR (SELECT sum(df) * within <= {most} AND least(sum(read), within * chunks) <= {READ} FROM word)
        AS whole
      FROM (SELECT chunks, chunk_length, {within} AS within, {few} AS few FROM total) AS t
    ) AS u
  ) AS v) AS w""",
    )
    parts.add(
        "reach",
        f"""  SELECT id, sum(chunk_count) OVER (ORDER BY id DESC) - chunk_count AS after FROM {sessions}
  WHERE (SELECT is_cut FROM plan)""",
    )
    # The rows of `reach` come in its window's order, and are worked out as far as they are read.
    parts.add(
        "cutoff",
        "  SELECT coalesce((SELECT id + 1 FROM reach WHERE after >= (SELECT newest FROM plan) LIMIT 1), 0) AS first",
    )
    columns = ", ".join(
        f"bool_or(n = {n} AND w = ANY (choosing)) AS s{n}, max(q::text) FILTER (WHERE n = {n})::tsquery AS q{n}, "
        f"max({scoring.idf('chunks', 'df')}) FILTER (WHERE n = {n}) AS i{n}"
        for n in asked.numbers
    )
    parts.add("used", f"  SELECT {columns} FROM (VALUES {asked.pairs}) AS v (w, n) JOIN phrase USING (n), plan")


def _add_chunks(parts: _Parts, asked: _Asked, filters: Filters, *, is_filtered: bool) -> None:
    """Add `chunk`, the best chunks with their scores.

    Before it come `met`, what the words that choose have found, scored by these; and `older`, chunks with all words
    beyond the limit of the newest.

    :param is_filtered: the sessions are those of `allowed`.
    """
    own = on_chunks(filters)
    within = " AND (t.session IN (SELECT id FROM allowed)) IS TRUE" if is_filtered else ""
    hidden = "false" if filters.all_kinds else "t.session IN (SELECT id FROM sessions WHERE kind = 'headless')"
    columns = f"t.ctid AS place, t.session, t.seq, t.class, {scoring.at_hand('t.words')} AS words"
    k = scoring.damping("t.tokens / chunk_length")
    some = scoring.total(asked.numbers, asked.single, "s{n}")
    matches = "t.words @@ plan.either"
    # Ways of which one is gone.  An index costs more than it saves when it lists more than another does: that of
    # sessions when all of them are wanted, that of words when few sessions or few chunks are.
    led = "NOT few AND NOT is_narrow" if is_filtered else "NOT few"
    found_by = [
        f"(SELECT NOT is_cut AND {led} FROM plan) AND {matches}{within}",
        f"(SELECT is_cut AND {led} FROM plan) AND t.session >= (SELECT first FROM cutoff) AND {matches}{within}",
    ]
    if is_filtered:
        among = "t.session IN (SELECT id FROM allowed WHERE id >= (SELECT first FROM cutoff))"
        found_by.append(f"(SELECT is_narrow AND NOT few FROM plan) AND {among} AND ({matches}) IS TRUE")
    if _is_listed(filters):
        found_by.append(f"(SELECT few FROM plan) AND ({matches}) IS TRUE{within}")
    ways = [
        f"""  SELECT place, session, seq, class, is_hidden,
    NOT is_hidden AND is_partial AND words @@ together AS has_all, CASE WHEN NOT is_hidden THEN {some} END AS score
  FROM (
    SELECT {columns}, {hidden} AS is_hidden, {k} AS k, is_cut AND NOT is_complete AS is_partial, together, used.*
    FROM plan, used, texts AS t WHERE {way}{parts.use(own)} OFFSET 0
  ) AS t"""
        for way in found_by
    ]
    parts.add("met", f"SELECT * FROM (\n{' UNION ALL '.join(ways)}\n) AS m LIMIT {2 * BUDGET}")
    # As far back as the newest let expect that there are enough; very few let expect nothing.
    parts.add(
        "further",
        f"""  SELECT (SELECT first FROM cutoff) AS until, has_all >= {FEW} AS is_near, coalesce((
      SELECT id + 1 FROM reach WHERE after >= (SELECT newest FROM plan) * {2 * RESCORED} / greatest(has_all, 1) LIMIT 1
    ), 0) AS first
  FROM (SELECT count(*) AS has_all FROM met WHERE has_all) AS m
  WHERE has_all < {RESCORED} AND (SELECT is_cut AND NOT is_complete FROM plan)""",
    )
    ways = [
        f"""  SELECT t.ctid AS place, t.session, t.seq FROM plan, further, texts AS t
  WHERE {way} AND t.words @@ plan.together AND NOT ({hidden}){within}{parts.use(own)}"""
        for way in (
            "is_near AND t.session >= (SELECT first FROM further) AND t.session < (SELECT until FROM further)",
            "NOT is_near AND (t.session < further.until) IS TRUE",
        )
    ]
    parts.add(
        "older",
        f"SELECT * FROM (\n{' UNION ALL '.join(ways)}\n) AS o ORDER BY session DESC, seq DESC LIMIT {RESCORED}",
    )
    every = scoring.total(asked.numbers, asked.single, "true")
    parts.add(
        "chunk",
        f"""  SELECT session, seq, class, score FROM (
    SELECT session, seq, class, score FROM met WHERE (SELECT is_complete FROM plan) AND NOT is_hidden
    UNION ALL
    SELECT session, seq, class, {every} FROM (
      SELECT {columns}, {k} AS k, used.* FROM plan, used, (
        SELECT place FROM (
          SELECT place FROM met WHERE NOT is_hidden ORDER BY score DESC, place DESC LIMIT {RESCORED}
        ) AS best
        UNION
        SELECT place FROM (SELECT * FROM met WHERE has_all ORDER BY session DESC, seq DESC LIMIT {RESCORED}) AS newest
        UNION
        SELECT place FROM older
      ) AS c JOIN texts AS t ON t.ctid = c.place WHERE NOT (SELECT is_complete FROM plan) OFFSET 0
    ) AS t
  ) AS s ORDER BY score DESC, session DESC, seq DESC LIMIT {CANDIDATES}""",
    )


def _is_listed(filters: Filters) -> bool:
    """Tell whether an index lists the chunks that filters let pass."""
    return filters.tool is not None or filters.role == "user"


def _add_documents(parts: _Parts, asked: _Asked, kept: str) -> None:
    """Add `head` and `conversation`, the scores of what there is one of for each session.

    :param kept: what a row of `heads AS h` must be, with its AND.
    """
    numbers = asked.numbers
    _add_idf(parts, "heads", "count(*)", numbers)
    scores = " + ".join(scoring.bm25(f"{scoring.weighted(n, HEAD_WEIGHTS)} * {HEAD_SCALE}::float8", n) for n in numbers)
    parts.add(
        "head",
        f"""  SELECT session, {scores} AS score FROM (
    SELECT h.session, {scoring.at_hand("h.words")} AS words, {scoring.damping("h.tokens / head_length")} AS k, u.*
    FROM total, heads_used AS u, (SELECT every FROM plan) AS p, heads AS h WHERE h.words @@ every{kept} OFFSET 0
  ) AS h ORDER BY score DESC, session DESC LIMIT {CANDIDATES}""",
    )
    parts.add(
        "near",
        f"""  SELECT session FROM (
    SELECT session, max(score) / (SELECT max(score) FROM chunk) AS score FROM chunk GROUP BY 1
    UNION ALL SELECT session, 0.3 * score / (SELECT max(score) FROM head) FROM head
  ) AS s WHERE EXISTS (SELECT 1 FROM head) GROUP BY 1 ORDER BY sum(score) DESC, session DESC LIMIT {CONVERSATIONS}""",
    )
    _add_idf(parts, "conversations", "count(DISTINCT session)", numbers)
    each = ", ".join(f"{scoring.weighted(n, CONVERSATION_WEIGHTS)} AS f{n}" for n in numbers)
    sums = ", ".join(f"sum(f{n}) * {CONVERSATION_SCALE} AS f{n}" for n in numbers)
    scores = " + ".join(scoring.bm25(f"f{n}", n) for n in numbers)
    parts.add(
        "conversation",
        f"""  SELECT session, {scores} AS score FROM (
    SELECT near.session, f.*, u.*, {scoring.damping("s.conversation_tokens / conversation_length")} AS k
    FROM total, conversations_used AS u, near JOIN sessions AS s ON s.id = near.session, LATERAL (
      SELECT {sums} FROM (
        SELECT {each} FROM (
          SELECT {scoring.at_hand("words")} AS words FROM conversations WHERE session = near.session OFFSET 0
        ) AS c
      ) AS part
    ) AS f
  ) AS c""",
    )


def _add_idf(parts: _Parts, table: str, count: str, numbers: Sequence[int]) -> None:
    """Add `{table}_used` of one row: each phrase and how much it tells in a table of one document per session.

    Of a common word the first `DOCUMENTS` are counted, and by how many sessions they span it is told how many more
    there are.

    :param count: counts sessions.
    """
    columns = ", ".join(
        f"max(q::text) FILTER (WHERE n = {n})::tsquery AS q{n}, max(idf) FILTER (WHERE n = {n}) AS i{n}"
        for n in numbers
    )
    parts.add(
        f"{table}_used",
        f"""  SELECT {columns} FROM (
    SELECT n, q, {scoring.idf("sessions", "count")} AS idf FROM phrase, total, LATERAL (
      SELECT {count} * CASE WHEN count(*) < {DOCUMENTS} THEN 1
        ELSE greatest(1, numbers / (max(session) - min(session) + 1)) END AS count
      FROM (SELECT session FROM {table} AS d WHERE d.words @@ q LIMIT {DOCUMENTS}) AS d OFFSET 0
    ) AS c
  ) AS p""",
    )
