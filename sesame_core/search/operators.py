"""What the operators of a query keep out, and which of those sessions contain them as they were typed.

`git rebase -i` pasted from a shell excludes `i`, and `NOT NULL constraint failed` excludes `NULL`.  Of the sessions
that are excluded, the passages that match best are read: where the exclusion stands in the text with its sign or its
`NOT`, the session is found all the same.  The answer says how many sessions remain left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..dataclass import dataclass, replace
from ..plugin.backend import Phrases
from ..query import operators
from ..query.boolean import all_of, any_of, negated, some
from ..query.filters import both
from ..text.words import word_of
from ..types.answer import OPERATORS
from ..types.query import Has

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.answer import Answer
    from ..types.index import Candidates
    from ..types.query import Filters, Query, Word

#: Best passages of the sessions that are kept out whose texts are read.
READ = 100


@dataclass(slots=True)
class Effect:
    """The effect of a query's operators in one index."""

    #: The query to search for.
    query: Query
    #: Sessions that it keeps out.
    count: int
    hints: list[str]
    #: What was found of the excluded sessions that contain the exclusions as they were typed.
    found: Candidates | None = None

    def add_to(self, candidates: Candidates) -> None:
        """Add what was found of the sessions that are not left out."""
        if self.found is None:
            return
        candidates.chunks = sorted([*candidates.chunks, *self.found.chunks], key=lambda chunk: -chunk.score)
        candidates.heads |= self.found.heads
        candidates.conversations |= self.found.conversations
        candidates.session_total += self.found.session_total
        candidates.scanned += self.found.scanned

    def tell(self, answer: Answer) -> None:
        """Say in an answer what was left out."""
        if self.count:
            answer.left_out = {**answer.left_out, OPERATORS: self.count}
        answer.hints = (*answer.hints, *self.hints)


@dataclass(frozen=True, slots=True)
class AsText:
    """A query whose fields are read as words."""

    query: Query
    filters: Filters
    hint: str


def effect(reader: IndexReader, query: Query, filters: Filters) -> Effect | None:
    """Return the effect of a query's operators; None if it has none that keep sessions out."""
    used = operators.used(query)
    if used is None or query.condition is None or not used.as_text.words:
        return None
    text = used.as_text
    narrow, rest = both(filters, text.filters)
    outside = all_of([*rest, *some(text.condition), negated(query.condition)])
    # What matches the query without its operators, or for a query without other words, with what they exclude.
    has_word = any_of(map(Has, query.words or text.words))
    _, count = reader.list_sessions(narrow, limit=0, condition=all_of(some(outside, has_word)))
    found = None
    if count and used.is_exclusion and _may_stand(reader, narrow, used.typed, query.words):
        found = _as_typed(reader, reader.candidates(replace(text, condition=outside), narrow), used.typed)
    if found is None or not found.chunks:
        return Effect(query, count, _told(used, query.text, count))
    kept = found.session_total
    typed = _listed(used.typed)
    hint = f"{typed} stands so in {kept} of the sessions, which {'is' if kept == 1 else 'are'} not left out"
    if not query.words:
        # A list of all other sessions would not show them.
        hint = f"{typed} was read as text, which stands so in {kept} session{'s' * (kept > 1)}"
        phrases = (word_of(one.strip('-"()')) for one in used.typed)
        words = tuple(dict.fromkeys((*phrases, *text.words)))
        return Effect(replace(text, words=words, condition=all_of([*rest, *some(text.condition)])), 0, [hint])
    count = max(0, count - kept)
    told = _told(used, query.text, count)
    query = replace(query, words=text.words, typed=text.typed)
    return Effect(query, count, [hint, *told], found)


def _may_stand(reader: IndexReader, filters: Filters, typed: Sequence[str], others: Sequence[Word]) -> bool:
    """Return whether each text stands in one of the newest chunks with its words: most searches end here.

    :param others: the words of the query, of which the chunk has one, too.
    """
    if not isinstance(reader, Phrases):
        return True
    for text in typed:
        chunks = reader.phrase(word_of(text.strip('-"()')), filters, None, READ, beside=others)
        found = reader.chunks([(chunk.session, chunk.seq, 1) for chunk in chunks]) if chunks else []
        has = _pattern(text)
        if not any(has(chunk.text) for of_place in found for chunk in of_place):
            return False
    return True


def as_text(reader: IndexReader, query: Query, filters: Filters) -> AsText | None:
    """Return a query with its fields as words, if a session contains them as they were typed, beside a word; else None.

    :param filters: those that the query does not set.
    """
    used = operators.used_fields(query)
    if used is None or not used.as_text.words:
        return None
    narrow, rest = both(filters, used.as_text.filters)
    text = replace(used.as_text, condition=all_of([*rest, *some(used.as_text.condition)]))
    found = _as_typed(reader, reader.candidates(text, narrow), used.typed)
    if not found.chunks:
        return None
    hint = f"{_listed(used.typed)} was read as text: no session matches with it as a filter"
    return AsText(text, narrow, hint)


def _as_typed(reader: IndexReader, candidates: Candidates, typed: Sequence[str]) -> Candidates:
    """Return the part of candidates that belongs to sessions in whose best chunks all of some texts stand."""
    patterns = [_pattern(text) for text in typed]
    places = [(chunk.session, chunk.seq) for chunk in candidates.chunks[:READ]]
    met: dict[int, set[int]] = {}
    for (session, _), chunks in zip(places, reader.chunks([(*place, 1) for place in places]), strict=True):
        for chunk in chunks:
            met.setdefault(session, set()).update(n for n, has in enumerate(patterns) if has(chunk.text))
    kept = {session for session, found in met.items() if len(found) == len(patterns)}
    chunks_kept = [chunk for chunk in candidates.chunks if chunk.session in kept]
    return replace(
        candidates,
        chunks=chunks_kept,
        heads={session: score for session, score in candidates.heads.items() if session in kept},
        conversations={session: score for session, score in candidates.conversations.items() if session in kept},
        session_total=len(kept),
        scanned=len(chunks_kept),
    )


def _pattern(typed: str) -> Callable[[str], object]:
    """Return a function that finds a text as it was typed: in any case, and with any space or dash between words."""
    parts = r"[\s_-]+".join(map(re.escape, typed.split()))
    before = r"(?<![\w-])" if typed[0] == "-" else r"(?<!\w)"
    after = r"(?!\w)" if typed[-1].isalnum() else ""
    search = re.compile(before + parts + after, re.IGNORECASE).search
    # Few texts have its first word, and looking for that takes a tenth of the time.
    first = typed.split()[0].lower()
    return lambda text: first in text.lower() and search(text)


def _told(used: operators.Used, text: str, count: int) -> list[str]:
    if not count:
        return []
    many = f"{count} session{'s' * (count > 1)}"
    if not used.is_exclusion:
        return [f"{many} left out by AND; to find them, too: leave out AND; to find it as text: {_quoted(text)}"]
    quoted = " ".join(map(_quoted, used.typed))
    return [f"{many} left out by {_listed(used.typed)}; to find it as text: {quoted}"]


def _quoted(text: str) -> str:
    return '"' + text.replace('"', "") + '"'


def _listed(typed: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(typed))
