"""The hits of an answer: the best sessions, each with the passages that show why it matched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from ..text.snippets import excerpt, snippet
from ..types.answer import Hit, Page, Passage, Snippet
from .ranking import BEST_CHUNKS

if TYPE_CHECKING:
    from ..types.index import Chunk, StoredSession
    from ..types.query import Query
    from ..types.transcript import Session
    from .grouping import Grouping
    from .ranking import Ranked
    from .second_look import SecondLook

#: Most results whose passages are read in one batch.
TOGETHER = 64


def evidence_of(page: Page, least: int) -> tuple[int, int]:
    """Return the number of sessions whose best chunks `hits_of` reads at first, and the number of these of each."""
    return min(max(page.end, least) + 1, TOGETHER), max(BEST_CHUNKS, page.passages)


def hits_of(
    look: SecondLook, query: Query, ordered: Iterable[tuple[Ranked, Grouping]], page: Page, least: int
) -> list[tuple[Hit, Ranked]]:
    """Return the hits up to the end of the page; a session that repeats the evidence of an earlier hit is its copy.

    :param least: number of hits to continue to after the end of the page, as far as there are any.
    :return: the hits before and after the page have no passages.
    """
    most = max(page.end, least)
    hits: list[tuple[Hit, Ranked]] = []
    # Of one owner: another one's message can have any origin.
    shown: dict[tuple[str, int], Hit] = {}
    for result, families, evidence in _with_evidence(look, ordered, *evidence_of(page, least)):
        stored = families.stored[result.group]
        best_chunks = evidence[:BEST_CHUNKS]
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
            passage_of(number, chunk, stored, query, page)
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


def passage_of(number: int, chunk: Chunk, stored: StoredSession, query: Query, page: Page) -> Passage:
    """Return a chunk as a passage of a hit.

    :param number: the stored session's number that contains it.
    :param stored: the hit's session.
    """
    return Passage(
        number=number,
        chunk=chunk,
        snippet=_part(chunk, query, page),
        subagent_id=chunk.session_id if chunk.session_id != stored.session.id else None,
    )


def _part(chunk: Chunk, query: Query, page: Page) -> Snippet:
    """Return the part of a chunk's text that a page shows."""
    if page.passage_bytes == 0:
        return Snippet("")
    from ..text.readable import readable

    text = readable(chunk.text, chunk.kind)
    return snippet(text, query) if page.passage_bytes is None else excerpt(text, query, page.passage_bytes)


def _with_evidence(
    look: SecondLook, ordered: Iterable[tuple[Ranked, Grouping]], expected: int, passages: int
) -> Iterator[tuple[Ranked, Grouping, list[tuple[int, Chunk]]]]:
    """Yield the ranked sessions with their best chunks, each with the number of the session that contains it.

    :param expected: estimate of the number that the caller will take, at most `TOGETHER`.
    """
    waiting = iter(ordered)
    while batch := list(islice(waiting, expected)):
        places = [[(scored.session, scored.seq) for scored in result.chunks[:passages]] for result, _ in batch]
        look.chunks([place for of_result in places for place in of_result])
        for (result, families), of_result in zip(batch, places, strict=True):
            found = zip(of_result, look.chunks(of_result), strict=True)
            yield result, families, [(number, chunk) for (number, _), chunk in found if chunk]


def _about(session: Session) -> str:
    """Return a session's title, prompts and notes as one string."""
    return "\n".join([session.title or "", *session.prompts, session.notes.text if session.notes else ""])
