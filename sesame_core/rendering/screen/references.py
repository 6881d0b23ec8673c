"""References to sessions on a screen: the outline of the session that is meant, or a list of those that may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..notes import about_refresh
from ..references import candidates_headline, unknown_line
from .entries import framed
from .prose import fitted_lines, texts
from .sessions import session_entry
from .style import DIM, Screen

if TYPE_CHECKING:
    from ...search.resolve import Candidate, Reference
    from ...types.report import IndexReport


def references_screen(
    found: Sequence[Reference],
    outlines: Mapping[int, str],
    screen: Screen,
    refreshed: IndexReport | None = None,
    *,
    offset: int = 0,
) -> str:
    """Return references as they fit a screen.  The parameters are those of `references_text`."""
    notes = texts(about_refresh(refreshed), screen, style=DIM)
    parts = []
    for reference in found:
        if reference.stored:
            parts.append(fitted_lines(outlines[reference.stored.number], screen.width))
            continue
        listed: Sequence[Candidate] = reference.candidates or reference.nearest
        head = candidates_headline(reference) if reference.candidates else unknown_line(reference, refreshed)
        below = []
        end = offset + len(reference.candidates)
        if reference.candidates and end < reference.total:
            below = texts([f"The next ones: --offset {end}"], screen, style=DIM)
        entries = [session_entry(candidate.stored, candidate.reference) for candidate in listed]
        parts.append(framed(texts([head], screen), entries, below, screen))
    return "\n\n".join([*parts, *(["\n".join(notes)] if notes else [])])
