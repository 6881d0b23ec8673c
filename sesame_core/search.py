"""A question in, an honest answer out.

The backend finds and scores chunks, `ranking` turns them into ranked sessions; here they are united (a session
in two files, a subagent and its parent, forks that show the same evidence), cut to the limit, and given the
passage that shows why they matched.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from . import expansion, ranking
from .language import parse
from .protocols import Candidates, IndexReader, ScoredChunk, StoredSession, Vocabulary
from .query import AllOf, Filters, Query, both, positive_words
from .ranking import Ranked
from .snippets import Snippet, snippet
from .types import Chunk, Session

#: Results when nobody says how many.
LIMIT = 10
#: Sessions beyond the limit that are looked at, so that united ones still fill the page.
SPARE = 50


@dataclass(slots=True, kw_only=True)
class Hit:
    """One session that answers a query."""

    stored: StoredSession
    #: 0..1, higher is better, relative to the best hit of the answer.
    score: float
    snippet: Snippet
    #: The chunk the snippet was taken from; None when only the title or a prompt is known to match.
    chunk: Chunk | None = None
    #: The subagent session that chunk stands in, when it is not the session itself.
    subagent_id: str | None = None
    #: Ids and files of sessions that show the same evidence: forks, resumed copies, exports.
    copies: list[tuple[str, str]] = field(default_factory=list)
    #: The evidence stands on a branch that was rewound or abandoned.
    is_abandoned: bool = False

    @property
    def session(self) -> Session:
        """The session."""
        return self.stored.session


@dataclass(slots=True, kw_only=True)
class Answer:
    """What a search found, and how far it can be trusted."""

    query: Query
    hits: list[Hit]
    #: Sessions that match; a lower bound when `is_truncated`.
    total: int = 0
    #: "search", or "browse" when no word was asked for and the newest sessions are listed.
    mode: str = "search"
    #: No chunk of the best hit holds most of the query, weighted by how rare the words are.
    is_weak: bool = False
    #: That share, 0..1; None when nothing was found.
    confidence: float | None = None
    #: Words of the query that occur nowhere in the index.
    words_not_found: list[str] = field(default_factory=list)
    #: Other spellings that were looked for, by word.
    corrections: dict[str, list[str]] = field(default_factory=dict)
    #: What of the query was taken for words although it was meant otherwise, perhaps.
    hints: tuple[str, ...] = ()
    #: Sessions that match but were left out, by reason: "headless".
    left_out: dict[str, int] = field(default_factory=dict)
    #: Headless sessions are shown because nothing else matched.
    is_widened: bool = False
    #: The candidate budget ran out: broad words were not followed to the end.
    is_truncated: bool = False
    #: Chunks scored, and chunks in the index.
    scanned: int = 0
    chunk_total: int = 0


def search(reader: IndexReader, text: str, filters: Filters, *, limit: int = LIMIT, offset: int = 0) -> Answer:
    """Answer a query; any text is a query.

    :param limit: results at most.
    :param offset: results to pass over, for paging.
    """
    query = parse(text)
    filters, rest = both(filters, query.filters)
    if rest:
        query = replace(query, condition=AllOf((*rest, *((query.condition,) if query.condition else ()))))
    with reader.snapshot():
        answer = _answer(reader, query, filters, limit, offset)
        if not answer.total and (answer.left_out or answer.mode == "browse") and not filters.all_kinds:
            left_out = answer.left_out
            answer = _answer(reader, query, replace(filters, all_kinds=True), limit, offset)
            answer.left_out, answer.is_widened = left_out, bool(answer.hits)
    answer.hints = query.hints
    return answer


def _answer(reader: IndexReader, query: Query, filters: Filters, limit: int, offset: int) -> Answer:
    if not query.words:
        return _browse(reader, query, filters, limit, offset)
    candidates = reader.candidates(query, filters)
    not_found = [w.text for w, df in zip(query.words, candidates.document_frequencies, strict=True) if not df]
    corrections: dict[str, list[str]] = {}
    if isinstance(reader, Vocabulary) and min(candidates.document_frequencies) <= expansion.RARE:
        query, corrections = expansion.expand(query, candidates.document_frequencies, reader)
        # A beginning was found when a word with it was.
        not_found = [word for word in not_found if not (word.endswith("*") and word in corrections)]
        if corrections:
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
    families = _Families(reader, candidates, offset + limit + SPARE)
    ranked = ranking.rank(candidates, group_of=families.of, modified=families.modified)
    answer.total -= families.united
    hits = _hits(reader, query, ranked, families, offset + limit, answer)
    answer.total = max(answer.total, len(hits))  # a title may match where no chunk does
    answer.hits = hits[offset:]
    if ranked:
        _judge(reader, candidates, ranked[0], answer)
    return answer


def _browse(reader: IndexReader, query: Query, filters: Filters, limit: int, offset: int) -> Answer:
    """List sessions by time, for a query without words."""
    found, total = reader.list_sessions(filters, limit=limit, offset=offset, condition=query.condition)
    hits = [
        Hit(stored=stored, score=0.0, snippet=Snippet(_first_line(stored.session) or "(no text)")) for stored in found
    ]
    return Answer(query=query, hits=hits, total=total, mode="browse")


class _Families:
    """Which sessions count as one: the same session in two files, and subagents with their parent."""

    def __init__(self, reader: IndexReader, candidates: Candidates, count: int) -> None:
        best = [r.group for r in ranking.rank(candidates)[:count]]
        self.stored = {stored.number: stored for stored in reader.sessions(best)}
        self._group: dict[int, int] = {}
        by_key: dict[str, int] = {}
        for stored in sorted(self.stored.values(), key=standing, reverse=True):
            self._group[stored.number] = by_key.setdefault(stored.session.key, stored.number)
        for stored in list(self.stored.values()):
            if stored.session.kind == "subagent" and (parent := self._parent(reader, stored)):
                self._group[stored.number] = self._group.get(parent.number, parent.number)
        self.united = len(self._group) - len(set(self._group.values()))
        self.modified = {number: self.stored[number].session.modified for number in set(self._group.values())}

    def of(self, number: int) -> int | None:
        """Return the session that a session's evidence counts for; None when it is not among the best."""
        return self._group.get(number)

    def is_abandoned(self, ranked: Ranked, chunk: Chunk) -> bool:
        """Tell whether a chunk of a ranked group is off the active branch of the session it stands in."""
        sources = (self.stored[scored.session].session for scored in ranked.chunks if scored.seq == chunk.seq)
        return any(s.id == chunk.session_id and chunk.segment in (s.abandoned or ()) for s in sources)

    def _parent(self, reader: IndexReader, stored: StoredSession) -> StoredSession | None:
        """Return the topmost session a subagent works for, if it is indexed."""
        session, seen = stored.session, {stored.session.id}
        parent = None
        while session.kind == "subagent" and session.parent_id and session.parent_id not in seen:
            seen.add(session.parent_id)
            found = [s for s in reader.find_sessions(session.parent_id) if s.session.id == session.parent_id]
            if not found:
                break
            parent = max(found, key=standing)
            self.stored.setdefault(parent.number, parent)
            session = parent.session
        return parent


def _hits(
    reader: IndexReader,
    query: Query,
    ranked: Iterable[Ranked],
    families: _Families,
    count: int,
    answer: Answer,
) -> list[Hit]:
    """Return the best hits; a session whose best evidence was shown already is listed as its copy."""
    hits: list[Hit] = []
    shown: dict[int, Hit] = {}
    for result in ranked:
        stored = families.stored[result.group]
        chunks = [chunk for scored in result.chunks[: ranking.BEST_CHUNKS] if (chunk := _chunk(reader, scored))]
        # The title is shown anyway, so any other passage tells more.
        best = next((chunk for chunk in chunks if chunk.source_type != "title"), chunks[0] if chunks else None)
        original = shown.get(best.origin) if best is not None and best.origin is not None else None
        if original is not None:
            original.copies.append((stored.session.id, stored.path))
            answer.total -= 1
            continue
        if len(hits) == count:
            break
        text = best.text if best is not None else "\n".join([stored.session.title or "", *stored.session.prompts])
        hit = Hit(
            stored=stored,
            score=result.score,
            snippet=snippet(text, query),
            chunk=best,
            subagent_id=best.session_id if best is not None and best.session_id != stored.session.id else None,
            is_abandoned=best is not None and families.is_abandoned(result, best),
        )
        hits.append(hit)
        shown.update((chunk.origin, hit) for chunk in chunks if chunk.origin is not None and chunk.origin not in shown)
    return hits


def _judge(reader: IndexReader, candidates: Candidates, best: Ranked, answer: Answer) -> None:
    """Tell whether the best session's best chunk has enough of the query.

    What the condition asks for, the session has, wherever it stands.
    """
    places = [(chunk.session, chunk.seq) for chunk in best.chunks[:1]]
    present = reader.matching(answer.query, places)
    met = set(positive_words(answer.query.condition))
    settled = {position for position, word in enumerate(answer.query.words) if word in met}
    answer.confidence = ranking.confidence(candidates, present[0] | settled) if present else 0.0
    answer.is_weak = answer.confidence < ranking.WEAK_BELOW


def _chunk(reader: IndexReader, scored: ScoredChunk) -> Chunk | None:
    found = reader.chunks(scored.session, scored.seq, 1)
    return found[0] if found else None


def _first_line(session: Session) -> str:
    texts: Sequence[str] = (session.title or "", *session.prompts, session.summary or "")
    return snippet(next((t for t in texts if t.strip()), ""), Query(text="")).text


def standing(stored: StoredSession) -> tuple[bool, int, int]:
    """Return a key by which the file that speaks for a session in several is the greatest: there, longest, latest."""
    return stored.missing_since is None, stored.chunk_count, stored.number


def display_name(session: Session) -> str | None:
    """Return the session's title, or its first prompt on one line when it has none."""
    return session.title or (snippet(session.prompts[0], Query(text=""), length=80).text if session.prompts else None)
