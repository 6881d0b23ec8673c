"""SQL that scores the documents of sessions: the head and the conversation of each."""

from __future__ import annotations

from . import budget, scoring
from .asked import Parts

#: Weights of the columns, in `ts_rank_cd`'s order D, C, B, A, and their divisor.
HEAD_WEIGHTS, HEAD_SCALE = "{0, 1, 0.5, 1}", 2.0
CONVERSATION_WEIGHTS, CONVERSATION_SCALE = "{0, 0.25, 0.375, 1}", 4.0


def add_documents(parts: Parts, kept: str) -> None:
    """Add `head` and `conversation`, the scores of sessions by their documents.

    :param kept: a condition on `heads AS h`, with its AND.
    """
    _add_idf(parts, "heads", "count(*)")
    score = scoring.bm25("idf", f"ts_rank_cd('{HEAD_WEIGHTS}', words, q) * {HEAD_SCALE}::float8")
    # The index of words finds each of the two without reading titles.  A word that is in titles only selects nothing.
    # Sorted by the number itself, a plan may read all titles in its order.
    parts.add(
        "titled",
        f"""  SELECT h.ctid AS place FROM plan, heads AS h WHERE h.words @@ either{kept}
  ORDER BY -session LIMIT {budget.HEADS}""",
    )
    parts.add(
        "others",
        f"""  SELECT h.ctid AS place FROM plan, heads AS h
  WHERE (SELECT count(*) FROM titled) < {budget.HEADS} AND h.words @@ coalesce(every && !! either, every){kept}
  ORDER BY -session LIMIT (SELECT {budget.HEADS} - count(*) FROM titled)""",
    )
    parts.add(
        "head",
        f"""  SELECT session, (SELECT sum({score}) FROM heads_used WHERE words @@ q) AS score FROM (
    SELECT h.session, {scoring.at_hand("h.words")} AS words, {scoring.damping("h.tokens / head_length")} AS k
    FROM total, (SELECT place FROM titled UNION ALL SELECT place FROM others) AS found
    JOIN heads AS h ON h.ctid = place OFFSET 0
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
    _add_idf(parts, "conversations", "count(DISTINCT session)")
    parts.add(
        "conversation",
        f"""  SELECT session, sum({scoring.bm25("idf", "frequency")}) AS score FROM (
    SELECT session, n, idf, k, sum(frequency * {CONVERSATION_SCALE}) AS frequency FROM (
      SELECT near.session, words, {scoring.damping("s.conversation_tokens / conversation_length")} AS k
      FROM total, near JOIN sessions AS s ON s.id = near.session, LATERAL (
        SELECT {scoring.at_hand("words")} AS words FROM conversations WHERE session = near.session OFFSET 0
      ) AS c OFFSET 0
    ) AS c, LATERAL (
      SELECT n, idf, ts_rank_cd('{CONVERSATION_WEIGHTS}', words, q) AS frequency FROM conversations_used
      WHERE words @@ q OFFSET 0
    ) AS f GROUP BY session, n, idf, k
  ) AS c GROUP BY session""",
    )


def _add_idf(parts: Parts, table: str, count: str) -> None:
    """Add `{table}_used`, each phrase with its idf in a table of one document per session.

    For a common word the first `DOCUMENTS` are counted, and their number is extrapolated from the range of sessions
    that they span; for a phrase, the first `ORDERED` with its words, which are read.

    :param count: counts sessions.
    """
    parts.add(
        f"{table}_used",
        f"""  SELECT n, q, {scoring.idf("sessions", "count")} AS idf FROM total, (
    SELECT *, CASE WHEN is_ordered THEN {budget.ORDERED} ELSE {budget.DOCUMENTS} END AS most FROM phrase
  ) AS phrase, LATERAL (
    SELECT {count} FILTER (WHERE is_met) * CASE WHEN count(*) < most THEN 1
      ELSE greatest(1, numbers / (max(session) - min(session) + 1)) END AS count
    FROM (
      SELECT session, NOT is_ordered OR words @@ q AS is_met FROM {table} WHERE words @@ every LIMIT most
    ) AS d OFFSET 0
  ) AS c""",
    )
