"""The answer of a blame: runs of lines with the calls that wrote them, and their sessions with what was asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from ..types.questions import BlamedRun, BlamedSession, Writer
from .attribution import Claim
from .prompts import prompts_before

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader

#: By the place of a call, the ids of other sessions that contain it.
Copies: TypeAlias = Mapping[tuple[int, int], Sequence[str]]
#: Calls of a line that are listed besides the one that wrote it.
OTHERS = 5
#: Characters of a prompt.
ASKED = 400
#: Position of a call that is not known.
NOWHERE = -1


def runs(
    claims: Sequence[Sequence[Claim]], asked: range, others: Mapping[int, str], copies: Copies
) -> Iterator[BlamedRun]:
    """Yield the runs of lines that one call wrote, or of which nothing is known.

    :param claims: of all lines of the file, the likeliest first.
    :param asked: positions of the lines that are asked about.
    :param others: who wrote lines according to notes, of those that the index does not have.
    """
    for place, numbers in groupby(asked, lambda n: _alike(claims[n]) or others.get(n)):
        run = list(numbers)
        own = _of_run([claims[n] for n in run]) if isinstance(place, tuple) else []
        yield BlamedRun(
            first=run[0] + 1,
            last=run[-1] + 1,
            writers=tuple(_writer(claim, copies) for claim in own),
            noted=place if isinstance(place, str) else "",
        )


def sessions(reader: IndexReader, found: Sequence[BlamedRun], page: slice) -> list[BlamedSession]:
    """Return the sessions of runs, those with most lines first, with what was asked for.

    :param page: which of them.
    """
    lines: Counter[int] = Counter()
    by_call: Counter[tuple[int, int | None]] = Counter()
    writers: dict[tuple[int, int | None], Writer] = {}
    for run in found:
        for writer in run.writers[:1]:
            number, count = writer.stored.number, run.last - run.first + 1
            lines[number] += count
            by_call[number, writer.position] += count
            writers.setdefault((number, writer.position), writer)
    best = {number: writers[number, position] for (number, position), _ in reversed(by_call.most_common())}
    ordered = sorted(lines, key=lambda number: (-lines[number], -number))[page]
    places = [(number, best[number].position or 0) for number in ordered]
    prompts = prompts_before(reader, places)
    return [
        BlamedSession(
            stored=best[number].stored,
            lines=lines[number],
            writer=best[number],
            asked=prompt.text.strip()[:ASKED] if prompt else "",
            asked_at=prompt.seq if prompt else None,
        )
        for number, prompt in zip(ordered, prompts, strict=True)
    ]


def _writer(claim: Claim, copies: Copies) -> Writer:
    chunk = claim.call.chunk
    return Writer(
        stored=claim.call.stored,
        position=None if chunk.seq == NOWHERE else chunk.seq,
        at=chunk.timestamp,
        tool=chunk.tool_name,
        evidence=claim.evidence,
        copies=tuple(copies.get(claim.call.place, ())),
        path=claim.path,
    )


def _of_run(claims: Sequence[Sequence[Claim]]) -> list[Claim]:
    """Return the claims of consecutive lines that one call wrote: it, then other sessions, the latest first."""
    first = next((claim for claim, *_ in claims if claim.evidence != "neighbours"), claims[0][0])
    others: dict[int, Claim] = {}
    for claim in (claim for line in claims for claim in line[1:]):
        number = claim.call.stored.number
        if number != first.call.stored.number and (
            number not in others or others[number].call.order < claim.call.order
        ):
            others[number] = claim
    latest = sorted(others.values(), key=lambda claim: claim.call.order, reverse=True)
    return [first, *latest[:OTHERS]]


def _alike(claims: Sequence[Claim]) -> tuple[tuple[int, int], str] | None:
    """Return what the lines of a run have in common: the call, and what says that it wrote them."""
    if not claims:
        return None
    evidence = claims[0].evidence
    return claims[0].call.place, "edit" if evidence == "neighbours" else evidence
