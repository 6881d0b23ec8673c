"""SQL that finds the chunks with a phrase, without scores.

The index of words knows no order, so chunks with all words of the phrase are read; of common ones the newest.  Of a
single word, or any of several, only those of the newest sessions are read, and the others if these are too few.
"""

from __future__ import annotations

from collections.abc import Sequence

from sesame_core.types.query import Condition, Filters, Word

from . import budget, words
from .asked import Parts
from .filters import Where, meeting, on_chunks, on_kind, on_sessions
from .prepared import Alike


def statement(
    word: Word, filters: Filters, condition: Condition | None, limit: int, beside: Sequence[Word]
) -> Where | None:
    """Return the statement with its values; None if no chunk can match.

    Its rows are session, position and weight class, after whether only the newest chunks with the words were looked at:
    one row without the others, if none was found.

    :param limit: most rows; of more the newest sessions'.
    :param beside: words of which the chunks have one, too; empty: any chunks.
    """
    asked, others = words.any_of([word]), words.any_of(beside)
    if asked is None or (beside and others is None):
        return None
    narrow = on_sessions(filters).and_(meeting(condition))
    chunks = on_chunks(filters).and_(*([Where("t.words @@ to_tsquery('code', %s)", (others,))] if others else []))
    by_row = Where(f"({chunks.sql}) IS TRUE", chunks.values) if chunks.sql else chunks
    parts = Parts()
    parts.values.append(asked)
    parts.add(
        "sought",
        f"""  SELECT q, NOT {words.is_ordered("q")} AS is_plain, {words.without_order("q")} AS every
  FROM (SELECT to_tsquery('code', %s) AS q) AS q""",
    )
    # How many chunks have the rarest word, and how many any of them, and where the newest of too many begin.
    parts.add(
        "known",
        """  SELECT min(coalesce(l.chunks, 0)) AS chunks, sum(coalesce(l.chunks, 0)) AS together
  FROM sought, regexp_matches(q::text, '''([^'']+)''', 'g') AS m LEFT JOIN lexemes AS l ON l.lexeme = m[1]""",
    )
    parts.add(
        "cutoff",
        f"""  SELECT newest - (numbers * {budget.LISTED}.0 / chunks)::bigint AS first
  FROM known, (SELECT (SELECT max(id) FROM sessions) AS newest) AS n,
    (SELECT (SELECT max(id) - min(id) FROM sessions) AS numbers) AS s
  WHERE chunks > {budget.LISTED}""",
    )
    within = unless_few = ""
    if narrow.sql:
        wanted = parts.use(narrow.and_(on_kind(filters)), "WHERE")
        parts.add("allowed", f"  SELECT s.id, s.chunk_count FROM sessions AS s{wanted}")
        # Sessions that meet a condition may take long to find: of a rare phrase first it is known that there is one.
        is_rare = f"NOT is_plain AND chunks <= {budget.PHRASED}"
        within = (
            f" AND CASE WHEN (SELECT {is_rare} FROM known, sought) "
            "AND NOT t.words @@ (SELECT q FROM sought) THEN false ELSE t.session IN (SELECT id FROM allowed) END"
        )
        # Of sessions that have fewer chunks than the word all are read, which takes a tenth of the time, and finds old
        # ones, too.
        parts.add(
            "listed",
            f"""  SELECT CASE WHEN chunks = 0 OR {is_rare} THEN false
    ELSE (SELECT coalesce(sum(chunk_count), 0) FROM allowed) < chunks END AS are_few FROM known, sought""",
        )
        unless_few = "(SELECT are_few IS NOT TRUE FROM listed) AND "
    elif not filters.all_kinds:
        within = " AND t.session NOT IN (SELECT id FROM sessions WHERE kind = 'headless')"

    def chunks_with(way: str) -> str:
        return (
            "  SELECT t.ctid AS place, t.session, t.seq FROM texts AS t "
            f"WHERE {unless_few}{way} AND t.words @@ (SELECT every FROM sought){within}{parts.use(chunks)}"
        )

    # Of one word, or any of several, the chunks of the newest sessions are mostly enough.
    parts.values.append(budget.NEAR * limit)
    parts.add(
        "close",
        f"""  SELECT newest - (numbers * wanted / together)::bigint AS first, newest,
    wanted * (SELECT sum(chunks) FROM workstations) / together < together / {budget.ROWS} AS is_narrow
  FROM known, sought, (SELECT %s::float8 AS wanted) AS w, (SELECT (SELECT max(id) FROM sessions) AS newest) AS n,
    (SELECT (SELECT max(id) - min(id) FROM sessions) AS numbers) AS s
  WHERE is_plain AND together > 0""",
    )
    # Either all chunks of these sessions are read, or the entries of the word.  Of a range with an end a plan expects
    # few sessions, so that it reads their index, too.
    newest = "t.session > (SELECT first FROM close) AND t.session <= (SELECT newest FROM close)"
    ways = [
        "  SELECT t.ctid AS place, t.session, t.seq FROM texts AS t "
        f"WHERE {unless_few}(SELECT is_narrow FROM close) AND {newest} "
        f"AND (t.words @@ (SELECT every FROM sought)) IS TRUE{within}{parts.use(by_row)}",
        chunks_with(f"(SELECT NOT is_narrow FROM close) AND {newest}"),
    ]
    parts.add("near", "\n  UNION ALL\n".join(ways))
    parts.values.append(limit)
    parts.add(
        "rest",
        """  SELECT coalesce((SELECT first FROM close), (SELECT max(id) FROM sessions)) AS last
  FROM (SELECT count(*) AS count FROM near) AS n WHERE count < %s""",
    )
    # Alternative ways, of which one is taken: an index of all sessions costs more than it saves.
    older = "EXISTS (SELECT FROM rest) AND (t.session <= (SELECT last FROM rest)) IS TRUE"
    ways = [
        f"NOT EXISTS (SELECT FROM cutoff) AND {older}",
        f"EXISTS (SELECT FROM cutoff) AND t.session > (SELECT first FROM cutoff) AND {older}",
    ]
    ways = ["  SELECT * FROM near", *map(chunks_with, ways)]
    if narrow.sql:
        ways.append(
            "  SELECT t.* FROM allowed AS a, LATERAL (SELECT t.ctid AS place, t.session, t.seq FROM texts AS t "
            f"WHERE t.session = a.id AND (t.words @@ (SELECT every FROM sought)) IS TRUE{parts.use(by_row)} OFFSET 0) "
            "AS t WHERE (SELECT are_few FROM listed)"
        )
    parts.add("found", "\n  UNION ALL\n".join(ways))
    parts.values.append(limit)
    parts.add(
        "newest",
        f"""  SELECT place FROM found ORDER BY session DESC, seq DESC
  LIMIT (SELECT CASE WHEN is_plain THEN %s ELSE {budget.PHRASED} END FROM sought)""",
    )
    # Without the inner OFFSET a plan may read all texts in order.
    given = ",\n".join(parts.sql)
    sql = f"""WITH {given}
SELECT b.is_bounded, t.* FROM (
  SELECT {unless_few}EXISTS (SELECT FROM cutoff) AND EXISTS (SELECT FROM rest)
    OR (SELECT NOT is_plain AND (SELECT count(*) FROM found) > {budget.PHRASED} FROM sought) AS is_bounded
) AS b LEFT JOIN (SELECT * FROM (
  SELECT t.session, t.seq, t.class::int AS class FROM newest JOIN texts AS t ON t.ctid = newest.place
  WHERE (SELECT is_plain FROM sought) OR t.words @@ (SELECT q FROM sought) OFFSET 0
) AS t ORDER BY session DESC, seq DESC LIMIT %s) AS t ON true ORDER BY session DESC, seq DESC"""
    return Where(Alike(sql), (*parts.values, limit))
