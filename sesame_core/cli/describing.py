"""`sesame describe`: names, descriptions, summaries and tags that a model writes about sessions."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..api.sesame import Sesame
    from ..config.model import ModelChoice
    from ..generation.describe import DescribeResult
    from ..types.index import StoredSession

#: Failures in a row after which the sessions that are left are left alone.
PATIENCE = 3


def add_to(app: typer.Typer) -> None:
    """Add this command to the application."""
    app.command()(describe)


def describe(
    session: Annotated[
        list[str] | None, typer.Argument(metavar="[SESSION]...", help="Ids, or their beginnings.")
    ] = None,
    missing: Annotated[bool, typer.Option("--missing", help="Sessions without metadata, the newest first.")] = False,
    due: Annotated[
        bool, typer.Option("--due", help="Only if that is automatic, and enough was said since the last time.")
    ] = False,
    index: Annotated[
        list[Path] | None, typer.Option("--index", metavar="PATH", help="Index this file first; repeatable.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Sessions of --missing at most.")] = 20,
    model: Annotated[
        list[str] | None, typer.Option("--model", help="Ask this model instead; repeatable, the first that answers.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Let a model write what sessions are about: name, description, summary and tags, which searches rank."""
    from ..api.sesame import Sesame
    from ..errors import QueryError
    from ..rendering.descriptions import description_text, descriptions_json, descriptions_text
    from ..rendering.text import as_json

    if bool(session) == missing:
        raise QueryError("name sessions, or say --missing")
    with Sesame() as sesame:
        if index:
            sesame.index(index)
        else:
            sesame.refresh()
        models = sesame.config.chosen_models(model)
        chosen = list(sesame.undescribed()) if missing else [sesame.get_session(name) for name in session or ()]
        remaining = max(0, len(chosen) - limit) if missing else 0
        results: list[DescribeResult] = []
        for result in _each(sesame, chosen[:limit] if missing else chosen, models, only_due=due):
            results.append(result)
            if not json:
                typer.echo(description_text(result))
    if json:
        typer.echo(as_json(descriptions_json(results, remaining)))
    elif missing:
        typer.echo(descriptions_text(results, remaining))
    if any(result.state == "failed" for result in results):
        sys.exit(1)


def _each(
    sesame: Sesame, chosen: Iterable[StoredSession], models: list[ModelChoice] | None, *, only_due: bool
) -> Iterator[DescribeResult]:
    """Describe sessions, until the models fail several times in a row."""
    failures = 0
    for stored in chosen:
        result = sesame.describe(stored, models=models, only_due=only_due)
        yield result
        failures = failures + 1 if result.state == "failed" else 0
        if failures == PATIENCE:
            return
