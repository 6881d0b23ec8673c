"""Scores of what there is one of for each session: its head, and the conversation in it."""

from __future__ import annotations

from collections.abc import Sequence

from . import budget, scoring
from .asked import Asked, Parts

#: Weights of the columns, in `ts_rank_cd`'s order D, C, B, A, and what they were divided by.
HEAD_WEIGHTS, HEAD_SCALE = "{0, 1, 0.5, 1}", 2.0
CONVERSATION_WEIGHTS, CONVERSATION_SCALE = "{0, 0.25, 0.375, 1}", 4.0


def add_documents(parts: Parts, asked: Asked, kept: str) -> None:
    """Add `head` and `conversation`, the scores of what there is one of for each session.

    :param kept: what a row of `heads AS h` must be, with its AND.
    """
    numbers = asked.numbers
    _add_idf(parts, "heads", "count(*)", numbers)
    scores = " + ".join(
        scoring.bm25(f"i{n}", f"{scoring.weighted(n, HEAD_WEIGHTS)} * {HEAD_SCALE}::float8") for n in numbers
    )
    parts.add(
        "head",
        f"""  SELECT session, {scores} AS score FROM (
    SELECT h.session, {scoring.at_hand("h.words")} AS words, {scoring.damping("h.tokens / head_length")} AS k, u.*
    FROM total, heads_used AS u, (SELECT every FROM plan) AS p, heads AS h WHERE h.words @@ every{kept} OFFSET 0
  ) AS h ORDER BY score DESC, session DESC LIMIT {budget.CANDIDATES}""",
    )
    parts.add(
        "near",
        f"""  SELECT session FROM (
    SELECT session, max(score) / (SELECT max(score) FROM chunk) AS score FROM chunk GROUP BY 1
    UNION ALL SELECT session, 0.3 * score / (SELECT max(score) FROM head) FROM head
  ) AS s WHERE EXISTS (SELECT 1 FROM head) GROUP BY 1
  ORDER BY sum(score) DESC, session DESC LIMIT {budget.CONVERSATIONS}""",
    )
    _add_idf(parts, "conversations", "count(DISTINCT session)", numbers)
    each = ", ".join(f"{scoring.weighted(n, CONVERSATION_WEIGHTS)} AS f{n}" for n in numbers)
    sums = ", ".join(f"sum(f{n}) * {CONVERSATION_SCALE} AS f{n}" for n in numbers)
    scores = " + ".join(scoring.bm25(f"i{n}", f"f{n}") for n in numbers)
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


def _add_idf(parts: Parts, table: str, count: str, numbers: Sequence[int]) -> None:
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
      SELECT {count} * CASE WHEN count(*) < {budget.DOCUMENTS} THEN 1
        ELSE greatest(1, numbers / (max(session) - min(session) + 1)) END AS count
      FROM (SELECT session FROM {table} AS d WHERE d.words @@ q LIMIT {budget.DOCUMENTS}) AS d OFFSET 0
    ) AS c
  ) AS p""",
    )
