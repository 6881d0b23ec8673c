"""The two sides of a conversation: what was asked or went wrong, and what was answered.

The passage that matches best is often the one that states the problem, since the query has its words; the message that
solves it seldom repeats them.  So the second passage of a hit comes from the other side: the message that closes the
turn of the best one, or, if that closes its turn itself, the best prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ..plugin.backend import Turns
from ..types.query import Query
from .hits import passage_of

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.answer import Hit, Page, Passage
    from ..types.index import Chunk
    from .ranking import Ranked
    from .second_look import SecondLook

#: Chunks that are read at once from an index that does not know where turns end.
BLOCK = 64
#: Best chunks of a session among which one of the other side is looked for.
LOOKED_AT = 8

#: Number of a session, and a position in it.
_Place: TypeAlias = tuple[int, int]


def add_other_side(
    reader: IndexReader, look: SecondLook, query: Query, results: Sequence[tuple[Hit, Ranked]], page: Page
) -> None:
    """Make the second passage of each hit the best one of the other side, if it has one."""
    results = [(hit, ranked) for hit, ranked in results if hit.passages]
    places = [(hit.passages[0].number, hit.passages[0].chunk.seq) for hit, _ in results]
    ends = closings(reader, places)
    wanted = [
        [(number, end)] if end not in (None, position) else [(c.session, c.seq) for c in ranked.chunks[:LOOKED_AT]]
        for (number, position), end, (_, ranked) in zip(places, ends, results, strict=True)
    ]
    look.chunks([place for of_hit in wanted for place in of_hit])
    for (hit, _), (number, position), end, of_hit in zip(results, places, ends, wanted, strict=True):
        # What closes a turn has the prompts on its other side.
        is_other = is_prompt if end == position else is_answer
        read = zip(of_hit, look.chunks(of_hit), strict=True)
        other = next(((*place, chunk) for place, chunk in read if chunk and is_other(chunk)), None)
        if other is None or other[:2] == (number, position):
            continue
        # A message that was found by its place says first what it is about, whatever the words of the query are.
        about = query if end in (None, position) else Query(text="")
        _insert(hit, passage_of(other[0], other[2], hit.stored, about, page), page.passages)


def _insert(hit: Hit, other: Passage, most: int) -> None:
    rest = [p for p in hit.passages[1:] if (p.number, p.chunk.seq) != (other.number, other.chunk.seq)]
    hit.passages = [hit.passages[0], other, *rest][:most]


def closings(reader: IndexReader, places: Sequence[_Place]) -> list[int | None]:
    """Return the position of the first message of the agent, from each chunk on, that closes a turn."""
    if isinstance(reader, Turns):
        return reader.closings(places)
    return [_closing(reader, *place) for place in places]


def is_prompt(chunk: Chunk) -> bool:
    """Return whether a chunk is a prompt, which begins a turn."""
    return chunk.kind == "message" and chunk.role == "user"


def is_answer(chunk: Chunk) -> bool:
    """Return whether a chunk is a message of the agent."""
    return chunk.kind == "message" and chunk.role == "assistant"


def _closing(reader: IndexReader, number: int, position: int) -> int | None:
    closing = None
    for chunk in _from(reader, number, position):
        if is_answer(chunk):
            closing = chunk.seq
        elif is_prompt(chunk) and closing is not None:
            return closing
        elif chunk.kind in ("tool_call", "tool_result"):
            closing = None
    return closing


def _from(reader: IndexReader, number: int, position: int) -> Iterator[Chunk]:
    """Yield the chunks of a session from a position on."""
    while chunks := reader.chunks([(number, position, BLOCK)])[0]:
        yield from chunks
        position = chunks[-1].seq + 1
