"""Answers a query.

The backend finds and scores chunks, and `ranking` turns them into ranked sessions.  The engine groups them (a session
in two files, a subagent and its parent, forks that show the same evidence), cuts them to the limit, and adds the
passage that shows why each one matched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from ..dataclass import replace
from ..plugin.backend import IndexReader, TracksFiles
from ..query.filters import asked, both
from ..query.parser import MAX_WORDS, parse
from ..text.snippets import snippet
from ..types.answer import OPERATORS, Answer, Hit, KeptOut, Page, Passage, Snippet
from ..types.index import Candidates, Chunk
from ..types.query import AllOf, Filters, Query
from ..types.transcript import Session
from . import ranking
from .found import find
from .grouping import Grouping, copy_rank
from .nearness import Level
from .ranking import Ranked
from .second_look import SecondLook

if TYPE_CHECKING:
    from .agents import Agents
    from .operators import Effect
    from .places import Places

#: Sessions that are loaded at first, enough that grouped ones still fill a page; the others only when paged to.
FIRST = 60
#: Answers with at most this number of sessions are processed to the end, so that the total excludes every copy.
COUNTED = 30
#: Most results whose passages are read in one batch.
TOGETHER = 64
#: An answer with fewer results is thin: it says what each condition kept out.
THIN = 3
#: A word that may name a time, and what it is then: each time of `query.times` has one of them.
TIME_WORD = r"20(?=\d\d)|[a-z]+"
TIMES = frozenset(
    "20 ago last past today yesterday tonight night nights morning afternoon evening hour hours day days week weeks "
    "weekend month months quarter year years monday tuesday wednesday thursday friday saturday sunday january "
    "february march april may june july august september october november december jan feb mar apr jun jul aug sep "
    "sept oct nov dec".split()
)
#: Shortest prefix of a session's id that finds the session, in characters: the first part of a UUID, as answers
#: print it.
ID_PREFIX = 8


def search(
    reader: IndexReader,
    text: str,
    filters: Filters,
    page: Page = Page(),
    *,
    agents: Agents | None = None,
    within: Places | None = None,
) -> Answer:
    """Answer a query; any string is one.  Consecutive pages of an unchanged index have no gaps and no repetitions.

    :param agents: those that the names in the query can mean.
    :param within: the directories that it can mean.
    """
    query = parse(text)
    if agents is not None:
        query = agents.in_query(query)
    if within is not None:
        query = within.in_query(query)
    with reader.snapshot():
        if len(query.words) > MAX_WORDS:
            from .rarest import with_rarest_words

            query = with_rarest_words(reader, query)
        answer = _widened(reader, query, filters, page)
        if not answer.total and asked(query.filters):
            from . import operators

            if (text_of := operators.as_text(reader, query, filters)) is not None:
                query, filters = text_of.query, text_of.filters
                answer = _widened(reader, query, filters, page)
                answer.hints = (*answer.hints, text_of.hint)
        kept = _kept_out(reader, answer, query, filters)
        if isinstance(reader, TracksFiles):
            answer.freshness = reader.freshness()
        if page.context is not None:
            from .windows import windows

            before, after = page.context
            shown = [hit for hit in answer.hits if hit.passages]
            places = [(hit.passages[0].number, hit.passages[0].chunk.seq) for hit in shown]
            for hit, found in zip(shown, windows(reader, places, before=before, after=after), strict=True):
                hit.window = found
    answer.hints = (*query.hints, *answer.hints, *kept.hints, *_time_hints(query, answer.filters or filters))
    answer.offset = page.offset
    answer.left_out = {**answer.left_out, **kept.counts}
    return answer


def _widened(reader: IndexReader, query: Query, filters: Filters, page: Page) -> Answer:
    """Answer a query with the filters of its fields; if only headless sessions match, with these."""
    filters, rest = both(filters, query.filters)
    if rest:
        query = replace(query, condition=AllOf((*rest, *((query.condition,) if query.condition else ()))))
    answer = _answer(reader, query, filters, page)
    is_hiding = answer.left_out.keys() - {OPERATORS} or answer.mode == "browse"
    if not answer.total and is_hiding and not filters.all_kinds:
        left_out = answer.left_out
        answer = _answer(reader, query, replace(filters, all_kinds=True), page)
        answer.left_out, answer.is_widened = left_out, bool(answer.hits)
    answer.filters = filters
    return answer


def kept_out_of_list(reader: IndexReader, filters: Filters, total: int) -> KeptOut:
    """Return what the filters of a list of sessions kept out, if they left none."""
    if total or not asked(filters):
        return KeptOut()
    from .conditions import LOOKED, kept_out

    query = Query(text="")
    with reader.snapshot():
        empty = Answer(query=query, hits=[], mode="browse")
        return kept_out(reader, empty, query, filters, lambda q, f: _browse(reader, q, f, Page(limit=LOOKED)))


def _kept_out(reader: IndexReader, answer: Answer, query: Query, filters: Filters) -> KeptOut:
    """Return what the conditions of an empty or thin answer kept out."""
    if answer.total >= THIN or not (query.condition or asked(query.filters) or asked(filters)):
        return KeptOut()
    from .conditions import LOOKED, kept_out

    return kept_out(reader, answer, query, filters, lambda q, f: _widened(reader, q, f, Page(limit=LOOKED)))


def _time_hints(query: Query, filters: Filters) -> list[str]:
    """Return the hint that names the filters for a time in the query's text, unless the time is restricted already."""
    # Few queries name a time, and the patterns of those that may take longer to compile than a search.
    if (
        filters.after
        or filters.before
        or not query.words
        or TIMES.isdisjoint(re.findall(TIME_WORD, query.text.lower()))
    ):
        return []
    from ..query.times import named_time

    span = named_time(query.text)
    if span is None:
        return []
    options = [f"--after {span.after}"] * bool(span.after) + [f"--before {span.before}"] * bool(span.before)
    return [f'For "{span.phrase}": {" ".join(options)}']


def _answer(reader: IndexReader, query: Query, filters: Filters, page: Page) -> Answer:
    if query.condition is None:
        return _result(reader, query, filters, page)
    from . import operators

    effect = operators.effect(reader, query, filters)
    answer = _result(reader, effect.query if effect else query, filters, page, effect)
    if effect:
        effect.tell(answer)
    return answer


def _result(reader: IndexReader, query: Query, filters: Filters, page: Page, effect: Effect | None = None) -> Answer:
    if not query.words:
        return _browse(reader, query, filters, page)
    found = find(reader, query, filters)
    query, candidates = found.query, found.candidates
    if effect:
        effect.add_to(candidates)
    answer = Answer(
        query=query,
        hits=[],
        total=candidates.session_total,
        left_out=candidates.left_out,
        is_truncated=candidates.is_truncated,
        scanned=candidates.scanned,
        chunk_total=candidates.chunk_total,
        words_not_found=found.not_found,
        corrections=found.corrections,
    )
    named = _named(reader, query, filters)
    look = SecondLook(reader, query, filters, candidates)
    best = ranking.order(candidates, named=named)
    first = Grouping(reader, dict.fromkeys([*best[:FIRST], *look.sessions]))
    # The total is the same on every page.  A title may match where no chunk does.
    answer.total = max(answer.total, len(best)) - first.united
    is_counted = answer.total <= COUNTED
    ordered = _ordered(reader, candidates, first, best, named, look)
    results = _hits(look, query, ordered, page, COUNTED if is_counted else 0)
    if is_counted:
        answer.total -= sum(len(hit.copies) for hit, _ in results)
    answer.hits = [hit for hit, _ in results[page.offset : page.end]]
    judged = None
    if named is not None:
        answer.confidence, answer.words_not_found = 1.0, []
    elif results:
        from .confidence import judge

        judged = judge(reader, candidates, *results[0], answer, is_verbatim=results[0][1].nearness.level > Level.NONE)
    if answer.corrections:
        from .showing import describe_spellings

        describe_spellings(answer)
    if page.explain:
        from .explain import explain

        explain(reader, candidates, answer, [result for _, result in results[page.offset : page.end]], judged)
    return answer


def _ordered(
    reader: IndexReader, candidates: Candidates, first: Grouping, best: list[int], named: int | None, look: SecondLook
) -> Iterator[tuple[Ranked, Grouping]]:
    """Yield the ranked sessions in an order that does not depend on the page.

    :param best: numbers of all sessions that were found, best first; `first` has the first `FIRST` of them.
    """
    seen: set[str] = set()
    families = first
    while True:
        ranked = ranking.rank(candidates, group_of=families.of, modified=families.modified, named=named)
        for result in ranked if named is not None else look.order(ranked):
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
    if query.condition or asked(replace(filters, exclude=(), all_kinds=False)):
        from .deciding import deciding_passages

        passages = deciding_passages(reader, filters, query.condition, [stored.number for stored in found])
        for hit in hits:
            if passage := passages.get(hit.stored.number):
                hit.passages, hit.chunk, hit.snippet = [passage], passage.chunk, passage.snippet
                hit.is_abandoned = passage.chunk.segment in (hit.session.abandoned or ())
    return Answer(query=query, hits=hits, total=total, mode="browse")


def _hits(
    look: SecondLook, query: Query, ordered: Iterable[tuple[Ranked, Grouping]], page: Page, least: int
) -> list[tuple[Hit, Ranked]]:
    """Return the hits up to the end of the page; a session that repeats the evidence of an earlier hit is its copy.

    :param least: number of hits to continue to after the end of the page, as far as there are any.
    :return: the hits before and after the page have no passages.
    """
    from ..text.readable import readable

    most = max(page.end, least)
    hits: list[tuple[Hit, Ranked]] = []
    # Of one owner: another one's message can have any origin.
    shown: dict[tuple[str, int], Hit] = {}
    for result, families, evidence in _with_evidence(look, ordered, most + 1, max(ranking.BEST_CHUNKS, page.passages)):
        stored = families.stored[result.group]
        best_chunks = evidence[: ranking.BEST_CHUNKS]
        # The title is shown anyway, so any other passage adds more.
        first = next((place for place, (_, chunk) in enumerate(best_chunks) if chunk.source_type != "title"), 0)
        evidence = [*evidence[first : first + 1], *evidence[:first], *evidence[first + 1 :]]
        best = evidence[0][1] if evidence else None
        owner = stored.session.owner
        original = shown.get((owner, best.origin)) if best is not None and best.origin is not None else None
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
                snippet=snippet(readable(chunk.text, chunk.kind), query),
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
        origins = ((owner, chunk.origin) for _, chunk in best_chunks if chunk.origin is not None)
        shown.update((origin, hit) for origin in origins if origin not in shown)
    return hits


def _with_evidence(
    look: SecondLook, ordered: Iterable[tuple[Ranked, Grouping]], expected: int, passages: int
) -> Iterator[tuple[Ranked, Grouping, list[tuple[int, Chunk]]]]:
    """Yield the ranked sessions with their best chunks, each with the number of the session that contains it.

    :param expected: estimate of the number that the caller will take.
    """
    waiting = iter(ordered)
    while batch := list(islice(waiting, min(expected, TOGETHER))):
        places = [[(scored.session, scored.seq) for scored in result.chunks[:passages]] for result, _ in batch]
        look.chunks([place for of_result in places for place in of_result])
        for (result, families), of_result in zip(batch, places, strict=True):
            found = zip(of_result, look.chunks(of_result), strict=True)
            yield result, families, [(number, chunk) for (number, _), chunk in found if chunk]


def _about(session: Session) -> str:
    """Return a session's title, prompts and notes as one string."""
    return "\n".join([session.title or "", *session.prompts, session.notes.text if session.notes else ""])


def _first_line(session: Session) -> str:
    texts: Sequence[str] = (session.name or "", *session.prompts, session.summary or "")
    return snippet(_prose(next((t for t in texts if t.strip()), "")), Query(text="")).text


def display_name(session: Session) -> str | None:
    """Return the session's title or name, or its first prompt on one line when it has none."""
    if session.name or not session.prompts:
        return session.name
    return snippet(_prose(session.prompts[0]), Query(text=""), length=80).text


def _prose(text: str) -> str:
    """Return a prompt without the fences of its code."""
    if "```" not in text and "~~~" not in text:
        return text
    from ..text.readable import readable

    return readable(text)
