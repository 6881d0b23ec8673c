"""The index of one configuration: opened at first use, read directly, and written through decorated writers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from ..dataclass import replace
from ..plugin.backend import IndexReader, IndexWriter, StorageBackend
from ..types.index import UNREAD

if TYPE_CHECKING:
    from ..config.model import Config
    from ..metadata.files import MetadataFiles
    from ..plugin.backend import TracksFiles
    from ..plugin.manager import PluginManager
    from ..privacy.redactor import Redactor
    from ..sharing.policy import SharingPolicy
    from ..sharing.rules import Sharing
    from ..types.index import KnownFile


class Index:
    """A backend, and the writers that redact and apply visibility."""

    #: Whether its reader shows secrets that are stored.
    shows_secrets = True

    def __init__(self, config: Config, plugins: PluginManager) -> None:
        self.config = config
        self.plugins = plugins
        self._backend: StorageBackend | None = None
        self._reader: IndexReader | None = None
        self._redactor: Redactor | None = None

    def backend(self) -> StorageBackend:
        """Return the configured backend."""
        if self._backend is None:
            self._backend = self.plugins.backend(self.config.backend.name, self.config.backend.options)
        return self._backend

    def reader(self) -> IndexReader:
        """Return the backend's reader, always the same."""
        if self._reader is None:
            self._reader = self.backend().reader()
        return self._reader

    def writer(self) -> AbstractContextManager[IndexWriter]:
        """Return a context in which the index can be written; it commits at its end.

        :raises LockedError: another process is writing, when the context is entered.
        """
        redactor = self.redactor()
        opened = self.backend().writer()
        if redactor is None and self.audience() is None:
            return opened
        return _guarded(opened, redactor, self.policy)

    @contextmanager
    def rebuild(self) -> Iterator[IndexWriter]:
        """Open a new index for writing; it replaces the current one at the end.

        :raises LockedError: another process is writing, when the context is entered.
        """
        redactor = self.redactor()
        if self.audience() is not None:
            with self.writer() as writer:
                writer.finish(synced_at=None)  # commit the rules first, so that nothing private is carried over
        policy: SharingPolicy | None = None

        def around(writer: IndexWriter) -> IndexWriter:
            nonlocal policy
            if (policy := self.policy()) is not None:
                policy.private_files.hold()
            return _around(writer, redactor, policy)

        with self.backend().rebuild(around) as writer:
            yield writer
        if policy is not None:
            policy.private_files.release()

    def close(self) -> None:
        """Release the backend; a later call opens it again."""
        if self._backend is not None:
            self._backend.close()
        self._backend = self._reader = None

    # -- decorated writers --------------------------------------------------------------------------------

    def secrets(self) -> Redactor:
        """Return the redactor, whatever the configuration says; it also detects secrets for an audit."""
        if self._redactor is None:
            from ..privacy.redactor import Redactor, machine_key

            self._redactor = Redactor(machine_key(), self.config.redaction)
        return self._redactor

    def redactor(self) -> Redactor | None:
        """Return the redactor of stored content; None when secrets are not redacted."""
        return self.secrets() if self._is_redacted() else None

    def redaction(self) -> int:
        """Return the version of the redactor of stored content; 0 when secrets are not redacted."""
        if not self._is_redacted():
            return 0
        from ..privacy.version import redaction_version

        return redaction_version(self.config.redaction)

    def _is_redacted(self) -> bool:
        is_wanted = self.config.redaction.enabled
        return self.audience() is not None if is_wanted is None else is_wanted

    def hash_key(self) -> bytes:
        """Return the key of hashes of raw content in the index; empty when only its owner can read it."""
        if self.audience() is None:
            return b""
        from ..privacy.redactor import machine_key

        return machine_key()

    def audience(self) -> str | None:
        """Return who else can read the index; None when only its owner can."""
        # Of a `SharedBackend`; a search asks, and `isinstance` loads `inspect` for it on Python 3.12.
        audience: Callable[[], str] | None = getattr(self.backend(), "audience", None)
        return audience() if audience else None

    def has_marks(self) -> bool:
        """Return whether what a person marked is indexed: its words are found, by whoever can read the index."""
        return self.config.describe.shares_marks or self.audience() is None

    def metadata(self) -> MetadataFiles:
        """Return the metadata files whose content is indexed."""
        from ..metadata.files import MetadataFiles

        return MetadataFiles(self.config.describe.directory, has_marks=self.has_marks())

    def policy(self, sharing: Sharing | None = None) -> SharingPolicy | None:
        """Return the policy for which sessions others see; None when only its owner can read the index.

        :param sharing: rules to preview; the current ones when None.
        :raises ConfigError: the rules cannot be read.
        """
        audience = self.audience()
        if audience is None:
            return None
        from ..sharing.policy import SharingPolicy
        from ..sharing.rules import load, written

        at = written()
        sharing = sharing or load(self.config.share)
        if redactor := self.redactor():
            sharing = replace(sharing, mask=redactor.text)
        return SharingPolicy(sharing, self.reader(), audience, self.metadata(), at)

    def is_agreed(self) -> bool:
        """Return whether sessions may be sent to the readers of the index: its owner has seen which, and agreed.

        The owner of sessions that this installation has sent already has agreed.

        :raises BackendError: the index cannot be read.
        """
        audience = self.audience()
        if audience is None:
            return True
        from ..sharing import consent, private_files

        if consent.is_given(audience):
            return True
        # Sessions under the same id may be those of another user of this machine, or of a copy of it.
        if not private_files.is_kept() or not self.has_sent():
            return False
        consent.give(audience)
        return True

    def unsent(self) -> str | None:
        """Return why nothing may be sent to the readers of the index; None when its owner has agreed (`is_agreed`)."""
        if self.is_agreed():
            return None
        from ..sharing.consent import NOT_GIVEN

        return NOT_GIVEN

    def has_sent(self) -> bool:
        """Return whether others can read the index, and see sessions of this workstation.

        :raises BackendError: the index cannot be read.
        """
        policy = self.policy()
        return policy is not None and next(policy.sessions(), None) is not None

    def agree(self) -> None:
        """Record that the owner of this machine has agreed to send sessions to the readers of the index."""
        if (audience := self.audience()) is not None:
            from ..sharing import consent

            consent.give(audience)

    def has_new_rules(self) -> bool:
        """Return whether rules for what others see have changed and are not applied yet."""
        audience = self.audience()
        if audience is None:
            return False
        from ..sharing.private_files import this_machines
        from ..sharing.rules import load

        return this_machines().applied != load(self.config.share).digest(audience)

    def hides(self) -> bool:
        """Return whether others can read the index, and a rule hides sessions from them."""
        policy = self.policy()
        return policy is not None and not policy.sharing.is_open

    def known_files(self, reader: TracksFiles) -> dict[str, KnownFile]:
        """Return all files that runs have read, by stored path: also those that are private, which no index has."""
        known = reader.known_files()
        if self.audience() is None:
            return known
        from ..sharing.private_files import this_machines

        private = this_machines().known()
        # What others see although it is private is of a restored backup: reading the file removes it again.
        seen = {path: (UNREAD, *private[path][1:]) for path in known.keys() & private.keys()}
        return {**known, **private, **seen}

    def private_files(self) -> int:
        """Return the number of files that are left out of a shared index because all their sessions are private."""
        if self.audience() is None:
            return 0
        from ..sharing.private_files import this_machines

        return this_machines().count()


@contextmanager
def _guarded(
    opened: AbstractContextManager[IndexWriter], redactor: Redactor | None, made: Callable[[], SharingPolicy | None]
) -> Iterator[IndexWriter]:
    """Open a writer that passes on only what may be stored, and apply the rules to stored sessions.

    :param made: makes the policy once no other process writes: until then, rules and private files may change.
    """
    with opened as writer:
        if (policy := made()) is not None:
            policy.apply(writer)
        yield _around(writer, redactor, policy)
        if policy is not None:
            policy.settle(writer)


def _around(writer: IndexWriter, redactor: Redactor | None, policy: SharingPolicy | None) -> IndexWriter:
    """Return a writer that passes on to another one only what may be stored.

    It redacts first, so that the list of private files contains no secrets either.
    """
    if policy is not None:
        writer = policy.writer(writer)
    if redactor is None:
        return writer
    from ..privacy.redacting_writer import redacting_writer

    return redacting_writer(writer, redactor)
