"""The loop of the picker: events in, answers in, one screen out."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from .behind import Behind
from .drawing import screen as screen_of
from .finder import Finder
from .handling import Handler
from .keys import ESCAPE_SECONDS, Decoder
from .layout import layout
from .screen import Screen
from .spans import has_colour
from .state import PAGE, State

if TYPE_CHECKING:
    from ..types.resumption import Resumption

#: Seconds between two searches while files are indexed: a run commits every second or two.
AGAIN_SECONDS = 1.5


def pick(query: str = "", *, is_printing: bool = False) -> Resumption | None:
    """Let a person choose a session on the terminal; return how it is resumed, or None when nothing was chosen.

    :param query: the text that is typed at first.
    :param is_printing: the command is only printed, so its program need not be installed.
    :raises SesameError: there is no terminal, or the configuration is not valid.
    """
    with Screen() as screen:
        finder, behind = Finder(screen.wake), Behind(screen.wake)
        try:
            return Picker(screen, finder, behind, State(query), is_printing=is_printing).run()
        finally:
            behind.stop()
            finder.close()


class Picker:
    """One picker on a screen."""

    def __init__(self, screen: Screen, finder: Finder, behind: Behind, state: State, *, is_printing: bool) -> None:
        self._screen = screen
        self._finder = finder
        self._behind = behind
        self._state = state
        self._handler = Handler(state, screen, finder, is_printing=is_printing)
        self._colour = has_colour(os.environ)
        #: What was asked last: a text with a number of sessions, when, and the hit whose preview was requested.
        self._asked: tuple[str, int] | None = None
        self._asked_at = 0.0
        self._previewed: object = None

    def run(self) -> Resumption | None:
        """Show the picker until a session is chosen, or it is quit."""
        decoder = Decoder()
        self._finder.start()
        self._ask()
        self._draw()
        while not self._handler.is_done:
            waits = ESCAPE_SECONDS if decoder.is_waiting else AGAIN_SECONDS if self._behind.is_running else None
            data = self._screen.read(waits)
            if data is None:
                return None
            is_late = not data and decoder.is_waiting
            for event in decoder.flush() if is_late else decoder.feed(data):
                self._handler.handle(event)
                if self._handler.is_done:
                    return self._handler.chosen
            self._take()
            self._handler.catch_up()
            self._ask()
            self._draw()
        return self._handler.chosen

    def _draw(self) -> None:
        columns, rows = self._screen.size
        self._screen.draw(*screen_of(self._state, layout(columns, rows), colour=self._colour))

    def _ask(self) -> None:
        """Request the answer to what is typed, and the preview of what is selected, unless it was requested."""
        state, now = self._state, time.monotonic()
        if self._asked is not None and self._asked[0] != state.line.text:
            state.limit = PAGE
        is_due = self._behind.is_running and now - self._asked_at >= AGAIN_SECONDS
        if is_due or self._asked != (state.line.text, state.limit):
            self._asked, self._asked_at = (state.line.text, state.limit), now
            self._finder.search(*self._asked)
        if state.hit is not None and state.hit is not self._previewed:
            self._previewed = state.hit
            self._finder.load(state.hit)

    def _take(self) -> None:
        """Show what was found, and what the run behind has reported; start it after the first answer."""
        state, finder = self._state, self._finder
        found, loaded = finder.take()
        if finder.failure is not None:
            raise finder.failure
        if loaded is not None and loaded.hit is self._previewed:
            state.loaded = loaded
        if found is not None:
            is_first = state.answered is None
            state.take(found)
            if found.loaded is not None:
                self._previewed = found.loaded.hit
            if is_first and finder.sesame is not None and finder.sesame.config.refresh_seconds > 0:
                self._behind.start()
        if self._behind.report is not None and finder.report is None:
            finder.report = self._behind.report
            self._asked = None
        state.is_indexing = self._behind.is_running
