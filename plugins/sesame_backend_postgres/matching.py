"""Finds and scores the chunks that match a query, within a budget, in one statement.

Reading a chunk takes 1 µs, scoring it for a word 2 µs.  The budget only selects candidates; each candidate's score
counts all words of the query.  The statement is a WITH clause, whose parts `choosing`, `chunks` and `documents` add.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sesame_core.types.index import Candidates, ScoredChunk
from sesame_core.types.query import Filters, Query, Word

from . import budget, choosing
from .asked import Asked, Parts
from .chunks import add_chunks
from .documents import add_documents
from .filters import Where, meeting, on_chunks, on_kind, on_sessions, said_within, whole
from .prepared import Alike

#: All chunks, as the workstations count them.
TOTAL = "least(greatest(coalesce(sum(chunks), 0), 0), 1e15)::bigint"


def candidates(
    ask: Callable[[str, Sequence[Any]], list[Any]], query: Query, filters: Filters, known: Mapping[str, float]
) -> Candidates:
    """Return the scored chunks and heads for a query.

    :param ask: runs a query and returns its rows.
    :param known: numbers of chunks that `frequencies` has counted.
    """
    asked = Asked.of(query.words)
    found = Candidates(
        chunks=[],
        heads={},
        document_frequencies=[0] * len(query.words),
        chunk_total=0,
        session_total=0,
        left_out={},
    )
    if not asked.phrases:
        ((found.chunk_total,),) = ask(f"SELECT {TOTAL} FROM workstations", ())
        return found
    statement = _statement(asked, query, filters, known)
    for what, a, b, c, score in ask(statement.sql, statement.values):
        if what == "chunk":
            found.chunks.append(ScoredChunk(session=a, seq=b, weight_class=weight_class(c), score=score))
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
    # Totals of before the server counted them may be too small.
    found.document_frequencies = [min(df, found.chunk_total) for df in found.document_frequencies]
    found.chunks.sort(key=lambda chunk: (-chunk.score, -chunk.session, chunk.seq))
    return found


def weight_class(stored: int) -> int:
    """Return the weight class of a chunk, in place of a number of a row of before the checks that is none."""
    return min(max(stored, 0), 3)


def frequencies(
    ask: Callable[[str, Sequence[Any]], list[Any]], words: Sequence[Word], known: dict[str, float]
) -> list[int]:
    """Return the number of chunks with each word.

    :param ask: runs a query and returns its rows.
    :param known: numbers of chunks with each phrase, and any of a word's, to which the new ones are added.
    """
    asked = Asked.of(words)
    counts = [0] * len(words)
    if asked.phrases:
        parts = Parts()
        choosing.add_frequencies(parts, asked, known, is_alone=False)
        answers = "SELECT true, w::bigint, df FROM word UNION ALL SELECT false, n, df FROM phrase"
        for is_word, place, count in ask(Alike("WITH " + ",\n".join(parts.sql) + "\n" + answers), parts.values):
            if is_word:
                counts[place] = math.ceil(count)
                known[asked.any_of[place]] = count
            else:
                known[asked.phrases[place - 1]] = count
    return counts


def _statement(asked: Asked, query: Query, filters: Filters, known: Mapping[str, float]) -> Where:
    """Return the statement with its values."""
    parts = Parts()
    narrow = on_sessions(filters).and_(meeting(query.condition))
    is_alone = len(asked.words) == 1 and not narrow.sql and not on_chunks(filters).sql
    choosing.add_frequencies(parts, asked, {} if is_alone else known, is_alone=is_alone)
    if narrow.sql:
        is_whole = f",{parts.use(whole(filters), '')} AS is_whole" if whole(filters).sql else ""
        sql = f"SELECT s.id, s.kind, s.chunk_count{is_whole} FROM sessions AS s"
        parts.add("allowed", sql + parts.use(narrow, "WHERE"))
    sessions = "allowed" if narrow.sql else "sessions"
    is_bounded = not on_chunks(filters).and_(said_within(filters)).sql
    choosing.add_plan(parts, sessions, filters, is_bounded=is_bounded)
    add_chunks(parts, filters, is_filtered=bool(narrow.sql))
    df = "round(df)::bigint"
    if is_alone:
        # A phrase has about as many in the chunks that were not read for it.
        part = f"(SELECT greatest(1, read / {budget.READ}) FROM plan)"
        df = (
            "CASE WHEN (SELECT is_all FROM seen) THEN (SELECT count(*) FROM met) "
            f"ELSE greatest({df}, (SELECT count(*) FROM met) * {part})::bigint END"
        )
    answers = [
        "SELECT 'chunk' AS what, session::bigint AS a, seq AS b, class::int AS c, score FROM chunk",
        f"SELECT 'word', {df}, w, 0, 0 FROM word",
        f"SELECT 'whole', (SELECT {TOTAL} FROM workstations), "
        "(SELECT coalesce(sum(chunks), 0) FROM of_session WHERE NOT is_hidden)::int, "
        "(SELECT is_all FROM seen)::int, 0",
        "SELECT 'sessions', count(*), 0, 0, 0 FROM "
        "(SELECT session FROM of_session WHERE NOT is_hidden UNION SELECT session FROM older) AS s",
    ]
    if not (filters.tools_only or filters.tool or filters.role):
        kept = ""
        if narrow.sql:
            shown = on_kind(filters).and_(*([Where("s.is_whole")] if whole(filters).sql else []))
            kept = f" AND (h.session IN (SELECT s.id FROM allowed AS s{shown.where()})) IS TRUE"
        elif not filters.all_kinds:
            kept = " AND h.session NOT IN (SELECT id FROM sessions WHERE kind = 'headless')"
        add_documents(parts, kept)
        answers.append("SELECT 'head', session, 0, 0, score FROM head WHERE score > 0")
        answers.append("SELECT 'conversation', session, 0, 0, score FROM conversation WHERE score > 0")
    if not filters.all_kinds:
        # Counting all of them, or by an index of words or calls, would read that index once for each session.
        own, said = on_chunks(filters), said_within(filters)
        has_words = f"t.words @@ (SELECT every FROM plan){said.where('AND')}"
        is_met = Where(f"CASE WHEN {own.sql} THEN {has_words} END" if own.sql else has_words, own.values + said.values)
        answers.append(
            "SELECT 'hidden', CASE WHEN (SELECT is_all FROM seen) THEN "
            "(SELECT count(*) FROM of_session WHERE is_hidden) ELSE ("
            f"SELECT count(*) FROM (SELECT id FROM {sessions} WHERE kind = 'headless' ORDER BY id DESC "
            f"LIMIT {budget.HEADLESS}) AS s WHERE EXISTS (SELECT 1 FROM texts AS t WHERE t.session = s.id "
            f"AND ({parts.use(is_met, '')}) IS TRUE)) END, 0, 0, 0"
        )
    sql = "WITH " + ",\n".join(parts.sql) + "\n" + "\nUNION ALL ".join(answers)
    return Where(Alike(sql), tuple(parts.values))
