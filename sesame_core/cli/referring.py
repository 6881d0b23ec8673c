"""`sesame resolve`: the sessions that references mean."""

from __future__ import annotations

from collections.abc import Sequence

from .options import JSON, Argument, Command, Option, limited, skipping
from .terminal import opened, screen_of, write


def resolve(
    reference: Sequence[str], *, exclude: Sequence[str], limit: int, offset: int, max_bytes: int, json: bool
) -> None:
    """Print the session that each reference means, and its outline; without a reference, the names of the latest.

    :param max_bytes: most bytes of all outlines together.
    """
    from ..rendering import references
    from ..rendering.text import as_json

    with opened() as sesame:
        refreshed, current = sesame.refresh(), sesame.current_sessions()
        found = sesame.resolve(reference or [""], exclude=[*exclude, *current], limit=limit, offset=offset)
        meant = {found.stored.number: found.stored for found in found if found.stored}
        texts = {
            number: references.session_outline(
                stored, sesame.ask(stored, "", models=()).found, max_bytes=max_bytes // len(meant)
            )
            for number, stored in meant.items()
        }
    if json:
        write(as_json(references.references_json(found, texts, refreshed)))
    elif screen := screen_of():
        from ..rendering.screen.references import references_screen
        from .paging import page

        page([references_screen(found, texts, screen, refreshed, offset=offset)], screen)
    else:
        write(references.references_text(found, texts, refreshed, offset=offset))


COMMANDS = (
    Command(
        "resolve",
        resolve,
        "Print the session that a reference means, and its outline; without a reference, the names of the latest.",
        (Argument("reference", "[REFERENCE]...", "An id, a name, or some words of a name.", is_repeatable=True),),
        (
            Option("exclude", str, "Leave out this session; repeatable.", is_repeatable=True, metavar="ID"),
            limited("Candidates at most.", 10, most=1000),
            skipping("Candidates to skip."),
            Option("max_bytes", int, "Bytes of all outlines together at most.", default=8192, least=256),
            JSON,
        ),
        examples=(
            "sesame resolve nix flake",
            "sesame resolve",
        ),
    ),
)
