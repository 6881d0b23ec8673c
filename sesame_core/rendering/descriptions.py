"""Results of `sesame describe`, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .session_answers import attempt_json, effort_text
from .text import SCHEMA_VERSION, printable, session_name

if TYPE_CHECKING:
    from ..generation.describe import DescribeResult
    from .schemas.generation import DescriptionJson, DescriptionsJson


def descriptions_json(results: Sequence[DescribeResult], remaining: int = 0) -> DescriptionsJson:
    """Return the JSON value of a run over some sessions.

    :param remaining: sessions without metadata that were left for another run.
    """
    return {
        "schemaVersion": SCHEMA_VERSION,
        "described": _count(results, "described"),
        "failed": _count(results, "failed"),
        "remaining": remaining,
        "cost": _cost(results),
        "sessions": [_description_json(result) for result in results],
    }


def _description_json(result: DescribeResult) -> DescriptionJson:
    written = result.metadata
    return {
        "sessionId": result.stored.session.id,
        "state": result.state,
        "reason": result.reason,
        "file": str(result.path) if result.path else None,
        "name": written.name if written else None,
        "description": written.description if written else None,
        "summary": written.summary if written else None,
        "tags": list(written.tags) if written else [],
        "model": written.model if written else None,
        "updatedAt": written.updated_at if written else None,
        "cost": result.cost,
        "attempts": [attempt_json(attempt) for attempt in result.attempts],
    }


def description_text(result: DescribeResult) -> str:
    """Return the result for one session as text: one line, and a second one with its cost."""
    written = result.metadata
    name = printable(written.name) if written and result.state == "described" else session_name(result.stored)
    line = f"{result.state}: {printable(result.stored.session.id)} ({name})"
    if result.reason:
        line += f": {printable(result.reason)}"
    if not result.attempts:
        return line
    model = written.model if written and result.state == "described" else None
    return f"{line}\n  {effort_text(model, result.attempts, result.cost)}"


def descriptions_text(results: Sequence[DescribeResult], remaining: int) -> str:
    """Return the totals of a run as text, on one line."""
    counts = f"{_count(results, 'described')} described, {_count(results, 'failed')} failed"
    cost = _cost(results)
    return f"{counts}, {remaining} left" + ("" if cost is None else f", ${cost:.6f}")


def _count(results: Sequence[DescribeResult], state: str) -> int:
    return sum(result.state == state for result in results)


def _cost(results: Sequence[DescribeResult]) -> float | None:
    from ..generation.models import Reply

    return Reply(value=None, attempts=tuple(attempt for result in results for attempt in result.attempts)).cost
