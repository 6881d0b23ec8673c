"""Search answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from .text import SCHEMA_VERSION, day, home, iso, printable, session_name

if TYPE_CHECKING:
    from ..types.answer import Answer, Hit, Snippet
    from ..types.index import Freshness
    from ..types.report import IndexReport
    from .schemas.answers import AnswerJson, FreshnessJson, IndexJson, RefreshJson, RequestedJson, ResultJson
    from .schemas.evidence import EvidenceJson


_BOLD, _PLAIN = "\x1b[1;33m", "\x1b[0m"


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
        "query": answer.query.text or "*",
        "mode": answer.mode,
        "resultCount": len(results),
        "total": answer.total,
        "totalIsLowerBound": answer.is_truncated,
        "weak": answer.is_weak,
        "confidence": None if answer.confidence is None else round(answer.confidence, 3),
        "wordsNotFound": answer.words_not_found,
        "corrections": answer.corrections,
        "hints": list(answer.hints),
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


def index_json(refreshed: IndexReport | None, freshness: Freshness | None = None) -> IndexJson:
    """Return the JSON value of how fresh the index is."""
    known: FreshnessJson = {}
    if freshness:
        known = {"lastSync": iso(freshness.last_sync), "unreadable": freshness.unreadable}
    return {**_refresh_json(refreshed), **known}


def _refresh_json(refreshed: IndexReport | None) -> RefreshJson:
    if refreshed is None:
        return {"refreshed": False}
    return {
        "refreshed": refreshed.reason is None,
        "reason": refreshed.reason,
        "changed": refreshed.changed,
        "pending": refreshed.pending,
        "errors": len(refreshed.errors),
        "notScanned": refreshed.not_scanned,
        "scannedAt": iso(refreshed.scanned_at),
        "sources": [
            {"path": source.path, "parser": source.parser, "changed": source.changed, "pending": source.pending}
            for source in refreshed.sources
        ],
    }


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
    is_terminal: bool = False,
) -> str:
    """Return an answer as text: score, short id, name, date; directory; the passage that matched.

    :param abbreviate: shortens a session id as far as it stays unique.
    :param current: ids of the caller's own sessions, which were left out.
    :param is_terminal: mark the words that matched.
    """
    lines = [_headline(answer)]
    for hit in answer.hits:
        session = hit.session
        score = f"[{hit.score:.2f}] " if answer.mode == "search" else ""
        indent = " " * (2 + len(score))
        short = printable(abbreviate(session.id))
        lines += ["", f"  {score}{short} ({session_name(hit.stored)}) - {day(session.modified)}"]
        lines.append(indent + " · ".join(_about(hit)))
        lines += [indent + line for line in _evidence(hit, is_terminal=is_terminal)]
    if answer.explanation:
        from . import evidence

        lines += ["", *evidence.explanation_lines(answer.explanation, answer)]
    notes = [*_notes(answer), *_current_notes(current), *_refresh_notes(refreshed)]
    return "\n".join([*lines, *([""] if notes else []), *notes])


def _evidence(hit: Hit, *, is_terminal: bool) -> list[str]:
    """Return the evidence of a hit: passages, and the requested windows and explanation."""
    first, *more = (
        f'"{_marked(snippet, is_terminal=is_terminal)}"'
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


def _headline(answer: Answer) -> str:
    text = printable(answer.query.text).strip()
    is_found = text.strip("* ") != ""
    what = f' matching "{text}"' if is_found else ""
    count = len(answer.hits)
    if not count:
        return f"No sessions found{what}"
    least = "at least " if answer.is_truncated else ""
    of = f" of {least}{answer.total}" if answer.total > count else ""
    plural = "" if count == 1 and not of else "s"
    return f"Found {count}{of} session{plural}{what}" if is_found else f"{count}{of} latest session{plural}"


def _about(hit: Hit) -> list[str]:
    """Return the parts of the line below a hit's name: directory, agent, and what is unusual about the hit."""
    session = hit.session
    about = [home(printable(session.cwd)) if session.cwd else "(no directory)", session.agent]
    if hit.subagent_id:
        about.append("found in a subagent")
    if hit.chunk is not None and hit.chunk.tool_name:
        about.append(printable(hit.chunk.tool_name))
    if session.kind != "interactive":
        about.append(session.kind or "")
    if hit.is_abandoned:
        about.append("on an abandoned branch")
    if hit.copies:
        about.append(f"also in {len(hit.copies)} cop{'y' if len(hit.copies) == 1 else 'ies'}")
    if hit.stored.missing_since:
        about.append("file is gone")
    return about


def _notes(answer: Answer) -> list[str]:
    notes = [f"Note: {printable(hint)}" for hint in answer.hints]
    if answer.is_weak and answer.hits:
        notes.append("Weak match: no passage of the best session has most of these words.")
    if answer.words_not_found:
        words = ", ".join(printable(word) for word in answer.words_not_found)
        notes.append(f"Not found as a word: {words}")
    for word, others in answer.corrections.items():
        notes.append(f"Also searched for: {printable(', '.join(others))} (for {printable(word)})")
    if answer.is_widened:
        notes.append("Nothing else matched, so headless runs are shown.")
    elif answer.left_out:
        left_out = ", ".join(f"{count} {reason}" for reason, count in answer.left_out.items())
        least = "at least " if answer.is_truncated else ""
        notes.append(f"Left out: {least}{left_out} (show them with --all-kinds)")
    return notes


def _current_notes(current: Sequence[str]) -> list[str]:
    if not current:
        return []
    ids = ", ".join(printable(session) for session in current)
    return [f"Not searched: the session this was started from, {ids} (search it with --include-current)"]


def _refresh_notes(refreshed: IndexReport | None) -> list[str]:
    if refreshed is None:
        return []
    if refreshed.reason:
        return [f"The index was not refreshed: {refreshed.reason}"]
    notes = []
    if refreshed.pending:
        notes.append(f"{refreshed.pending} changed files are not indexed yet; catch up with: sesame index")
    if refreshed.errors:
        notes.append(f"{len(refreshed.errors)} files could not be read; see: sesame index")
    if refreshed.scanned_at:
        ago = f"{datetime.now(UTC) - refreshed.scanned_at}".partition(".")[0]
        notes.append(f"{refreshed.not_scanned} older session files were last scanned {ago} ago")
    return notes


def _marked(snippet: Snippet, *, is_terminal: bool) -> str:
    if not is_terminal:
        return printable(snippet.text)
    out, position = "", 0
    for start, end in snippet.marks:
        out += printable(snippet.text[position:start]) + _BOLD + printable(snippet.text[start:end]) + _PLAIN
        position = end
    return out + printable(snippet.text[position:])
