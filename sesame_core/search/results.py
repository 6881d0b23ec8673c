"""The results of a query with words: found, ranked, grouped, and shown as hits.

The backend finds and scores chunks, `ranking` turns them into ranked sessions, in groups (a session in two files, a
subagent and its parent), and `hits` makes a page of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..dataclass import replace
from ..plugin.backend import IndexReader
from ..query.filters import asked
from ..types.answer import Answer, Page
from ..types.query import Filters, Query
from .found import find
from .grouping import Grouping, copy_rank
from .hits import evidence_of, hits_of
from .listing import ID_PREFIX
from .nearness import Level
from .ranking import Ranked, Ranking
from .second_look import SecondLook

if TYPE_CHECKING:
    from .operators import Effect

#: Sessions that are loaded at first, enough that grouped ones still fill a page; the others only when paged to.
FIRST = 60
#: Answers with at most this number of sessions are processed to the end, so that the total excludes every copy.
COUNTED = 30


def result(reader: IndexReader, query: Query, filters: Filters, page: Page, effect: Effect | None = None) -> Answer:
    """Return the answer to a query with words.

    :param effect: what its operators keep out, and what of that is found all the same.
    """
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
    found_sessions = Ranking(candidates)
    best = found_sessions.order(named=named)
    first = Grouping(reader, dict.fromkeys([*best[:FIRST], *look.sessions]))
    # The total is the same on every page.  A title may match where no chunk does.
    answer.total = max(answer.total, len(best)) - first.united
    is_counted = answer.total <= COUNTED
    least = COUNTED if is_counted else 0
    look.shown = evidence_of(page, least)
    ordered = _ordered(reader, found_sessions, first, best, named, look)
    results = hits_of(look, query, ordered, page, least)
    if page.found:
        families = first if len(best) <= FIRST else Grouping(reader, best[: page.found])
        answer.found = families.representing()[: page.found]
    if is_counted:
        answer.total -= sum(len(hit.copies) for hit, _ in results)
    shown = results[page.offset : page.end]
    answer.hits = [hit for hit, _ in shown]
    # What searches only calls, or one role, shows nothing else.
    if page.passages > 1 and not (filters.tool or filters.tools_only or filters.role):
        from .sides import add_other_side

        add_other_side(reader, look, query, shown, page)
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

        explain(reader, candidates, answer, [result for _, result in shown], judged)
    return answer


def _ordered(
    reader: IndexReader, ranking: Ranking, first: Grouping, best: list[int], named: int | None, look: SecondLook
) -> Iterator[tuple[Ranked, Grouping]]:
    """Yield the ranked sessions in an order that does not depend on the page.

    :param best: numbers of all sessions that were found, best first; `first` has the first `FIRST` of them.
    """
    seen: set[str] = set()
    families = first
    while True:
        ranked = ranking.rank(families.groups, modified=families.modified, named=named)
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
