"""The answer to a search on a screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...text.snippets import snippet
from ...types.answer import Snippet
from ..answers import about, headline, place_of, says_name
from ..notes import answer_notes
from ..text import project, session_name
from .entries import Entry, framed
from .prose import texts
from .style import DIM, Screen

if TYPE_CHECKING:
    from ...types.answer import Answer, Hit
    from ...types.report import IndexReport


def answer_screen(
    answer: Answer,
    screen: Screen,
    *,
    abbreviate: Callable[[str], str],
    refreshed: IndexReport | None = None,
    current: Sequence[str] = (),
) -> str:
    """Return an answer as it fits a screen: the best hits with more of their passages than the last ones.

    :param abbreviate: shortens a session id as far as it stays unique.
    :param current: ids of the caller's own sessions, which were left out.
    """
    top = texts([headline(answer, is_partial=bool(refreshed and refreshed.pending))], screen)
    notes = answer_notes(answer, refreshed, current)
    end = answer.offset + len(answer.hits)
    if answer.hits and end < answer.total:
        notes.append(f"The next ones: --offset {end}")
    below = texts(notes, screen, style=DIM)
    if answer.explanation:
        from ..evidence import explanation_lines

        below = [*texts(explanation_lines(answer.explanation, answer), screen), *below]
    return framed(top, [_entry(hit, answer, abbreviate) for hit in answer.hits], below, screen)


def _entry(hit: Hit, answer: Answer, abbreviate: Callable[[str], str]) -> Entry:
    name = session_name(hit.stored)
    return Entry(
        place=place_of(hit, abbreviate),
        title=snippet(name, answer.query, length=len(name)),
        project=project(hit.session.cwd),
        modified=hit.session.modified,
        about=" · ".join(about(hit)),
        passage=None if hit.window or says_name(hit, name) else hit.snippet,
        asked=_asked(hit),
    )


def _asked(hit: Hit) -> list[Snippet]:
    """Return the lines about a hit that were asked for."""
    more = [passage.snippet for passage in hit.passages[1:]]
    if not (hit.window or hit.explanation):
        return more
    from .. import evidence

    if window := hit.window:
        mark = evidence.match_mark(window)
        match = Snippet(mark + hit.snippet.text, tuple((s + len(mark), e + len(mark)) for s, e in hit.snippet.marks))
        before, after = (map(Snippet, evidence.window_lines(items)) for items in (window.before, window.after))
        more = [*before, match, *after, *more]
    return [*more, *(map(Snippet, evidence.hit_explanation_lines(hit.explanation)) if hit.explanation else ())]
