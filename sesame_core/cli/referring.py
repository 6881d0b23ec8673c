"""`sesame resolve`: which sessions are meant."""

from __future__ import annotations

from typing import Annotated

import typer


def add_to(app: typer.Typer) -> None:
    """Add this command to the application."""
    app.command()(resolve)


def resolve(
    reference: Annotated[
        list[str] | None, typer.Argument(metavar="[REFERENCE]...", help="An id, a name, or some words of a name.")
    ] = None,
    exclude: Annotated[list[str] | None, typer.Option("--exclude", help="Not this session; repeatable.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="Candidates at most.")] = 10,
    max_bytes: Annotated[
        int, typer.Option("--max-bytes", min=256, help="Bytes that are told of all sessions together.")
    ] = 8192,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Tell which session a reference means, and what it is about; without one, what the latest are called."""
    from ..api.sesame import Sesame
    from ..integration.environment import current_sessions
    from ..rendering import references
    from ..rendering.text import as_json

    with Sesame() as sesame:
        refreshed = sesame.refresh()
        found = sesame.resolve(reference or [""], exclude=[*(exclude or ()), *current_sessions()], limit=limit)
        meant = {found.stored.number: found.stored for found in found if found.stored}
        texts = {
            number: references.session_outline(
                stored, sesame.ask(stored, "", models=()).found, max_bytes=max_bytes // len(meant)
            )
            for number, stored in meant.items()
        }
    if json:
        typer.echo(as_json(references.references_json(found, texts, refreshed)))
    else:
        typer.echo(references.references_text(found, texts))
