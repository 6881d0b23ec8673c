"""The calls of `Sesame` about one session, which a reference means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import LockedError, UnknownSessionError
from ..text.tokens import clean
from ..types.index import StoredSession
from .indexing import Indexing

#: Chunks shown before and after the requested one [seed 003].
AROUND = 4
#: Lengths of an abbreviated session id, tried in turn: pi's ids start with a clock that changes once a minute.
ID_LENGTHS = (8, 13, 18, 23)
#: Most bytes of a handoff.
HANDOFF_BYTES = 6_000

if TYPE_CHECKING:
    from ..config.model import ModelChoice
    from ..generation.answer import SessionAnswer
    from ..generation.describe import DescribeResult
    from ..search.resolve import Reference
    from ..types.evidence import Window
    from ..types.export import Export, Handoff, Part
    from ..types.index import Chunk
    from ..types.resumption import Resumption


class OneSession(Indexing):
    """One session: found, shown, asked, described, resumed, forgotten."""

    def get_session(self, session: str, *, is_certain: bool = False) -> StoredSession:
        """Return one session; if several files contain it, the copy with the most text.

        :param session: an id or a unique prefix of one, a name or words of one, `latest`: what `resolve` takes; also
            with a position behind it, as a hit is called (`35ea950f:21`).
        :param is_certain: do not take a name that is only spelled similarly.
        :raises UnknownSessionError: it means no session, or several; or nobody has said anything in it yet.
        """
        return self.get_place(session, is_certain=is_certain)[0]

    def get_place(self, session: str, *, is_certain: bool = False) -> tuple[StoredSession, int | None]:
        """Return one session, and the position in it that is written behind the reference; None without one.

        :param session: as of `get_session`; a name that ends like a position (`PR:123`) has none.
        :param is_certain: as of `get_session`.
        :raises UnknownSessionError: as of `get_session`.
        """
        from ..search.resolve import meant, place

        reference = clean(session)
        try:
            found, position = meant(
                self._index.reader(),
                reference,
                self.abbreviate,
                current=self.current_sessions,
                is_certain=is_certain,
                show=self._show_marks,
            )
        except UnknownSessionError as error:
            from .unknown import in_silence, not_indexed

            silent = in_silence(place(reference)[0], self._index.reader(), self.sources())
            raise silent or not_indexed(error, self.as_it_is()) from None
        self._show_marks([found])
        return found, position

    def resolve(
        self, references: Iterable[str], *, exclude: Sequence[str] = (), limit: int = 10, offset: int = 0
    ) -> list[Reference]:
        """Resolve each reference to a session: by its id, its name, or a similar name.

        The candidates of an empty reference are the latest sessions.

        :param exclude: ids of sessions to ignore.
        :param limit: most candidates of an ambiguous reference.
        :param offset: candidates to skip.
        """
        from ..search.resolve import resolve

        texts = [clean(text) for text in references]
        return resolve(
            self._index.reader(),
            texts,
            abbreviate=self.abbreviate,
            exclude=exclude,
            limit=limit,
            offset=offset,
            show=self._show_marks,
        )

    def abbreviate(self, session_id: str) -> str:
        """Return the shortest unique prefix of a session's id, at least eight characters."""
        for length in ID_LENGTHS:
            short = session_id[:length]
            others = (stored.session.id for stored in self._index.reader().find_sessions(short))
            if all(other == session_id or other.startswith(session_id + "/") for other in others):
                return short
        return session_id

    def abbreviations(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the ids of several sessions abbreviated, as `abbreviate` does, by id."""
        from ..plugin.backend import Abbreviating

        reader, listed = self._index.reader(), list(dict.fromkeys(ids))
        if isinstance(reader, Abbreviating) and listed:
            return dict(zip(listed, reader.abbreviated(listed, ID_LENGTHS), strict=True))
        return {session_id: self.abbreviate(session_id) for session_id in listed}

    def list_messages(self, session: str | StoredSession, *, offset: int = 0, limit: int | None = None) -> list[Chunk]:
        """Return a session's chunks in order, from the index; its file need not exist.

        :param offset: position of the first chunk.
        :param limit: most chunks.
        :raises UnknownSessionError: the session does not exist (any more).
        """
        reader = self._index.reader()
        with reader.snapshot():
            stored = self._now(session)
            return reader.chunks([(stored.number, offset, limit)])[0]

    def window(
        self, session: str | StoredSession, position: int, *, before: int = AROUND, after: int = AROUND
    ) -> Window:
        """Return the beginnings of a chunk and of those around it, at most `windows.MAX_WINDOW_ITEMS`.

        :raises UnknownSessionError: the session does not exist, or has no such position.
        """
        from ..search.windows import window

        reader = self._index.reader()
        with reader.snapshot():
            stored = self._now(session)
            found = window(reader, stored.number, position, before=before, after=after)
        if found is None:
            raise UnknownSessionError(f"session {stored.session.id} has no position {position}")
        return found

    def find_within(self, session: str | StoredSession, text: str) -> tuple[list[int], bool]:
        """Return the positions in a session that have all words of a text, in order, and whether they do.

        Where nothing has all of them, it is those that have one.

        :raises UnknownSessionError: the session does not exist.
        """
        from ..search.passages import positions

        reader = self._index.reader()
        with reader.snapshot():
            return positions(reader, self._now(session).number, clean(text))

    def subagents(self, session: str | StoredSession, shown: Sequence[Chunk] = ()) -> list[Part]:
        """Return the subagents that a session started, in the order of their starts, each with its first chunks.

        :param shown: some consecutive chunks of the session, as `list_messages` returned them; `Part.started_at` is
            one of them, or None.
        :raises UnknownSessionError: the session does not exist.
        """
        from ..search.family import started

        reader = self._index.reader()
        with reader.snapshot():
            return started(reader, self._now(session), shown)

    def forks(self, session: str | StoredSession) -> list[Part]:
        """Return the sessions that were made from a session, without chunks, the latest first.

        `Part.started_at` is the position in the session of the last chunk that both have; None if the index does not
        know it.

        :raises UnknownSessionError: the session does not exist.
        """
        from ..search.family import forks

        reader = self._index.reader()
        with reader.snapshot():
            return forks(reader, self._now(session))

    def ask(
        self,
        session: str | StoredSession,
        question: str,
        *,
        models: Sequence[ModelChoice] | None = None,
        max_bytes: int | None = None,
    ) -> SessionAnswer:
        """Answer a question about one session: with its passages, and with a model's answer if one is configured.

        :param models: tried in this order until one answers; the configured ones when None, none when empty.
        :param max_bytes: most bytes of all passages; `passages.BUDGET` when None.
        :raises UnknownSessionError: the session does not exist.
        """
        from ..generation.answer import ask
        from ..search.passages import BUDGET

        stored = self._now(session)
        models = self.config.models if models is None else models
        budget = BUDGET if max_bytes is None else max_bytes
        if not models:
            return ask(self._index.reader(), stored, question, (), budget=budget)
        # The passages of the answer are those that the model gets.
        reader = self.without_secrets()._index.reader()
        return ask(reader, stored, question, models, budget=budget, mask=self.mask)

    def describe(
        self, session: str | StoredSession, *, models: Sequence[ModelChoice] | None = None, only_due: bool = False
    ) -> DescribeResult:
        """Generate a session's metadata with a model, and index it.

        :param models: tried in this order until one gives a valid answer; the configured ones when None.
        :param only_due: do nothing unless describing is automatic and the session has enough new prompts.
        :raises UnknownSessionError: the session does not exist.
        :raises ModelError: no model is configured.
        :raises SesameError: the session belongs to another workstation, or the metadata cannot be written.
        """
        from ..generation.describe import describe

        stored = self._now(session)
        models = self.config.models if models is None else models
        reader = self.without_secrets()._index.reader()
        described = describe(reader, stored, self.config.describe, models, only_due=only_due, mask=self.mask)
        if described.path is not None:
            self._take_in(described.path)
        return described

    def undescribed(self) -> Iterator[StoredSession]:
        """Return this workstation's interactive sessions with prompts and without metadata, last active first."""
        from ..generation.describe import undescribed

        return undescribed(self._index.reader())

    def resumption(self, session: str | StoredSession) -> Resumption:
        """Return how a session is resumed: the command, its directory, and the environment it needs.

        :raises UnknownSessionError: the session does not exist.
        :raises ResumeError: its agent cannot resume it, or not here; the message says why.
        """
        from .resuming import resumption

        stored = session if isinstance(session, StoredSession) else self.get_session(session)
        return resumption(self._index.reader(), self.plugins, stored)

    def resume_command(self, session: str | StoredSession) -> tuple[list[str], str | None]:
        """Return the command that resumes a session in its agent, and the directory to run it in.

        :raises UnknownSessionError: the session does not exist.
        :raises ResumeError: as of `resumption`, which also says what the environment must be.
        """
        found = self.resumption(session)
        return list(found.command), found.directory

    def export(self, session: str | StoredSession, *, redact: bool = True) -> Export:
        """Return a session with its subagents, whole, from the index; its file need not exist.

        :param redact: replace secrets with placeholders.
        :raises UnknownSessionError: the session does not exist.
        :raises ConfigError: the extra that finds secrets is not installed.
        """
        from .exporting import export_of

        redactor = self._index.secrets() if redact else None
        return export_of(self._index.reader(), lambda: self._now(session), redactor)

    def handoff(self, session: str | StoredSession, *, max_bytes: int = HANDOFF_BYTES, redact: bool = True) -> Handoff:
        """Return what another agent must know to go on with a session: passages of it, none written by a model.

        :param max_bytes: most bytes of all passages, with their places and headings.
        :param redact: replace secrets with placeholders.
        :raises UnknownSessionError: the session does not exist.
        :raises ConfigError: the extra that finds secrets is not installed.
        """
        from .exporting import handoff_of

        redactor = self._index.secrets() if redact else None
        return handoff_of(self._index.reader(), lambda: self._now(session), redactor, max_bytes=max_bytes)

    def forget(self, session: str) -> list[StoredSession]:
        """Delete a session, with its copies and subagents, from the index for good; its file stays unchanged.

        :param session: as of `get_session`; a name must be spelled correctly.
        :return: the sessions that were deleted.
        :raises UnknownSessionError: no session, or several, have this id.
        """
        from .patience import patiently

        chosen = self.get_session(session, is_certain=True)
        found = self._index.reader().find_sessions(chosen.session.id)
        # A session of another workstation may have the same id.
        found = [stored for stored in found if stored.session.workstation == chosen.session.workstation]
        with patiently(self._index.writer, self.config.lock_seconds) as writer:
            for stored in found:
                writer.forget(stored.number)
            writer.finish(synced_at=None)
        return found

    def _take_in(self, metadata: Path) -> None:
        """Index a metadata file; while another process writes, leave it to the next run."""
        from ..metadata.sync import take_in
        from ..plugin.backend import Annotating
        from ..types.report import IndexReport
        from .patience import patiently

        with suppress(LockedError), patiently(self.writer, self.config.lock_seconds) as writer:
            if not isinstance(writer, Annotating):
                return
            mtime_ns = metadata.stat().st_mtime_ns if metadata.exists() else None
            take_in(writer, self.metadata(), str(metadata), mtime_ns, IndexReport())

    def _now(self, session: str | StoredSession) -> StoredSession:
        """Return the current record of the session that a reference means."""
        return self._present(session) if isinstance(session, StoredSession) else self.get_session(session)

    def _present(self, stored: StoredSession) -> StoredSession:
        """Return the current record of a session: a rebuild assigns new numbers."""
        for now in self._index.reader().sessions([stored.number]):
            if now.session.key == stored.session.key:
                return now
        from ..search.ids import the_one

        return the_one(self._index.reader(), stored.session.id, stored.session.workstation)
