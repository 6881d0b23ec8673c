"""`sesame describe`: names, descriptions, summaries and tags that a model writes about sessions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .options import JSON, MODEL, Argument, Command, Option, limited
from .terminal import write, write_report

if TYPE_CHECKING:
    from ..api.sesame import Sesame
    from ..config.model import ModelChoice
    from ..generation.describe import DescribeResult
    from ..types.index import StoredSession

#: Consecutive failures after which the remaining sessions are skipped.
PATIENCE = 3


def describe(
    session: Sequence[str],
    *,
    missing: bool,
    due: bool,
    index: Sequence[Path],
    limit: int,
    model: Sequence[str],
    json: bool,
) -> None:
    """Let a model describe sessions, and print the descriptions; exit with 1 when one failed.

    :param index: files to index first.
    :param limit: most sessions of `missing`.
    :param model: names of models to ask in this order; the configured ones when empty.
    :raises QueryError: neither sessions nor `missing` are given, or both.
    """
    from ..api.sesame import Sesame
    from ..errors import QueryError
    from ..rendering.descriptions import description_text, descriptions_json, descriptions_text
    from ..rendering.text import as_json

    if bool(session) == missing:
        raise QueryError("name sessions, or use --missing")
    with Sesame() as sesame:
        if index:
            sesame.index(index)
        else:
            sesame.refresh()
        models = sesame.config.chosen_models(model)
        chosen = list(sesame.undescribed()) if missing else [sesame.get_session(name) for name in session]
        remaining = max(0, len(chosen) - limit) if missing else 0
        results: list[DescribeResult] = []
        for result in _each(sesame, chosen[:limit] if missing else chosen, models, only_due=due):
            results.append(result)
            if not json:
                write_report(description_text(result))
    if json:
        write(as_json(descriptions_json(results, remaining)))
    elif missing:
        write_report(descriptions_text(results, remaining))
    if any(result.state == "failed" for result in results):
        raise SystemExit(1)


def _each(
    sesame: Sesame, chosen: Iterable[StoredSession], models: list[ModelChoice] | None, *, only_due: bool
) -> Iterator[DescribeResult]:
    """Describe sessions, until the models fail several times in succession."""
    failures = 0
    for stored in chosen:
        result = sesame.describe(stored, models=models, only_due=only_due)
        yield result
        failures = failures + 1 if result.state == "failed" else 0
        if failures == PATIENCE:
            return


COMMANDS = (
    Command(
        "describe",
        describe,
        "Let a model describe sessions: name, description, summary and tags, which searches rank.",
        (Argument("session", "[SESSION]...", "Ids or prefixes of them, or names.", is_repeatable=True),),
        (
            Option("missing", bool, "Sessions without metadata, the newest first.", default=False),
            Option("due", bool, "Only if describing is automatic and there are enough new prompts.", default=False),
            Option("index", Path, "Index this file first; repeatable.", is_repeatable=True, metavar="PATH"),
            limited("Sessions of --missing at most.", 20),
            MODEL,
            JSON,
        ),
        examples=("sesame describe --missing -n 20",),
    ),
)
