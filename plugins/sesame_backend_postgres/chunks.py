"""SQL that scores the chunks with the selecting words, and the best of them with all words of the query."""

from __future__ import annotations

from sesame_core.sdk.ingest import MAX_CHUNKS
from sesame_core.types.query import Filters

from . import budget, choosing, scoring
from .asked import Parts
from .filters import Where, on_chunks, said_within

#: Bits of the position of a chunk in its session, and both numbers in one.
BITS = (MAX_CHUNKS - 1).bit_length()
KEY = f"(t.session << {BITS} | t.seq)"


def add_chunks(parts: Parts, filters: Filters, *, is_filtered: bool) -> None:
    """Add `chunk`, the best chunks with their scores.

    Before it come `met`, the chunks with the selecting words, scored by these, and `seen`, whether these are all
    matches; and `older`, chunks with all words before the newest ones.

    :param is_filtered: the sessions are those of `allowed`.
    """
    own = on_chunks(filters).and_(said_within(filters))
    # Not by an index: that of all calls of a tool costs more than it saves.
    is_own = Where(f"({own.sql}) IS TRUE", own.values) if own.sql else own
    within = " AND (t.session IN (SELECT id FROM allowed)) IS TRUE" if is_filtered else ""
    hidden = "false" if filters.all_kinds else "session IN (SELECT id FROM sessions WHERE kind = 'headless')"
    k = scoring.damping("t.tokens / (SELECT chunk_length FROM plan)")
    # Session and position in one number, by which chunks are grouped in half the time.
    columns = f"t.ctid AS place, {KEY} AS key, t.class, {scoring.at_hand('t.words')} AS words, {k} AS k"
    place = f"key >> {BITS} AS session, (key & {MAX_CHUNKS - 1})::int AS seq"
    newest = "t.session >= (SELECT first FROM cutoff)"
    # Alternative ways, of which the plan takes one.  An index costs more than it saves when it lists more than another
    # one: that of sessions when all sessions pass, that of words when few sessions or few chunks do.
    limited = "CASE WHEN is_cut THEN NOT is_narrow ELSE bounded > 0 END"
    if is_filtered:
        limited = "(is_cut OR bounded > 0) AND NOT is_narrow"
    recent = "t.session >= (SELECT recent FROM cutoff)"
    by_words = [
        ("recent", f"(SELECT {limited} AND NOT is_wide AND NOT few FROM plan, lead) AND {recent}{within}"),
        ("recent", f"(SELECT {limited} AND is_wide AND NOT few FROM plan, lead) AND ({recent}) IS TRUE{within}"),
    ]
    if is_filtered:
        newest = "t.session IN (SELECT id FROM allowed WHERE id >= (SELECT first FROM cutoff))"
        by_words.append(("anywhere", f"(SELECT NOT is_cut AND NOT is_narrow AND NOT few FROM plan, lead){within}"))
        by_rows = [(f"(SELECT is_narrow AND NOT few FROM plan, lead) AND {newest}", is_own)]
    else:
        by_words.append(("anywhere", "(SELECT NOT is_cut AND NOT few FROM plan)"))
        by_rows = [(f"(SELECT is_cut AND is_narrow AND NOT few FROM plan, lead) AND {newest}", is_own)]
    if choosing.is_listed(filters):
        by_rows.append((f"(SELECT few FROM plan){within}", own))
    score = scoring.bm25("idf", scoring.FREQUENCY)
    has_all = "(SELECT is_cut AND NOT is_complete FROM plan) AND words @@ (SELECT together FROM plan) AS has_all"
    # Most chunks have only one of the words, and the index says which: a chunk is found once for each.  In chunks that
    # are read one after the other, all words are searched.
    # Lists that are stored out of line are fetched of the newest chunks only: a CASE keeps the server from searching
    # one before it is known to be needed.
    near = f"({scoring.is_in_row('t.words')} OR t.session >= (SELECT first_long FROM cutoff))"
    ways = [
        f"""SELECT place, key, class, {has_all}, {score} AS score FROM sought, LATERAL (
      SELECT {columns} FROM texts AS t WHERE {way} AND t.words @@ {asked}
        AND CASE WHEN {near} THEN NOT is_ordered OR t.words @@ q END{parts.use(is_own)} OFFSET 0
    ) AS t WHERE is_chosen AND {asked} IS NOT NULL"""
        for asked, way in by_words
    ] + [
        f"""SELECT place, key, class, {has_all}, (SELECT sum({score}) FROM sought WHERE is_chosen) FROM (
      SELECT {columns} FROM texts AS t
      WHERE {way} AND CASE WHEN {near} THEN t.words @@ (SELECT either FROM plan) END{parts.use(chunk)} OFFSET 0
    ) AS t"""
        for way, chunk in by_rows
    ]
    parts.add(
        "met",
        f"""  SELECT *, {hidden} AS is_hidden FROM (
    SELECT min(place) AS place, {place},
      min(class) AS class, bool_or(has_all) AS has_all, sum(score) AS score, count(*) AS times
    FROM ({" UNION ALL ".join(ways)} LIMIT {2 * budget.SCORED}) AS t GROUP BY key
  ) AS t""",
    )
    # What is counted of the chunks is counted of these, which are fewer.
    parts.add(
        "of_session",
        """  SELECT session, is_hidden, count(*) AS chunks, sum(times) AS times,
    count(*) FILTER (WHERE has_all) AS has_all
  FROM met GROUP BY session, is_hidden""",
    )
    is_unbounded = "(bounded = 0 OR is_narrow)" if is_filtered else "bounded = 0"
    parts.add(
        "seen",
        f"""  SELECT whole AND {is_unbounded} AND first_long = 0 AND times < {2 * budget.SCORED} AS is_all
  FROM plan, lead, cutoff, (SELECT coalesce(sum(times), 0) AS times FROM of_session) AS m""",
    )
    # As far back as the newest suggest that there are enough; very few of them suggest nothing.
    parts.add(
        "further",
        f"""  SELECT (SELECT first FROM cutoff) AS until, has_all >= {budget.FEW} AS is_near,
    {budget.RESCORED} - has_all AS missing, coalesce((
      SELECT id + 1 FROM reach
      WHERE after >= (SELECT newest FROM plan) * {1.5 * budget.RESCORED} / greatest(has_all, 1) LIMIT 1
    ), 0) AS first
  FROM (SELECT coalesce(sum(has_all), 0) AS has_all FROM of_session WHERE NOT is_hidden) AS m
  WHERE has_all < {budget.ENOUGH} AND (SELECT is_cut AND NOT is_complete FROM plan)""",
    )
    # Conditions that are known before any chunk is read: of the two ways one is taken, or none.
    until = "t.session < (SELECT until FROM further)"
    ways = [
        f"""  SELECT t.ctid AS place, t.session, t.seq FROM texts AS t
  WHERE {way} AND t.words @@ (SELECT together FROM plan) AND NOT ({hidden}){within}{parts.use(is_own)}"""
        for way in (
            f"(SELECT is_near FROM further) AND t.session >= (SELECT first FROM further) AND {until}",
            f"(SELECT NOT is_near FROM further) AND ({until}) IS TRUE",
        )
    ]
    parts.add(
        "older",
        f"SELECT * FROM (\n{' UNION ALL '.join(ways)}\n) AS o ORDER BY session DESC, seq DESC "
        "LIMIT (SELECT missing FROM further)",
    )
    # The words that select have scored the chunks that they found.
    parts.add(
        "chunk",
        f"""  SELECT session, seq, class, score FROM (
    SELECT session, seq, class, score FROM met WHERE (SELECT is_complete FROM plan) AND NOT is_hidden
    UNION ALL
    SELECT {place}, class,
      score + coalesce((SELECT sum({score}) FROM sought WHERE NOT is_chosen), 0)
    FROM (
      SELECT {columns}, c.score FROM (
        (SELECT place, score FROM met WHERE NOT is_hidden ORDER BY score DESC, place DESC LIMIT {budget.RESCORED})
        UNION
        (SELECT place, score FROM met
          WHERE has_all AND NOT is_hidden ORDER BY session DESC, seq DESC LIMIT {budget.RESCORED})
      ) AS c JOIN texts AS t ON t.ctid = c.place WHERE NOT (SELECT is_complete FROM plan) OFFSET 0
    ) AS t
    UNION ALL
    SELECT {place}, class, (SELECT sum({score}) FROM sought) FROM (
      SELECT {columns} FROM older AS c JOIN texts AS t ON t.ctid = c.place OFFSET 0
    ) AS t
  ) AS s ORDER BY score DESC, session DESC, seq DESC LIMIT {budget.CANDIDATES}""",
    )
