"""Answers a query: reads it, widens it where it finds nothing, and says what was kept out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..dataclass import replace
from ..plugin.backend import IndexReader, TracksFiles
from ..query.filters import asked, both
from ..query.parser import MAX_WORDS, parse
from ..types.answer import OPERATORS, Answer, KeptOut, Page
from ..types.query import AllOf, Filters, Query
from .listing import browse, headless

if TYPE_CHECKING:
    from ..metadata.own import OwnMarks
    from .agents import Agents
    from .places import Places

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
#: What a query has that may be an error, and what one begins with that may be a command (`query.answered`).
ERRORS = ("rror", "atal", "anic", "xception", ": ", "ERR", "raceback")
PROGRAMS = " cargo go npm pnpm yarn bun mise uv poetry mix dotnet gradle ./gradlew mvn terraform kubectl pytest make "
#: Fewest words of such a query.
LEAST = 2


def search(
    reader: IndexReader,
    text: str,
    filters: Filters,
    page: Page = Page(),
    *,
    agents: Agents | None = None,
    within: Places | None = None,
    own: OwnMarks | None = None,
) -> Answer:
    """Answer a query; any string is one.  Consecutive pages of an unchanged index have no gaps and no repetitions.

    :param agents: those that the names in the query can mean.
    :param within: the directories that it can mean.
    :param own: the marks that it can mean.
    """
    query = parse(text)
    if agents is not None:
        query = agents.in_query(query)
    if within is not None:
        query = within.in_query(query)
    if own is not None:
        query = own.in_query(query)
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
    times = _time_hints(query, answer.filters or filters)
    answer.hints = (*query.hints, *answer.hints, *kept.hints, *times, *_question_hints(query))
    answer.offset = page.offset
    answer.left_out = {**answer.left_out, **kept.counts}
    return answer


def _widened(reader: IndexReader, query: Query, filters: Filters, page: Page) -> Answer:
    """Answer a query with the filters of its fields; if only headless sessions match, with these."""
    filters, rest = both(filters, query.filters)
    if rest:
        query = replace(query, condition=AllOf((*rest, *((query.condition,) if query.condition else ()))))
    answer = _answer(reader, query, filters, page)
    if not answer.total and answer.left_out.keys() - {OPERATORS} and not filters.all_kinds:
        left_out = answer.left_out
        answer = _answer(reader, query, replace(filters, all_kinds=True), page)
        answer.left_out, answer.is_widened = left_out, bool(answer.hits)
    answer.filters = filters
    return answer


def kept_out_of_list(reader: IndexReader, filters: Filters, total: int) -> KeptOut:
    """Return the headless sessions that a list leaves out, and what its filters kept out, if they left none."""
    with reader.snapshot():
        left_out = headless(reader, filters, total)
        if total or not asked(filters):
            return KeptOut(counts=left_out)
        from .conditions import LOOKED, kept_out

        query = Query(text="")
        empty = Answer(query=query, hits=[], mode="browse", left_out=left_out)
        kept = kept_out(reader, empty, query, filters, lambda q, f: browse(reader, q, f, Page(limit=LOOKED)))
        return replace(kept, counts={**left_out, **kept.counts})


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


def _question_hints(query: Query) -> list[str]:
    """Return the hint that names the command that answers a query better: of an error, of a command of a shell."""
    text = query.text
    if query.condition or asked(query.filters) or len(query.words) < LEAST:
        return []
    if not any(mark in text for mark in ERRORS) and f" {text.split(maxsplit=1)[0]} " not in PROGRAMS:
        return []
    from ..query.answered import better

    hint = better(text)
    return [hint] if hint else []


def _answer(reader: IndexReader, query: Query, filters: Filters, page: Page) -> Answer:
    effect = None
    if query.condition is not None:
        from . import operators

        effect = operators.effect(reader, query, filters)
        query = effect.query if effect else query
    if query.words:
        from .results import result

        answer = result(reader, query, filters, page, effect)
    else:
        answer = browse(reader, query, filters, page)
    if effect:
        effect.tell(answer)
    return answer
