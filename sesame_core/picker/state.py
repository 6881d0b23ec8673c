"""What the picker shows: the typed line, the answer to it, the selected session and its preview."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..rendering.text import one_line
from ..text.cells import steady
from .line import Line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..types.answer import Answer, Hit
    from .completion import Completion
    from .finder import Found, Loaded
    from .preview import Preview

#: Sessions of an answer at first, and by which it grows when the last one is selected.
PAGE = 30


class State:
    """The state of one picker; `drawing` makes a screen of it."""

    def __init__(self, query: str = "") -> None:
        self.line = Line(query)
        #: The latest answer, to an earlier text while the next one is awaited; its notes; the error in place of one.
        self.answer: Answer | None = None
        self.notes: Sequence[str] = ()
        self.error: str | None = None
        #: Sessions that the answer may have.
        self.limit = PAGE
        self.selected = 0
        #: The rows of the list as they were drawn last, by the number of the session, and what each was made of.
        self.listed: dict[int, tuple[tuple[object, ...], str]] = {}
        #: The first session that is shown.
        self.top = 0
        self.loaded: Loaded | None = None
        #: Rows by which the preview is scrolled from the passage.
        self.scrolled = 0
        self.is_unfolded = False
        #: The preview as it was drawn last, and what it was made of.
        self.made: tuple[tuple[object, ...], Preview] | None = None
        #: What an action has said, until the next key, and whether it is an error.
        self.message, self.is_failure = "", False
        self.completion: Completion | None = None
        #: The first row of the help that is shown; None while it is hidden.
        self.help: int | None = None
        self.is_indexing = False
        #: The text that `answer` answers; None before the first answer.
        self.answered: str | None = None

    @property
    def hits(self) -> Sequence[Hit]:
        """The sessions of the list."""
        return self.answer.hits if self.answer else ()

    @property
    def hit(self) -> Hit | None:
        """The selected session."""
        return self.hits[self.selected] if self.selected < len(self.hits) else None

    def take(self, found: Found) -> None:
        """Show an answer.  If it is to the same text, the same session stays selected, wherever it is now."""
        is_same = found.text == self.answered
        before, place = self.hit, self.selected - self.top
        self.loaded = found.loaded or self.loaded
        self.listed.clear()
        self.answer, self.answered = found.answer, found.text
        self.notes = [steady(one_line(note)) for note in found.notes]
        self.error = None if found.error is None else steady(one_line(found.error))
        if not is_same or before is None:
            self.select(0)
            self.top = 0
            return
        key = before.session.key
        kept = next((at for at, hit in enumerate(self.hits) if hit.session.key == key), None)
        self.selected = min(self.selected, max(len(self.hits) - 1, 0)) if kept is None else kept
        self.top = max(0, self.selected - place)

    def select(self, number: int) -> None:
        """Select a session of the list, the first or the last if there is none with this number."""
        number = max(0, min(number, len(self.hits) - 1))
        if number != self.selected:
            self.scrolled = 0
        self.selected = number

    def say(self, message: str, *, is_failure: bool = False) -> None:
        """Show a message until the next key, without what controls a terminal."""
        self.message, self.is_failure = steady(one_line(message)), is_failure
