"""Sesame as a Python library: the API that the command line and every other caller use.

    from sesame_core import Sesame

    with Sesame() as sesame:
        sesame.index()
        for hit in sesame.search("nix infrastructure simplify").hits:
            ...

No call prints or exits; a failure is a `SesameError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ..types.index import StoredSession
from ..types.query import Filters
from .questions import Questions

if TYPE_CHECKING:
    from ..privacy.audit import Audit, Exposure
    from ..types.index import Statistics
    from ..types.tally import By, Tallies
    from .team import Team


class Sesame(Questions):
    """The sessions of one configuration and their index.

    :param config: the configuration; read from config.jsonc when None.
    :param data_dir: directory of a SQLite index, in place of the configured backend; also of metadata, unless the
        configuration sets a directory.
    :param plugins: for embedders that register plugins of their own.
    :raises ConfigError: config.jsonc cannot be read or has an invalid value.

    Several threads may search; only one at a time may index.
    """

    def mark(
        self,
        session: str | StoredSession,
        *,
        starred: bool | None = None,
        tags: Iterable[str] = (),
        without: Iterable[str] = (),
        name: str | None = None,
        note: str | None = None,
    ) -> StoredSession:
        """Mark a session, whoever recorded it; return it with its marks.

        They are in a file of their own, which no run, no model and no other person changes.

        :param starred: give it a star, or take it away; None leaves it.
        :param tags: to add.
        :param without: tags to take away, also those of a model.
        :param name: shown in place of its title; "" for the title again, None leaves it.
        :param note: "" for none, None leaves it.
        :raises UnknownSessionError: the session does not exist.
        :raises QueryError: a tag, the name or the note is empty or too long.
        :raises SesameError: the file of its marks is invalid, cannot be written, or is being changed for long.
        """
        from .marking import change

        wanted = change(starred=starred, tags=tags, without=without, name=name, note=note)
        stored = self._present(session) if isinstance(session, StoredSession) else self.get_session(session)
        written = stored.session.notes.tags if stored.session.notes else ()
        path = wanted.apply(self.config.describe.directory, stored.session.id, written)
        if wanted.has_texts and self._index.has_marks():
            self._take_in(path)
        stored = self._present(stored)
        self._show_marks([stored])
        return stored

    def stats(self, filters: Filters | None = None, *, by: By = "day") -> Tallies:
        """Return counts of the sessions that filters select, in groups; a session counts for its last active day.

        :raises QueryError: no session and no installed parser has one of the agents.
        """
        from ..search.tallying import tallies

        return tallies(self._index.reader(), self._checked(filters), by)

    def failures(self) -> Mapping[int, int] | None:
        """Return the number of chunks with an error by the number of the session; None if the index does not count."""
        from ..plugin.backend import Tallying

        reader = self._index.reader()
        if not isinstance(reader, Tallying):
            return None
        return {number: failures for number, (failures, _) in reader.tallies().items() if failures}

    def known_values(self, field: str) -> list[str]:
        """Return what sessions have for a field of `Filters`, the commonest first.

        :param field: one that names something: "agents", "branch", "cwd", "host", "model", "owner", "repo", "tags",
            "tool" or "workstation".
        """
        from ..search.values import known

        values = dict.fromkeys(value for value, _ in known(self._index.reader(), field))
        if field == "tags" and (own := self._marks()):
            values |= dict.fromkeys(own.tags())
        return list(values)

    def may_write(self) -> bool:
        """Return whether the index may be written with this configuration: a login of a team's may only read.

        :raises BackendError: the index cannot be read.
        """
        from ..plugin.shared import Granted

        reader = self._index.reader()
        return reader.may_write() if isinstance(reader, Granted) else True

    def status(self) -> Statistics:
        """Return counts of the content of the index."""
        return self._index.reader().statistics()

    @property
    def team(self) -> Team:
        """The team that shares the index."""
        from .team import Team

        return Team(self.config, self._index, self.sources())

    def audit(self, seen: Audit | None = None) -> Iterator[Exposure]:
        """Yield each secret in the index: its place, its detector, and its fingerprint.

        :param seen: counts what was scanned.
        """
        from ..privacy.audit import Audit, audit

        return audit(self._index.reader(), self._index.secrets(), seen or Audit())
