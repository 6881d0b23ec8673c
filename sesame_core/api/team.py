"""The team that shares an index: its workstations, and what they may see of this machine's sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dataclass import replace
from ..errors import SesameError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..config.model import Config
    from ..indexing.sources import Sources
    from ..sharing.changes import Change
    from ..sharing.rules import Rule, Sharing
    from ..types.index import WorkstationStatistics
    from ..types.server import ServerState
    from .index import Index


class Team:
    """The calls that concern the other readers of an index; made by `Sesame.team`."""

    def __init__(self, config: Config, index: Index, sources: Sources) -> None:
        self._config = config
        self._index = index
        self._sources = sources

    # -- visibility ---------------------------------------------------------------------------------------

    def sharing(self) -> Sharing:
        """Return the rules of `share` and the configured default of visibility.

        :raises ConfigError: the rules cannot be read.
        """
        from ..sharing.rules import load

        return load(self._config.share)

    def audience(self) -> str | None:
        """Return who else can read the index; None when only its owner can."""
        return self._index.audience()

    def is_agreed(self) -> bool:
        """Return whether sessions of this machine may be sent: its owner has seen which, and agreed.

        Until then a refresh sends nothing, and neither do `Runtime` and `Sesame.index` of single paths.  `Sesame.index`
        of all sources sends in any case, and agrees for later.
        """
        return self._index.is_agreed()

    def unsent(self) -> str | None:
        """Return why nothing of this machine may be sent yet; None when its owner has agreed (`is_agreed`)."""
        return self._index.unsent()

    def agree(self) -> None:
        """Agree to send the sessions that the rules allow, now and later."""
        self._index.agree()

    def plan(self, sharing: Sharing | None = None) -> list[Change]:
        """Return the sessions that the next run would add, remove, or make more or less visible; writes nothing.

        :param sharing: rules to preview; the current ones when None.
        :return: empty when the index is not shared.
        """
        policy = self._index.policy(sharing)
        return policy.plan(self._sources.opened(), self._index.redactor()) if policy else []

    def share(self, pattern: str, level: str | None) -> None:
        """Set the visibility of the sessions of some projects; the next run applies it.

        :param pattern: matches a session's directory or repository, like a pattern of `exclude`.
        :param level: "shared", "metadata" or "private"; None removes the rule.
        :raises QueryError: the level does not exist, or the pattern is empty.
        :raises ConfigError: there is no such rule to remove, or the rules cannot be written.
        """
        from ..sharing.rules import load, save

        save(load(self._config.share, is_to_begin=True).changed(pattern, level).rules)

    def has_matched(self, planned: Iterable[Change]) -> bool:
        """Return whether the rule that was made last fits a session that is known here; True if no one reads the index.

        :param planned: what `plan` has returned since then.
        """
        from itertools import chain

        policy = self._index.policy()
        if policy is None:
            return True
        rule = replace(policy.sharing, rules=policy.sharing.rules[-1:])
        known = chain(
            (change.session for change in planned),
            (session for _, session in policy.private_files.sessions()),
            (stored.session for stored in policy.sessions()),
        )
        return any(rule.rule_of(session) is not None for session in known)

    def covered(self) -> Iterator[tuple[Rule | None, str]]:
        """Yield the rule of each session of this workstation, None for the default, and its current visibility."""
        from ..sharing.private_files import this_machines

        policy = self._index.policy()
        if policy is None:
            return
        sharing = policy.sharing
        known: set[tuple[str, str]] = set()
        for stored in policy.sessions():
            if (one := (stored.path, stored.session.id)) not in known:  # else it is stored under a former id, too
                known.add(one)
                yield sharing.rule_of(stored.session), stored.session.visibility
        for _, session in this_machines().sessions():
            yield sharing.rule_of(session), "private"

    # -- workstations -------------------------------------------------------------------------------------

    def workstations(self) -> list[WorkstationStatistics]:
        """Return what each workstation has indexed; only this machine unless the backend is shared."""
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

    def server(self) -> ServerState | None:
        """Return the state of the server of the index; None if it has none.

        :raises BackendError: the index cannot be read.
        """
        reader = self._index.reader()
        # Of a `Monitored`; every status asks, and `isinstance` loads `inspect` for it on Python 3.12.
        state: Callable[[], ServerState] | None = getattr(reader, "server_state", None)
        return state() if state else None

    def claim(self) -> None:
        """Take over this workstation's sessions in a shared index from another installation of Sesame.

        :raises SesameError: the backend is not shared, or the sessions belong to another person.
        """
        from ..plugin.shared import SharedBackend

        backend = self._index.backend()
        if not isinstance(backend, SharedBackend):
            raise SesameError(f"no team shares an index of the backend {self._config.backend.name!r}")
        backend.claim()

    def prepare(self) -> None:
        """Create or upgrade the schema of a shared index, without writing anything else.

        :raises SesameError: the backend is not shared, or the database user lacks the right.
        """
        from ..plugin.shared import SharedBackend

        backend = self._index.backend()
        if not isinstance(backend, SharedBackend):
            raise SesameError(f"the backend {self._config.backend.name!r} needs no preparation")
        backend.prepare()
