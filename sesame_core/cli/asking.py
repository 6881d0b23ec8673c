"""`sesame ask`: a question about one session."""

from __future__ import annotations

from typing import Annotated

import typer

from .sessions import Session


def add_to(app: typer.Typer) -> None:
    """Add this command to the application."""
    app.command()(ask)


def ask(
    session: Session,
    question: Annotated[list[str], typer.Argument(metavar="QUESTION...", help="What to ask about it.")],
    model: Annotated[
        list[str] | None, typer.Option("--model", help="Ask this model instead; repeatable, the first that answers.")
    ] = None,
    no_model: Annotated[bool, typer.Option("--no-model", help="Only show the passages.")] = False,
    max_bytes: Annotated[
        int | None, typer.Option("--max-bytes", min=256, help="Bytes of the passages at most.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Answer a question about one session, from the index: with a model if one is set up, else with its passages."""
    from ..api.sesame import Sesame
    from ..errors import QueryError
    from ..rendering.session_answers import session_answer_json, session_answer_text
    from ..rendering.text import as_json

    if model and no_model:
        raise QueryError("--model and --no-model exclude each other")
    with Sesame() as sesame:
        models = [] if no_model else sesame.config.chosen_models(model)
        asked = sesame.ask(session, " ".join(question), models=models, max_bytes=max_bytes)
    typer.echo(as_json(session_answer_json(asked)) if json else session_answer_text(asked))
