"""What the picker does with the selected session: resumes, shows, exports it, copies its command, opens its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import SesameError

if TYPE_CHECKING:
    from ..api.sesame import Sesame
    from ..types.answer import Hit
    from ..types.index import StoredSession
    from ..types.resumption import Resumption
    from .finder import Finder
    from .screen import Screen
    from .state import State


class Actions:
    """The actions on the selected session; each raises a `SesameError` that says why it cannot be done.

    :param is_printing: the command is only printed, so its program need not be installed.
    """

    def __init__(self, state: State, screen: Screen, finder: Finder, *, is_printing: bool) -> None:
        self._state = state
        self._screen = screen
        self._finder = finder
        self._is_printing = is_printing

    def resume(self) -> Resumption:
        """Return how the session is resumed, if it can be."""
        import shutil

        found = self._resumption()
        if not self._is_printing and shutil.which(program := found.command[0]) is None:
            raise SesameError(f"{program!r} is not on the PATH: install it, or copy the command")
        return found

    def copy(self) -> None:
        """Let the terminal copy the command that resumes the session."""
        from ..api.resuming import shell_line
        from .programs import copy

        line = shell_line(self._resumption())
        copy(self._screen, line)
        self._state.say(f"copied: {line}")

    def show(self) -> None:
        """Show the session in the pager, at the passage."""
        from .programs import show

        show(self._screen, self._transcript(), self._position())

    def edit(self) -> None:
        """Open the session's file in the editor, at the passage."""
        from .programs import edit

        _, hit = self._selected()
        edit(self._screen, self._holder(hit), hit.chunk, self._transcript)

    def export(self) -> None:
        """Write the session as a page, without secrets, into the current directory; never over a file."""
        from ..rendering.export.formats import save, unused, written

        sesame, hit = self._selected()
        file = unused(sesame.abbreviate(hit.stored.session.id), ".html")
        try:
            save(file, written(sesame.export(hit.stored), "html"), [hit.stored.path])
        except OSError as error:
            raise SesameError(f"cannot write {file}: {error.strerror or error}") from error
        self._state.say(f"exported, without secrets: {file}")

    def star(self) -> None:
        """Star the session, or take the star away."""
        sesame, hit = self._selected()
        notes = hit.session.notes
        starred = not (notes and notes.is_starred)
        hit.session.notes = sesame.mark(hit.stored, starred=starred).session.notes
        self._state.say("starred" if starred else "not starred any more")

    def _selected(self) -> tuple[Sesame, Hit]:
        """Return the opened index, and the selected session."""
        if self._finder.sesame is None or self._state.hit is None:
            raise SesameError("no session is selected")
        return self._finder.sesame, self._state.hit

    def _resumption(self) -> Resumption:
        from ..api.resuming import refusal

        sesame, hit = self._selected()
        found = sesame.resumption(hit.stored)
        if reason := refusal(found):
            raise SesameError(reason)
        return found

    def _holder(self, hit: Hit) -> StoredSession:
        """Return the session that has the passage, as far as the preview knows it."""
        loaded = self._state.loaded
        return loaded.stored if loaded and loaded.hit is hit else hit.stored

    def _transcript(self) -> str:
        """Return the transcript of the session that has the passage, with an arrow at it."""
        from ..rendering.transcripts import transcript_text

        sesame, hit = self._selected()
        stored = self._holder(hit)
        return transcript_text(stored, sesame.list_messages(stored), self._position())

    def _position(self) -> int | None:
        """Return the position of the passage."""
        hit = self._state.hit
        return hit.chunk.seq if hit and hit.chunk else None
