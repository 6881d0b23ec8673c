"""What each key and the mouse do to the state of a picker."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ..errors import SesameError
from .actions import Actions
from .bindings import ACTIONS
from .layout import layout
from .state import PAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..types.resumption import Resumption
    from .finder import Finder
    from .keys import Event
    from .screen import Screen
    from .state import State

#: Seconds within which a second click on a session resumes it.
DOUBLE_SECONDS = 0.4
#: Rows of the preview that a key, or the wheel, scrolls.
SCROLLED = 3
#: Actions, and events of the mouse, that are about the list.
ABOUT_LIST = frozenset("resume copy show edit star up down page-up page-down click wheel-up wheel-down".split())
_MOVES = ("left", "right", "word-left", "word-right", "start", "end")
_DELETES = {f"delete-{where}": where for where in _MOVES}


class Handler:
    """Applies events to a state; an action is a method of its name.

    :param is_printing: the command is only printed, so its program need not be installed.
    """

    def __init__(self, state: State, screen: Screen, finder: Finder, *, is_printing: bool) -> None:
        self._state = state
        self._screen = screen
        self._finder = finder
        self._is_printing = is_printing
        self._actions = Actions(state, screen, finder, is_printing=is_printing)
        #: How the chosen session is resumed.
        self.chosen: Resumption | None = None
        self.is_done = False
        #: The last click: when, and on which session.
        self._clicked: tuple[float, int] = (0.0, -1)
        #: What was pressed for the list of the typed text, before that came.
        self._early: list[Event] = []

    def handle(self, event: Event) -> None:
        """Do what an event means; what is about the list waits until that answers the typed text."""
        state = self._state
        action = ACTIONS.get(event.name, "")
        state.say("")
        if action not in ("complete", "complete-back"):
            state.completion = None
        if state.help is not None and self._in_help(action, event.name):
            return
        if action in ABOUT_LIST or event.name in ABOUT_LIST:
            self._early.append(event)
            self.catch_up()
            return
        text = state.line.text
        self._apply(event, action)
        if state.line.text != text:
            self._early.clear()

    def catch_up(self) -> None:
        """Do what has waited for the list, if that has come."""
        while self._early and self._state.answered == self._state.line.text and not self.is_done:
            event = self._early.pop(0)
            self._apply(event, ACTIONS.get(event.name, ""))

    def _apply(self, event: Event, action: str) -> None:
        state = self._state
        if event.name == "text":
            state.line.insert(event.text)
        elif event.name in ("click", "wheel-up", "wheel-down"):
            self._mouse(event)
        elif action in _MOVES:
            state.line.move(action)
        elif event.name == "ctrl-d" and not state.line.text:
            self.is_done = True
        elif action in _DELETES:
            state.line.delete(_DELETES[action])
        elif action:
            try:
                getattr(self, "_" + action.replace("-", "_"))()
            except SesameError as error:
                state.say(str(error), is_failure=True)

    def _in_help(self, action: str, name: str) -> bool:
        """Scroll the help, or hide it; return whether that is all that the event does."""
        state = self._state
        page = max(self._screen.size[1] - 4, 1)
        scrolls = {
            "up": -1,
            "down": 1,
            "page-up": -page,
            "page-down": page,
            "wheel-up": -SCROLLED,
            "wheel-down": SCROLLED,
        }
        scrolls |= {"preview-up": -SCROLLED, "preview-down": SCROLLED}
        if by := scrolls.get(action) or scrolls.get(name):
            state.help = max(0, (state.help or 0) + by)
            return True
        state.help = None
        return action in ("help", "quit") and name != "ctrl-c"

    # -- what is selected and seen ------------------------------------------------------------------------

    def _mouse(self, event: Event) -> None:
        state, of = self._state, layout(*self._screen.size)
        by = {"wheel-up": -1, "wheel-down": 1}.get(event.name, 0)
        if of.preview is not None and of.preview.has(event.row, event.column):
            state.scrolled += by * SCROLLED
        elif by:
            self._move(by)
        elif of.list.has(event.row, event.column) and (number := state.top + event.row - of.list.top) < len(state.hits):
            now, (at, before) = time.monotonic(), self._clicked
            self._clicked = now, number
            state.select(number)
            if number == before and now - at < DOUBLE_SECONDS:
                self._resume()

    def _move(self, by: int) -> None:
        state = self._state
        state.select(state.selected + by)
        is_last = state.answer is not None and state.selected == len(state.hits) - 1 < state.answer.total - 1
        if by > 0 and is_last and state.limit == len(state.hits):
            state.limit += PAGE

    def _up(self) -> None:
        self._move(-1)

    def _down(self) -> None:
        self._move(1)

    def _page_up(self) -> None:
        self._move(-max(layout(*self._screen.size).list.height - 1, 1))

    def _page_down(self) -> None:
        self._move(max(layout(*self._screen.size).list.height - 1, 1))

    def _preview_up(self) -> None:
        self._state.scrolled -= SCROLLED

    def _preview_down(self) -> None:
        self._state.scrolled += SCROLLED

    def _unfold(self) -> None:
        self._state.is_unfolded = not self._state.is_unfolded

    def _help(self) -> None:
        self._state.help = 0

    def _redraw(self) -> None:
        self._screen.redraw()

    def _suspend(self) -> None:
        if self._is_printing:  # the shell waits for a line, and has no job
            raise SesameError("a picker that prints cannot be suspended")
        self._screen.suspend()

    def _quit(self) -> None:
        self.is_done = True

    # -- what is typed ------------------------------------------------------------------------------------

    def _agent(self) -> None:
        from .toggles import cycled

        self._state.line.replace(cycled(self._state.line.text, "agent", sorted(self._values("agents"))))

    def _here(self) -> None:
        from .toggles import switched

        self._state.line.replace(switched(self._state.line.text, "is:here"))

    def _time(self) -> None:
        from .toggles import TIMES, cycled

        self._state.line.replace(cycled(self._state.line.text, "after", TIMES))

    def _complete(self, by: int = 1) -> None:
        from .completion import common, completion

        state = self._state
        found = state.completion
        if found is None:
            found = completion(state.line.text, state.line.cursor, self._values)
            if found is None:
                state.say("nothing to complete")
                return
            start = common(found)
            if len(found.candidates) > 1 and len(start) > state.line.cursor - found.start:
                state.completion = found
                state.line.replace(state.line.text[: found.start] + start + found.rest, found.start + len(start))
                return
        found = found.moved(by)
        state.line.replace(*found.line(state.line.text))
        state.completion = found if len(found.candidates) > 1 else None

    def _complete_back(self) -> None:
        self._complete(-1)

    def _values(self, field: str) -> Sequence[str]:
        """Return what sessions have for a field of `Filters`."""
        return self._finder.sesame.known_values(field) if self._finder.sesame else ()

    # -- what is done with a session ----------------------------------------------------------------------

    def _resume(self) -> None:
        self.chosen, self.is_done = self._actions.resume(), True

    def _copy(self) -> None:
        self._actions.copy()

    def _show(self) -> None:
        self._actions.show()

    def _edit(self) -> None:
        self._actions.edit()

    def _export(self) -> None:
        self._actions.export()

    def _star(self) -> None:
        self._actions.star()
