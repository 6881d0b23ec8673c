"""Search answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..types.query import Filters
from .text import (
    HINT,
    QUERY,
    QUERY_LINE,
    SCHEMA_VERSION,
    count,
    day,
    iso,
    one_line,
    page,
    place,
    printable,
    repeats,
    session_name,
    shortened,
    some_words,
    with_notes,
)

if TYPE_CHECKING:
    from ..types.answer import Answer, Hit, Snippet
    from ..types.report import IndexReport
    from .schemas.answers import AnswerJson, RequestedJson, ResultJson
    from .schemas.evidence import EvidenceJson


def answer_json(
    answer: Answer,
    refreshed: IndexReport | None = None,
    *,
    max_bytes: int | None = None,
    current: Sequence[str] = (),
) -> AnswerJson:
    """Return an answer's JSON value.

    :param max_bytes: UTF-8 bytes of its results at most, as printed; `cutToBudget` says whether any were left out.
    :param current: ids of the caller's own sessions, which were left out.
    """
    from .freshness import index_json

    results = [_hit_json(hit) for hit in answer.hits]
    more: RequestedJson = {}
    if max_bytes is not None:
        from .evidence import within_budget

        found, results = results, within_budget(results, max_bytes)
        more["cutToBudget"] = results != found
    if answer.explanation:
        from .evidence import explanation_json

        more["explain"] = explanation_json(answer.explanation, answer)
    return {
        "schemaVersion": SCHEMA_VERSION,
        "query": shortened(answer.query.text, QUERY) or "*",
        "mode": answer.mode,
        "resultCount": len(results),
        "total": answer.total,
        "totalIsLowerBound": answer.is_truncated,
        "weak": answer.is_weak,
        "confidence": None if answer.confidence is None else round(answer.confidence, 3),
        "wordsNotFound": some_words(answer.words_not_found),
        "corrections": answer.corrections,
        "showing": answer.showing,
        "after": iso(answer.filters.after) if answer.filters else None,
        "before": iso(answer.filters.before) if answer.filters else None,
        "hints": hints_of(answer, refreshed),
        "leftOut": answer.left_out,
        "widened": answer.is_widened,
        "truncated": answer.is_truncated,
        "scanned": answer.scanned,
        "chunkTotal": answer.chunk_total,
        "index": index_json(refreshed, answer.freshness),
        "currentSessions": list(current),
        **more,
        "results": results,
    }


def hints_of(answer: Answer, refreshed: IndexReport | None) -> list[str]:
    """Return the hints of an answer, with what files that are not indexed yet make uncertain."""
    hints = [shortened(hint, HINT) for hint in answer.hints]
    if not answer.words_not_found and not (refreshed and refreshed.pending):
        return hints
    from .notes import missing_hints, unread_hints

    return [*missing_hints(refreshed), *hints, *unread_hints(answer, refreshed)]


def _hit_json(hit: Hit) -> ResultJson:
    from .sessions import session_json

    chunk = hit.chunk
    evidence: EvidenceJson = {}
    if hit.window or hit.explanation or hit.passages[1:]:
        # Seldom asked for, and each module costs the hottest command a millisecond.
        from .evidence import evidence_json

        evidence = evidence_json(hit)
    return {
        **session_json(hit.stored),
        "score": round(hit.score, 3),
        "matchedSnippet": hit.snippet.text,
        "matchedType": chunk.kind if chunk else None,
        "matchedRole": chunk.role if chunk else None,
        "matchedTool": chunk.tool_name if chunk else None,
        "matchedAt": iso(chunk.timestamp) if chunk else None,
        "matchedEntryId": chunk.entry_id if chunk else None,
        "matchedPosition": chunk.seq if chunk else None,
        "matchedSubagent": hit.subagent_id,
        "onAbandonedBranch": hit.is_abandoned,
        "copies": [{"sessionId": session_id, "path": path} for session_id, path in hit.copies],
        **evidence,
    }


def answer_text(
    answer: Answer,
    *,
    abbreviate: Callable[[str], str],
    refreshed: IndexReport | None = None,
    current: Sequence[str] = (),
    has_color: bool = False,
) -> str:
    """Return an answer as text: score, place, name, date; directory; the passage that matched.

    :param abbreviate: shortens a session id as far as it stays unique.
    :param current: ids of the caller's own sessions, which were left out.
    :param has_color: mark the words that matched.
    """
    lines = [headline(answer, is_partial=bool(refreshed and refreshed.pending))]
    for hit in answer.hits:
        session = hit.session
        score = f"[{hit.score:.2f}] " if answer.mode == "search" else ""
        indent = " " * (2 + len(score))
        place = one_line(place_of(hit, abbreviate))
        lines += ["", f"  {score}{place} ({session_name(hit.stored)}) - {day(session.modified)}"]
        lines.append(indent + " · ".join(about(hit)))
        lines += [indent + line for line in _evidence(hit, has_color=has_color)]
    if answer.explanation:
        from . import evidence

        lines += ["", *evidence.explanation_lines(answer.explanation, answer)]
    from .notes import answer_notes

    notes = answer_notes(answer, refreshed, current)
    return with_notes(lines, notes)


def says_name(hit: Hit, name: str) -> bool:
    """Return whether the text of a hit is no passage, and says no more than the session's name beside it."""
    return hit.chunk is None and repeats(hit.snippet.text, name)


def place_of(hit: Hit, abbreviate: Callable[[str], str]) -> str:
    """Return what to type for a hit, as it is: `35ea950f:21`, the session and the position of the passage."""
    if hit.chunk is None:
        return abbreviate(hit.session.id)
    return f"{abbreviate(hit.chunk.session_id or hit.session.id)}:{hit.chunk.seq}"


def shown_ids(answer: Answer) -> Iterator[str]:
    """Yield the id of each session that the text of an answer names."""
    for hit in answer.hits:
        yield hit.session.id
        if hit.chunk is not None and hit.chunk.session_id:
            yield hit.chunk.session_id


def _evidence(hit: Hit, *, has_color: bool) -> list[str]:
    """Return the evidence of a hit: passages, and the requested windows and explanation."""
    first, *more = (
        f'"{_marked(snippet, has_color=has_color)}"'
        for snippet in (hit.snippet, *(passage.snippet for passage in hit.passages[1:]))
    )
    if not (hit.window or hit.explanation):
        return [first, *more]
    from . import evidence

    lines = [first, *more]
    if window := hit.window:
        lines = evidence.window_lines(window.before)
        lines += [evidence.match_mark(window) + first, *evidence.window_lines(window.after), *more]
    return [*lines, *(evidence.hit_explanation_lines(hit.explanation) if hit.explanation else [])]


def headline(answer: Answer, *, is_partial: bool = False) -> str:
    """Return the first line of an answer.

    :param is_partial: files are not indexed yet.
    """
    text = shortened(" ".join(one_line(answer.query.text).split()), QUERY_LINE)
    quote = "'" if '"' in text and "'" not in text else '"'
    text = f"{quote}{text}{quote}" if text.strip("* ") else ""
    what = f" matching {text}" if text else ""
    shown, is_search = len(answer.hits), answer.mode == "search"
    total = ("at least " if answer.is_truncated else "") + count(answer.total, "session")
    so_far = " so far" if is_partial else ""
    if not shown:
        return (
            f"No more results: {total}{what}" if answer.offset and answer.total else f"No sessions found{so_far}{what}"
        )
    if shown == answer.total:
        found = count(shown, "session")
        return f"Found {found}{what}" if is_search else f"{found}{what}" + (", latest first" if shown > 1 else "")
    query = answer.query
    if is_search and len(query.words) > 1 and query.condition is None and query.filters == Filters():
        what = f" with any word of {text}"
    first = f"{shown} best" if is_search else f"Latest {shown}"
    return page(shown, total, offset=answer.offset, first=first) + what


def about(hit: Hit) -> list[str]:
    """Return the parts of the line below a hit's name: directory, agent, and what is unusual about the hit."""
    session = hit.session
    parts = [place(session.cwd), one_line(session.agent)]
    if hit.subagent_id:
        parts.append("found in a subagent")
    if hit.chunk is not None and hit.chunk.tool_name:
        parts.append(one_line(hit.chunk.tool_name))
    if session.kind != "interactive":
        parts.append(one_line(session.kind or ""))
    if hit.is_abandoned:
        parts.append("on an abandoned branch")
    if hit.copies:
        parts.append(f"also in {count(len(hit.copies), 'copy')}")
    if hit.stored.missing_since:
        parts.append("file is gone")
    return parts


def _marked(snippet: Snippet, *, has_color: bool) -> str:
    if not has_color:
        return printable(snippet.text)
    from .screen import layout, style

    return style.marked(layout.safe(snippet))
