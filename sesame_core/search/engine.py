"""Answers a query.

The backend finds and scores chunks, and `ranking` turns them into ranked sessions.  The engine groups them (a session
in two files, a subagent and its parent, forks that show the same evidence), cuts them to the limit, and adds the
passage that shows why each one matched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ..dataclass import replace
from ..plugin.backend import CountsPhrases, IndexReader, TracksFiles, Vocabulary
from ..query import spelling
from ..query.boolean import positive_words
from ..query.filters import asked, both
from ..query.parser import parse
from ..text.snippets import occurrences, snippet
from ..types.answer import Answer, Hit, Page, Passage, Snippet
from ..types.index import Candidates, Chunk, ChunkRange
from ..types.query import AllOf, Filters, Query
from ..types.transcript import Session
from . import ranking
from .grouping import Grouping, copy_rank
from .ranking import Ranked

#: Sessions that are loaded at first, enough that grouped ones still fill a page; the others only when paged to.
FIRST = 60
#: Answers with at most this number of sessions are processed to the end, so that the total excludes every copy.
COUNTED = 30
#: Most results whose passages are read in one batch.
TOGETHER = 64
#: Shortest prefix of a session's id that finds the session, in characters: the first part of a UUID, as answers
#: print it.
ID_PREFIX = 8


def search(reader: IndexReader, text: str, filters: Filters, page: Page = Page()) -> Answer:
    """Answer a query; any string is one.  Consecutive pages of an unchanged index have no gaps and no repetitions."""
    query = parse(text)
    filters, rest = both(filters, query.filters)
    if rest:
        query = replace(query, condition=AllOf((*rest, *((query.condition,) if query.condition else ()))))
    with reader.snapshot():
        answer = _answer(reader, query, filters, page)
        if not answer.total and (answer.left_out or answer.mode == "browse") and not filters.all_kinds:
            left_out = answer.left_out
            answer = _answer(reader, query, replace(filters, all_kinds=True), page)
            answer.left_out, answer.is_widened = left_out, bool(answer.hits)
        if isinstance(reader, TracksFiles):
            answer.freshness = reader.freshness()
        if page.context is not None:
            from .windows import windows

            before, after = page.context
            shown = [hit for hit in answer.hits if hit.passages]
            places = [(hit.passages[0].number, hit.passages[0].chunk.seq) for hit in shown]
            for hit, found in zip(shown, windows(reader, places, before=before, after=after), strict=True):
                hit.window = found
    answer.hints = query.hints
    return answer


def _answer(reader: IndexReader, query: Query, filters: Filters, page: Page) -> Answer:
    if not query.words:
        return _browse(reader, query, filters, page)
    if isinstance(reader, CountsPhrases) and len(query.text.split()) > 1:
        from ..query.compounds import with_joined

        query = with_joined(query, reader)
    candidates = reader.candidates(query, filters)
    not_found = [w.text for w, df in zip(query.words, candidates.document_frequencies, strict=True) if not df]
    corrections: dict[str, list[str]] = {}
    if isinstance(reader, Vocabulary) and spelling.is_needed(query, candidates.document_frequencies):
        query, added = spelling.expand(query, candidates.document_frequencies, reader)
        if added:
            not_found = [word for word in not_found if not spelling.is_met(word, added)]
            corrections = spelling.corrections(added)
            candidates = reader.candidates(query, filters)
    answer = Answer(
        query=query,
        hits=[],
        total=candidates.session_total,
        left_out=candidates.left_out,
        is_truncated=candidates.is_truncated,
        scanned=candidates.scanned,
        chunk_total=candidates.chunk_total,
        words_not_found=not_found,
        corrections=corrections,
    )
    named = _named(reader, query, filters)
    best = ranking.order(candidates, named=named)
    first = Grouping(reader, best[:FIRST])
    # The total is the same on every page.  A title may match where no chunk does.
    answer.total = max(answer.total, len(best)) - first.united
    is_counted = answer.total <= COUNTED
    ordered = _ordered(reader, candidates, first, best, named)
    found = _hits(reader, query, ordered, page, COUNTED if is_counted else 0)
    if is_counted:
        answer.total -= sum(len(hit.copies) for hit, _ in found)
    answer.hits = [hit for hit, _ in found[page.offset : page.end]]
    if named is not None:
        answer.confidence, answer.words_not_found = 1.0, []
    elif found:
        _judge(reader, candidates, *found[0], answer)
    if page.explain:
        from .explain import explain

        explain(reader, candidates, answer, [result for _, result in found[page.offset : page.end]])
    return answer


def _ordered(
    reader: IndexReader, candidates: Candidates, first: Grouping, best: list[int], named: int | None
) -> Iterator[tuple[Ranked, Grouping]]:
    """Yield the ranked sessions in an order that does not depend on the page.

    :param best: numbers of all sessions that were found, best first; `first` has the first `FIRST` of them.
    """
    seen: set[str] = set()
    families = first
    while True:
        for result in ranking.rank(candidates, group_of=families.of, modified=families.modified, named=named):
            key = families.stored[result.group].session.key
            if key not in seen:
                seen.add(key)
                yield result, families
        if families is not first or len(best) <= FIRST:
            return
        families = Grouping(reader, best)


def _named(reader: IndexReader, query: Query, filters: Filters) -> int | None:
    """Return the session if the whole query is its id, or a prefix of its id alone."""
    text = query.words[0].text
    is_alone = len(query.words) == 1 and query.condition is None and not asked(replace(filters, all_kinds=False))
    if not is_alone or len(text) < ID_PREFIX or not any(map(str.isdigit, text)):
        return None
    found = reader.find_sessions(text)
    whole = min((stored.session.id for stored in found), key=len, default="")
    # A subagent's id starts with its parent's.
    if any(stored.session.id != whole and not stored.session.id.startswith(f"{whole}/") for stored in found):
        return None
    copies = [stored for stored in found if stored.session.id == whole]
    return max(copies, key=copy_rank).number if copies else None


def _browse(reader: IndexReader, query: Query, filters: Filters, page: Page) -> Answer:
    """List sessions by time, for a query without words."""
    limit = page.end - page.offset
    found, total = reader.list_sessions(filters, limit=limit, offset=page.offset, condition=query.condition)
    hits = [
        Hit(stored=stored, score=0.0, snippet=Snippet(_first_line(stored.session) or "(no text)")) for stored in found
    ]
    return Answer(query=query, hits=hits, total=total, mode="browse")


def _hits(
    reader: IndexReader, query: Query, ordered: Iterable[tuple[Ranked, Grouping]], page: Page, least: int
) -> list[tuple[Hit, Ranked]]:
    """Return the hits up to the end of the page; a session that repeats the evidence of an earlier hit is its copy.

    :param least: number of hits to continue to after the end of the page, as far as there are any.
    :return: the hits before and after the page have no passages.
    """
    most = max(page.end, least)
    hits: list[tuple[Hit, Ranked]] = []
    shown: dict[int, Hit] = {}
    for result, families, evidence in _with_evidence(
        reader, ordered, most + 1, max(ranking.BEST_CHUNKS, page.passages)
    ):
        stored = families.stored[result.group]
        best_chunks = evidence[: ranking.BEST_CHUNKS]
        # The title is shown anyway, so any other passage adds more.
        first = next((place for place, (_, chunk) in enumerate(best_chunks) if chunk.source_type != "title"), 0)
        evidence = [*evidence[first : first + 1], *evidence[:first], *evidence[first + 1 :]]
        best = evidence[0][1] if evidence else None
        original = shown.get(best.origin) if best is not None and best.origin is not None else None
        if original is not None:
            original.copies.append((stored.session.id, stored.path))
            continue
        if len(hits) >= most:
            break
        is_shown = page.offset <= len(hits) < page.end
        found = [
            Passage(
                number=number,
                chunk=chunk,
                snippet=snippet(chunk.text, query),
                subagent_id=chunk.session_id if chunk.session_id != stored.session.id else None,
            )
            for number, chunk in evidence[: page.passages if is_shown else 0]
        ]
        text = _about(stored.session)
        hit = Hit(
            stored=stored,
            score=result.score,
            snippet=found[0].snippet if found else snippet(text if is_shown else "", query),
            chunk=best,
            subagent_id=found[0].subagent_id if found else None,
            is_abandoned=best is not None and families.is_abandoned(result, best),
            passages=found,
        )
        hits.append((hit, result))
        shown.update(
            (chunk.origin, hit) for _, chunk in best_chunks if chunk.origin is not None and chunk.origin not in shown
        )
    return hits


def _with_evidence(
    reader: IndexReader, ordered: Iterable[tuple[Ranked, Grouping]], expected: int, passages: int
) -> Iterator[tuple[Ranked, Grouping, list[tuple[int, Chunk]]]]:
    """Yield the ranked sessions with their best chunks, each with the number of the session that contains it.

    :param expected: estimate of the number that the caller will take.
    """
    waiting = iter(ordered)
    while batch := list(islice(waiting, min(expected, TOGETHER))):
        places: list[ChunkRange] = [
            (scored.session, scored.seq, 1) for result, _ in batch for scored in result.chunks[:passages]
        ]
        read = iter(reader.chunks(places))
        for result, families in batch:
            found = [(scored.session, next(read)) for scored in result.chunks[:passages]]
            yield result, families, [(number, chunk) for number, chunks in found for chunk in chunks]


def _judge(reader: IndexReader, candidates: Candidates, hit: Hit, best: Ranked, answer: Answer) -> None:
    """Set whether the best session's best chunk, with its notes, contains enough of the query.

    The session contains what the condition requires, in whichever chunk; of words joined by OR, one operand is enough.
    """
    places = [(chunk.session, chunk.seq) for chunk in best.chunks[:1]]
    # A chunk that was found by a single word contains it.
    present = reader.matching(answer.query, places) if len(answer.query.words) > 1 else [frozenset({0})] * len(places)
    met = set(positive_words(answer.query.condition))
    settled = {position for position, word in enumerate(answer.query.words) if word in met}
    places_of = {word.text: position for position, word in enumerate(answer.query.words)}
    choices = [[{places_of[text] for text in side if text in places_of} for side in c] for c in answer.query.choices]
    noted = _noted(answer.query, hit.session)
    covered = frozenset[int]().union(*present, noted)
    answer.confidence = ranking.confidence(candidates, covered | settled, choices) if covered else 0.0
    if noted:
        texts = {answer.query.words[position].text for position in noted}
        answer.words_not_found = [word for word in answer.words_not_found if word not in texts]
    answer.is_weak = answer.confidence < ranking.WEAK_BELOW


def _noted(query: Query, session: Session) -> frozenset[int]:
    """Return the positions of the query's words that occur in a session's notes."""
    if session.notes is None:
        return frozenset()
    text = session.notes.text
    words = enumerate(query.words)
    return frozenset(place for place, word in words if occurrences(text, Query(text=word.text, words=(word,))))


def _about(session: Session) -> str:
    """Return a session's title, prompts and notes as one string."""
    return "\n".join([session.title or "", *session.prompts, session.notes.text if session.notes else ""])


def _first_line(session: Session) -> str:
    texts: Sequence[str] = (session.name or "", *session.prompts, session.summary or "")
    return snippet(next((t for t in texts if t.strip()), ""), Query(text="")).text


def display_name(session: Session) -> str | None:
    """Return the session's title or name, or its first prompt on one line when it has none."""
    return session.name or (snippet(session.prompts[0], Query(text=""), length=80).text if session.prompts else None)
