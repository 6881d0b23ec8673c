"""One document per session with everything that people and agents said in it, for ranking whole sessions.

The server builds it from the word lists of the session's chunks, and rebuilds it when the session has grown by half
or has been quiet for a while: not on every append, because it costs time proportional to the session.  A word list
has at most 16,383 positions, so a long document has several rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import psycopg

from sesame_core.sdk import ingest

from . import words

#: Words of one row, and of one document; later parts of a longer session are found by its chunks.
PART, LIMIT = 16_000, 400_000

_INSERT = """
WITH spoken AS (
  SELECT session, seq, class, ts_filter(words, '{d}') AS words,
    sum(spoken) OVER (PARTITION BY session ORDER BY seq) - spoken AS before
  FROM texts WHERE session = ANY (%(sessions)s) AND spoken > 0
), part AS (
  SELECT session, floor(before / %(part)s)::int AS part,
    setweight(said(words ORDER BY seq) FILTER (WHERE class = 0), 'B') AS people,
    setweight(said(words ORDER BY seq) FILTER (WHERE class <> 0), 'C') AS agents
  FROM spoken WHERE before < %(limit)s GROUP BY 1, 2
), title AS (
  SELECT session, setweight(to_tsvector('code', title), 'A') AS words
  FROM unnest(%(sessions)s::bigint[], %(titles)s::text[]) AS t (session, title)
)
INSERT INTO conversations (session, part, workstation, words)
SELECT t.session, coalesce(p.part, 0), %(workstation)s,
  beside(CASE WHEN coalesce(p.part, 0) = 0 THEN t.words ELSE '' END,
         beside(coalesce(p.people, ''), coalesce(p.agents, '')))
FROM title AS t LEFT JOIN part AS p USING (session)
"""
_COUNT = """
UPDATE sessions AS s
SET conversation_count = s.chunk_count, conversation_tokens = t.tokens + least(coalesce(spoken, 0), %(limit)s)
FROM unnest(%(sessions)s::bigint[], %(tokens)s::int[]) AS t (session, tokens)
LEFT JOIN (SELECT session, sum(spoken) AS spoken FROM texts WHERE session = ANY (%(sessions)s) GROUP BY 1) AS o
  USING (session)
WHERE s.id = t.session
"""
#: The condition that a row of `sessions` is quiet and has an outdated conversation.
IS_QUIET = f"chunk_count > conversation_count AND modified < now() - interval '{ingest.QUIET_SECONDS} seconds'"
_QUIET = f"""
SELECT id, coalesce(title, '') FROM sessions WHERE workstation = %s AND {IS_QUIET} AND id <> ALL (%s) LIMIT %s
"""


def renew(db: psycopg.Connection[Any], workstation: int, titles: Mapping[int, str]) -> None:
    """Rewrite the documents of some sessions.

    :param titles: by session number.
    """
    numbers = list(titles)
    plain = [words.plain(title) for title in titles.values()]
    db.execute("SELECT drop_conversations(%s)", (numbers,))
    values = {
        "sessions": numbers,
        "titles": plain,
        "tokens": [words.count(title) for title in plain],
        "workstation": workstation,
        "part": PART,
        "limit": LIMIT,
    }
    db.execute(_INSERT, values)
    db.execute(_COUNT, values)


def quiet(db: psycopg.Connection[Any], workstation: int, busy: Iterable[int]) -> dict[int, str]:
    """Return some quiet sessions with an outdated conversation, with their titles.

    :param busy: sessions that have just grown, whatever the times of their messages are.
    """
    return dict(db.execute(_QUIET, (workstation, list(busy), ingest.RENEWED_PER_RUN)).fetchall())
