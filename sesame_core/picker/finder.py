"""A thread that searches and loads previews: of several requests it answers the latest, so that typing never waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..dataclass import dataclass
from ..errors import SesameError

if TYPE_CHECKING:
    from ..api.sesame import Sesame
    from ..types.answer import Answer, Hit
    from ..types.index import Chunk, StoredSession
    from ..types.report import IndexReport

#: Chunks of a preview before and after the passage.
BEFORE, AFTER = 10, 60
#: Seconds for which what is known of unread files is used again: to find it out, all known files are listed.
KNOWN_SECONDS = 2.0
#: Seconds for which the end of a search is awaited.
END_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Found:
    """The answer to a query."""

    text: str
    limit: int
    answer: Answer | None
    #: How far the answer can be trusted, and what it left out, a line each.
    notes: tuple[str, ...] = ()
    #: Why there is no answer.
    error: str | None = None
    #: The preview of its first session, if it is the answer to another text than the one before: that session will be
    #: selected, and the screen changes once for a key.
    loaded: Loaded | None = None


@dataclass(frozen=True, slots=True)
class Loaded:
    """The chunks around the passage of a hit."""

    hit: Hit
    #: The session that has them: the hit's, a copy of it or a subagent.
    stored: StoredSession
    chunks: Sequence[Chunk]
    #: Position of the passage; None when the session itself was listed.
    position: int | None
    error: str | None = None


class Finder:
    """The searches of a picker, in a thread of their own.

    :param wake: called when something was found.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._wanted = threading.Condition()
        self._search: tuple[str, int] | None = None
        self._hit: Hit | None = None
        self._is_ended = False
        self._found: Found | None = None
        self._loaded: Loaded | None = None
        #: The text that was answered last.
        self._text: str | None = None
        self._exclude: tuple[str, ...] | None = None
        self._unread: tuple[float, IndexReport | None] = (0.0, None)
        #: Set when the thread cannot go on.
        self.failure: BaseException | None = None
        #: Set when the index is open.
        self.sesame: Sesame | None = None
        #: What the run behind the picker has reported; None while it runs.
        self.report: IndexReport | None = None
        self._thread = threading.Thread(target=self._run, name="sesame-finder", daemon=True)

    def start(self) -> None:
        """Start the thread, which opens the index."""
        self._thread.start()

    def close(self) -> None:
        """End the thread after what it is doing, and release the index; a server that does not answer is left alone."""
        with self._wanted:
            self._is_ended = True
            self._wanted.notify()
        self._thread.join(END_SECONDS)
        if self.sesame is not None and not self._thread.is_alive():
            self.sesame.close()

    def search(self, text: str, limit: int) -> None:
        """Answer a query; an earlier one that has not begun is dropped."""
        with self._wanted:
            self._search = text, limit
            self._wanted.notify()

    def load(self, hit: Hit) -> None:
        """Load the preview of a hit; an earlier one that has not begun is dropped."""
        with self._wanted:
            self._hit = hit
            self._wanted.notify()

    def take(self) -> tuple[Found | None, Loaded | None]:
        """Return what was found since the last call."""
        with self._wanted:
            found, loaded, self._found, self._loaded = self._found, self._loaded, None, None
        return found, loaded

    # -- the thread ---------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            from ..api.sesame import Sesame

            self.sesame = Sesame()
            while self._next():
                pass
        except BaseException as error:  # noqa: BLE001 - the loop of the picker raises it again
            self.failure = error
        self._wake()

    def _next(self) -> bool:
        """Answer the next request; return whether there may be another."""
        with self._wanted:
            while not (self._search or self._hit or self._is_ended):
                self._wanted.wait()
            if self._is_ended:
                return False
            search, hit = self._search, self._hit
            self._search, self._hit = None, (hit if search else None)
        if search:
            found = self._answer(*search)
            with self._wanted:
                self._found = found
        elif hit:
            loaded = self._around(hit)
            with self._wanted:
                self._loaded = loaded
        self._wake()
        if self._exclude is None and self.sesame is not None:
            # After the first answer: an agent's parser may be needed to find out.
            self._exclude = self.sesame.current_sessions()
            if self._exclude and search and not self._search:
                self.search(*search)
        return True

    def _answer(self, text: str, limit: int) -> Found:
        from ..rendering.notes import answer_notes
        from ..types.query import Filters
        from .completion import finished

        assert self.sesame is not None
        try:
            filters = self.sesame.excluding(Filters(), self._exclude or ())
            # The list has no room for parts of texts.
            answer = self.sesame.search(finished(text), filters, limit=limit, passage_bytes=0)
            notes = tuple(answer_notes(answer, self._unread_files(), ()))
            is_new, self._text = text != self._text, text
            loaded = self._around(answer.hits[0]) if is_new and answer.hits else None
            return Found(text, limit, answer, notes, loaded=loaded)
        except SesameError as error:
            return Found(text, limit, None, error=str(error))

    def _unread_files(self) -> IndexReport | None:
        """Return what is known of files that are not indexed yet, or cannot be."""
        if self.report is not None:
            return self.report
        assert self.sesame is not None
        at, known = self._unread
        if time.monotonic() - at > KNOWN_SECONDS:
            known = self.sesame.as_it_is()
            if known is not None:
                known.reason = None  # it is being read
            self._unread = time.monotonic(), known
        return known

    def _around(self, hit: Hit) -> Loaded:
        passage = hit.passages[0] if hit.passages else None
        try:
            stored = self._holder(hit)
            if passage is not None and stored is None:
                return Loaded(hit, hit.stored, [passage.chunk], passage.chunk.seq)
            assert self.sesame is not None
            stored = stored or hit.stored
            position = passage.chunk.seq if passage else None
            first = max(0, (position or 0) - BEFORE)
            chunks = self.sesame.list_messages(stored, offset=first, limit=(position or 0) - first + AFTER)
            return Loaded(hit, stored, chunks, position)
        except SesameError as error:
            return Loaded(hit, hit.stored, (), None, str(error))

    def _holder(self, hit: Hit) -> StoredSession | None:
        """Return the session that has the passage; None if its record cannot be found."""
        number = hit.passages[0].number if hit.passages else hit.stored.number
        if number == hit.stored.number:
            return hit.stored
        assert self.sesame is not None
        for name in [*filter(None, [hit.subagent_id]), *(session_id for session_id, _ in hit.copies)]:
            try:
                stored = self.sesame.get_session(name)
            except SesameError:
                continue  # of another workstation, or ambiguous: the passage alone is shown
            if stored.number == number:
                return stored
        return None
