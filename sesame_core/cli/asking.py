"""`sesame ask`: a question about one session."""

from __future__ import annotations

from collections.abc import Sequence

from .options import JSON, MODEL, SESSION, Argument, Command, Option
from .terminal import opened, write, write_report


def ask(
    session: str, question: Sequence[str], *, model: Sequence[str], no_model: bool, max_bytes: int | None, json: bool
) -> None:
    """Print the answer of one session to a question.

    :param model: names of models to ask in this order; the configured ones when empty.
    :raises QueryError: `model` and `no_model` are both given.
    """
    from ..errors import QueryError
    from ..rendering.session_answers import session_answer_json, session_answer_text
    from ..rendering.text import as_json

    if model and no_model:
        raise QueryError("--model and --no-model exclude each other")
    with opened() as sesame:
        models = [] if no_model else sesame.config.chosen_models(model)
        asked = sesame.ask(session, " ".join(question), models=models, max_bytes=max_bytes)
    if json:
        write(as_json(session_answer_json(asked)))
    else:
        write_report(session_answer_text(asked))


COMMANDS = (
    Command(
        "ask",
        ask,
        "Answer a question about one session, from the index: with a model if one is set up, else with its passages.",
        (
            SESSION,
            Argument("question", "QUESTION...", "The question about it.", is_required=True, is_repeatable=True),
        ),
        (
            MODEL,
            Option("no_model", bool, "Only show the passages.", default=False),
            Option("max_bytes", int, "Bytes of the passages at most.", least=256),
            JSON,
        ),
        examples=("sesame ask 01a0b03d 'why did the build fail?'",),
    ),
)
