"""Answers to questions about one session, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..text.folding import spaced
from ..text.readable import readable
from .sessions import session_json
from .text import QUERY, SCHEMA_VERSION, count, day, iso, printable, session_name, shortened, some_words

if TYPE_CHECKING:
    from ..generation.answer import SessionAnswer
    from ..generation.models import Attempt
    from ..search.passages import Excerpt, ExcerptItem
    from .schemas.generation import AttemptJson, ExcerptItemJson, ExcerptJson, SessionAnswerJson


def session_answer_json(asked: SessionAnswer) -> SessionAnswerJson:
    """Return the JSON value of an answer about a session."""
    found = asked.found
    return {
        "schemaVersion": SCHEMA_VERSION,
        "session": session_json(asked.stored),
        "question": shortened(asked.question, QUERY),
        "answer": asked.answer,
        "answered": asked.is_found,
        "citations": [{"position": c.position, "entryId": c.entry_id} for c in asked.citations],
        "model": asked.model,
        "attempts": [attempt_json(attempt) for attempt in asked.attempts],
        "cost": asked.cost,
        "reason": asked.reason,
        "basis": found.basis,
        "wordsNotFound": some_words(found.words_not_found),
        "matches": found.matches,
        "chunksRead": found.chunks,
        "passages": [_passage_json(passage) for passage in found.passages],
    }


def attempt_json(attempt: Attempt) -> AttemptJson:
    """Return the JSON value of one call of a model."""
    return {
        "model": attempt.model,
        "error": attempt.error,
        "seconds": round(attempt.seconds, 3),
        "inputTokens": attempt.input_tokens,
        "outputTokens": attempt.output_tokens,
        "cost": attempt.cost,
    }


def _passage_json(passage: Excerpt) -> ExcerptJson:
    return {
        "score": round(passage.score, 3),
        **_item_json(passage.match),
        "contextBefore": [_item_json(item) for item in passage.before],
        "contextAfter": [_item_json(item) for item in passage.after],
    }


def _item_json(item: ExcerptItem) -> ExcerptItemJson:
    chunk = item.chunk
    return {
        "position": chunk.seq,
        "entryId": chunk.entry_id,
        "type": chunk.kind,
        "role": chunk.role,
        "tool": chunk.tool_name,
        "at": iso(chunk.timestamp),
        "text": item.text,
        "truncated": item.is_truncated,
    }


def session_answer_text(asked: SessionAnswer) -> str:
    """Return an answer about a session as text: the model's, or the passages."""
    session, found = asked.stored.session, asked.found
    lines = [f"{printable(session.id)} ({session_name(asked.stored)}) - {day(session.modified)}"]
    if asked.answer is not None:
        lines += ["", printable(asked.answer), ""]
        lines += [f"  #{c.position} ({printable(c.entry_id or 'no id')})" for c in asked.citations]
        lines.append(f"  {effort_text(asked.model, asked.attempts, asked.cost)}")
        return "\n".join(lines)
    lines.append(f"  No model answered; these are passages of the session: {printable(asked.reason or '')}")
    if found.basis == "outline":
        lines.append("  No passage has a word of the question; this is how the session begins and ends.")
    for passage in found.passages:
        lines.append("")
        for item in passage.items:
            chunk = item.chunk
            arrow = "→" if item is passage.match else " "
            speaker = " ".join(filter(None, (chunk.role or chunk.kind, chunk.tool_name)))
            text = spaced(readable(item.text, chunk.kind)) + ("…" if item.is_truncated else "")
            lines.append(f"{arrow}#{chunk.seq} {printable(speaker)}: {text}")
    if found.words_not_found:
        lines += ["", f"Not in this session: {', '.join(map(printable, some_words(found.words_not_found)))}"]
    return "\n".join(lines)


def effort_text(model: str | None, attempts: Sequence[Attempt], cost: float | None) -> str:
    """Return the cost of a model's answer: model, attempts, tokens where the model reports them, dollars."""
    tokens = [(a.input_tokens or 0, a.output_tokens or 0) for a in attempts if a.input_tokens is not None]
    parts = [f"by {printable(model)}"] if model else []
    parts += [count(len(attempts), "attempt")] if len(attempts) > 1 else []
    if tokens:
        parts.append(f"{sum(given for given, _ in tokens)} tokens in, {sum(made for _, made in tokens)} out")
    parts.append("cost not known" if cost is None else f"${cost:.6f}")
    return ", ".join(parts)
