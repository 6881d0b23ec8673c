"""SQL of the plan: the words that select the chunks to score, and the range of sessions to search.

Broad words are bounded: candidates are the chunks with the rarest words, within the budget, and the newest ones when
even the rarest word is too common.
"""

from __future__ import annotations

from collections.abc import Mapping

from sesame_core.types.query import Filters

from . import budget, scoring
from .asked import Asked, Parts
from .filters import on_chunks, on_classes
from .words import is_ordered, without_order


def add_frequencies(parts: Parts, asked: Asked, known: Mapping[str, float], *, is_alone: bool) -> None:
    """Add `total`, the size of the index, and `phrase` and `word`, each with the number of chunks with it (`df`).

    :param known: the numbers of phrases, and of words with several, that were counted before.
    :param is_alone: the query has one word only: finding its chunks counts them.
    """
    parts.add(
        "total",
        """  SELECT greatest(sum(chunks), 1)::float8 AS chunks,
    greatest(sum(chunk_tokens) / greatest(sum(chunks), 1), 1)::float8 AS chunk_length,
    greatest(sum(sessions), 1)::float8 AS sessions,
    greatest(sum(head_tokens) / greatest(sum(sessions), 1), 1)::float8 AS head_length,
    greatest(sum(conversation_tokens) / greatest(sum(sessions), 1), 1)::float8 AS conversation_length,
    coalesce(sum(chunks) / nullif((SELECT value::float8 FROM meta WHERE key = 'counted'), 0), 1)::float8 AS growth,
    (SELECT max(id)::float8 - min(id) + 1 FROM sessions) AS numbers
  FROM workstations""",
    )
    parts.values += [asked.phrases, [known.get(phrase) for phrase in asked.phrases]]
    # A phrase has at most the chunks of its rarest word; if that is common, a sample gives the share, unless no chunk
    # of the sample has the phrase.
    rare = ""
    phrase = f"""(SELECT CASE WHEN taken < {budget.COUNTED} THEN found
              WHEN found > 0 THEN found * known / {budget.COUNTED}
              ELSE (SELECT count(*) FROM (SELECT FROM texts AS t WHERE t.words @@ q LIMIT {budget.COUNTED}) AS s) END
            FROM (SELECT count(*) AS taken, count(*) FILTER (WHERE words @@ q) AS found
              FROM (SELECT t.words FROM texts AS t WHERE t.words @@ every LIMIT {budget.COUNTED}) AS s) AS sample)"""
    if is_alone:
        # As few as select all chunks that are read for its order.
        phrase = f"0.5 * known / {budget.COUNTED}"
        rare = f"WHEN is_ordered AND known <= {budget.COUNTED} THEN greatest(known, 1) "
    parts.add(
        "phrase",
        f"""  SELECT n, q, every, is_ordered, least(CASE
      WHEN counted IS NOT NULL THEN counted
      {rare}WHEN known <= {budget.COUNTED} THEN (SELECT count(*) FROM texts AS t WHERE t.words @@ q)
      WHEN numnode(q) = 1 THEN known * growth
      ELSE {phrase}
    END, chunks)::float8 AS df, CASE WHEN is_ordered THEN known ELSE 0 END::float8 AS read
  FROM (
    SELECT n, to_tsquery('code', v) AS q, counted
    FROM unnest(%s::text[], %s::float8[]) WITH ORDINALITY AS v (v, counted, n)
  ) AS v, total,
  LATERAL (SELECT {without_order("q")} AS every, {is_ordered("q")} AS is_ordered) AS e,
  LATERAL (
    SELECT coalesce(min(count), 0) AS known FROM (
      SELECT CASE WHEN m[2] IS NULL THEN (SELECT chunks FROM lexemes WHERE lexeme = m[1])
        ELSE (SELECT sum(chunks) FROM lexemes WHERE lexeme >= m[1] AND lexeme < m[1] || U&'\\+10FFFF') END AS count
      FROM regexp_matches(q::text, '''([^'']+)''(:\\*)?', 'g') AS m
    ) AS counts
  ) AS k""",
    )
    parts.values += asked.pairs
    parts.values.append([known.get(asked.any_of[w]) for w in asked.pairs[0]])
    parts.add("pair", "  SELECT * FROM unnest(%s::int[], %s::int[], %s::float8[]) AS v (w, n, counted)")
    parts.add(
        "word",
        f"""  SELECT w, df, q, read, sum(df) OVER (ORDER BY df = 0, df, w) AS until FROM (
    SELECT w, string_agg('(' || q::text || ')', ' | ')::tsquery AS q,
      CASE WHEN count(*) = 1 THEN max(df) WHEN max(counted) IS NOT NULL THEN max(counted)
      WHEN sum(df) <= {budget.COUNTED} AND sum(read) <= {budget.COUNTED}
      THEN (SELECT count(*) FROM texts AS t WHERE t.words @@ string_agg('(' || q::text || ')', ' | ')::tsquery)
      ELSE max(df) END::float8 AS df, sum(read) AS read
    FROM pair JOIN phrase USING (n) GROUP BY w
  ) AS counted""",
    )


def add_plan(parts: Parts, sessions: str, filters: Filters, *, is_bounded: bool) -> None:
    """Add the words that select candidates: `plan`, and `sought`, each phrase with its factors for scoring.

    A phrase selects chunks anywhere, or in the newest sessions from `cutoff.recent` on: `anywhere` and `recent`,
    without the order of its words.

    `plan` is `whole` when all words select without limits, `few` when that is because few chunks pass the filters;
    otherwise `cutoff.first` is the number of the first of the newest sessions, or 0 when the selecting words need no
    such limit.  `lead.is_narrow` says that reading the index of sessions takes fewer entries than that of words, and
    `lead.is_wide` that of the newest sessions it takes more time than it saves.

    :param sessions: the table of sessions that pass the filters.
    :param is_bounded: read common words only in part: all chunks of a session pass the filters.
    """
    reads = budget.READS if on_chunks(filters).sql else 1
    few = "false"
    if is_listed(filters):
        # As the index lists them, which has no roles: those of other roles would be read in vain.
        listed = parts.use(on_classes(filters), "WHERE")
        few = (
            f"(SELECT count(*) <= {budget.SCORED} FROM (SELECT FROM texts AS t{listed} LIMIT {budget.SCORED + 1}) AS t)"
        )
    within = "1.0"
    if sessions == "allowed":
        within = "least(1.0, (SELECT coalesce(sum(chunk_count), 0) FROM allowed) / total.chunks)"
    # Parts of their own: a subquery would be evaluated for each use.
    parts.add("extent", f"  SELECT chunks, chunk_length, {within}::float8 AS within, {few} AS few FROM total")
    most = reads * budget.SCORED
    # The rarest words that fit into the budget; the rarest of all always does.  Of a commoner one only the chunks with
    # another word are read, which the index of words knows without reading them, and the newest of the others; of the
    # only word the newest.
    bounded = f"until * within > {budget.FULL}" if is_bounded else "false"
    parts.add(
        "chosen",
        f"""  SELECT *, is_chosen AND {bounded} AS is_bounded,
    df > 0 AND (is_chosen OR until <= chunks * {budget.PARTNERS}) AS is_partner
  FROM (
    SELECT w, df, q, read, until, whole, within, chunks, count(*) FILTER (WHERE df > 0) OVER () AS words,
      df > 0 AND (whole OR until * within <= {most} OR until = df) AS is_chosen
    FROM word, (
      SELECT within, chunks, few OR (sum(df) * within <= {most} AND least(sum(df), within * chunks) <= {budget.LISTED}
        AND least(sum(read), within * chunks) <= {budget.READ}) AS whole
      FROM word, extent GROUP BY within, few, chunks
    ) AS e
  ) AS c""",
    )
    parts.add(
        "plan",
        f"""  SELECT *, NOT whole AND (is_over OR read > {budget.READ}) AS is_cut,
    least({budget.READ} / greatest(read, 1), CASE WHEN is_over
      THEN least({reads * budget.NEWEST} / (chosen * within), {budget.LISTED} / listed)
      WHEN bounded > 0 AND read <= {budget.READ}
      THEN greatest({budget.NEWEST} - (chosen - bounded) * within, CASE WHEN words = 1 THEN {budget.FULL}
        ELSE {budget.SOLE} END) / (bounded * within) ELSE 1 END
    ) * within * chunks AS newest,
    CASE WHEN chosen > {budget.EXACT} THEN {budget.LONG} / chosen ELSE 1 END * chunks AS newest_long
  FROM (
    SELECT chunks, chunk_length, within, few, chosen.*, least(reading, within * chunks) AS read,
      least(chosen, within * chunks) AS listed,
      chosen * within > {most} OR least(chosen, within * chunks) > {budget.LISTED} AS is_over
    FROM extent, (
      SELECT bool_or(whole) AS whole, string_agg('(' || q::text || ')', ' | ')::tsquery AS every,
        string_agg('(' || q::text || ')', ' & ') FILTER (WHERE df > 0)::tsquery AS together,
        string_agg('(' || q::text || ')', ' | ') FILTER (WHERE is_chosen)::tsquery AS either,
        max(words) AS words, coalesce(sum(df) FILTER (WHERE is_bounded), 0) AS bounded,
        sum(df) FILTER (WHERE is_chosen) AS chosen, sum(read) FILTER (WHERE is_chosen) AS reading,
        count(*) FILTER (WHERE is_chosen) = count(*) FILTER (WHERE df > 0) AS is_complete
      FROM chosen
    ) AS chosen
  ) AS p""",
    )
    # Either all chunks of the sessions are read, or all entries of the words and their chunks in these sessions: those
    # that both indexes have, or those of the words, of which some are read in vain.
    parts.add(
        "lead",
        f"""  SELECT here < listed / {budget.ROWS} + listed * here / greatest(within * chunks, 1) AS is_narrow,
    part * chunks / {budget.ENTRIES} > CASE WHEN is_cut THEN listed ELSE bounded END * (1 - part) AS is_wide
  FROM (SELECT within, chunks, is_cut, bounded, CASE WHEN is_cut THEN newest ELSE within * chunks END AS here,
      least(1, newest / greatest(within * chunks, 1)) AS part, greatest(chosen, reading) AS listed FROM plan) AS p""",
    )
    parts.add(
        "reach",
        f"""  SELECT id, sum(chunk_count) OVER (ORDER BY id DESC) - chunk_count AS after FROM {sessions}
  WHERE (SELECT is_cut OR bounded > 0 OR newest_long < within * chunks FROM plan)""",
    )
    # The rows of `reach` come in its window's order, and only those that are read are evaluated: none for a limit that
    # there is not.
    parts.add(
        "cutoff",
        """  SELECT
    coalesce((SELECT id + 1 FROM reach WHERE (SELECT is_cut FROM plan)
      AND after >= (SELECT newest FROM plan) LIMIT 1), 0) AS first,
    coalesce((SELECT id + 1 FROM reach WHERE (SELECT is_cut OR bounded > 0 FROM plan)
      AND after >= (SELECT newest FROM plan) LIMIT 1), 0) AS recent,
    coalesce((SELECT id + 1 FROM reach WHERE (SELECT newest_long < within * chunks FROM plan)
      AND after >= (SELECT newest_long FROM plan) LIMIT 1), 0) AS first_long""",
    )
    parts.add(
        "sought",
        f"""  SELECT n, q, numnode(q) = 1 AND q::text NOT LIKE '%%:*' AS is_single,
    {scoring.idf("plan.chunks", "df")} AS idf, c.is_chosen,
    CASE WHEN is_cut THEN phrase.every WHEN c.is_bounded THEN coalesce(phrase.every && !! others, phrase.every)
      END AS recent,
    CASE WHEN is_cut THEN NULL WHEN c.is_bounded THEN phrase.every && others ELSE phrase.every END AS anywhere,
    is_ordered
  FROM phrase, plan, LATERAL (
    SELECT bool_or(is_chosen) AS is_chosen, bool_or(is_bounded) AS is_bounded, array_agg(w) AS words
    FROM pair JOIN chosen USING (w) WHERE pair.n = phrase.n
  ) AS c, LATERAL (
    SELECT {without_order("string_agg('(' || o.q::text || ')', ' | ')")} AS others FROM chosen AS o
    WHERE o.is_partner AND o.w <> ALL (c.words)
  ) AS o""",
    )


def is_listed(filters: Filters) -> bool:
    """Return whether an index lists the chunks that pass filters."""
    return filters.tool is not None or filters.role == "user"
