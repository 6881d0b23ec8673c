"""Those who share an index: who they are, and what they may see of this machine's sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import SesameError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..config.model import Config
    from ..indexing.sources import Sources
    from ..sharing.rules import Rule, Sharing
    from ..sharing.visibility_writer import Change
    from ..types.index import WorkstationStatistics
    from .index import Index


class Team:
    """What concerns others, of one configuration's index; made by `Sesame.team`."""

    def __init__(self, config: Config, index: Index, sources: Sources) -> None:
        self._config = config
        self._index = index
        self._sources = sources

    # -- what they see ------------------------------------------------------------------------------------

    def sharing(self) -> Sharing:
        """Return what others may see of which sessions, by the rules of `share` and the configuration's default.

        :raises ConfigError: the rules cannot be read.
        """
        from ..sharing.rules import load

        return load(self._config.share)

    def audience(self) -> str | None:
        """Return who else can read the index, None when nobody can."""
        return self._index.audience()

    def plan(self, sharing: Sharing | None = None) -> list[Change]:
        """Return what the next run would send to others, take back, or show more or less of; nothing is written.

        :param sharing: rules to try; those in effect when None.
        :return: nothing when the index is one machine's own.
        """
        policy = self._index.policy(sharing)
        return policy.plan(self._sources.opened(), self._index.redactor()) if policy else []

    def share(self, pattern: str, level: str | None) -> None:
        """State what others may see of the sessions of some projects; the next run puts it into effect.

        :param pattern: fits a session's directory or repository, as a pattern of `exclude` does.
        :param level: "shared", "metadata" or "private"; None takes the rule away.
        :raises ConfigError: there is no such level or rule, or the rules cannot be written.
        """
        from ..sharing.rules import save

        save(self.sharing().changed(pattern, level).rules)

    def covered(self) -> Iterator[tuple[Rule | None, str]]:
        """Yield for each session of this workstation its rule, None for the default, and what others see of it now."""
        from ..sharing.private_files import this_machines

        sharing = self.sharing()
        policy = self._index.policy(sharing)
        if policy is None:
            return
        for stored in policy.sessions():
            yield sharing.rule_of(stored.session), stored.session.visibility
        for _, session in this_machines().sessions():
            yield sharing.rule_of(session), "private"

    # -- who they are -------------------------------------------------------------------------------------

    def workstations(self) -> list[WorkstationStatistics]:
        """Tell who has indexed what: this machine alone, unless the backend is one that a team shares."""
        from ..config import identity
        from ..types.index import WorkstationStatistics

        found = self._index.reader().statistics()
        if found.workstations:
            return list(found.workstations)
        return [
            WorkstationStatistics(
                id=identity.workstation_id(),
                host=identity.host(),
                owner=identity.owner(),
                sessions=found.sessions,
                newest_message=found.newest_message,
                last_sync=found.last_sync,
            )
        ]

    def claim(self) -> None:
        """Take over this workstation's sessions in a shared index from another installation of Sesame.

        :raises SesameError: the backend is one machine's own, or the sessions are another person's.
        """
        from ..plugin.backend import SharedBackend

        backend = self._index.backend()
        if not isinstance(backend, SharedBackend):
            raise SesameError(f"no team shares an index of the backend {self._config.backend.name!r}")
        backend.claim()

    def prepare(self) -> None:
        """Make or upgrade the schema of a shared index, without writing anything else.

        :raises SesameError: the backend is one machine's own, or the right is missing.
        """
        from ..plugin.backend import SharedBackend

        backend = self._index.backend()
        if not isinstance(backend, SharedBackend):
            raise SesameError(f"the backend {self._config.backend.name!r} needs no preparation")
        backend.prepare()
