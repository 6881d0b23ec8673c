"""The index of one configuration: opened when it is first needed, read directly, and written through its guards."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from ..abilities import has_ability
from ..plugin.backend import IndexReader, IndexWriter, Shared, StorageBackend

if TYPE_CHECKING:
    from ..config.model import Config
    from ..plugin.manager import PluginManager
    from ..privacy.redactor import Redactor
    from ..sharing.policy import Outgoing
    from ..sharing.rules import Sharing


class Index:
    """A backend, and what stands between it and whoever writes."""

    def __init__(self, config: Config, plugins: PluginManager) -> None:
        self._config = config
        self._plugins = plugins
        self._backend: StorageBackend | None = None
        self._reader: IndexReader | None = None
        self._redactor: Redactor | None = None

    def backend(self) -> StorageBackend:
        """Return the configured backend."""
        if self._backend is None:
            self._backend = self._plugins.backend(self._config.backend.name, self._config.backend.options)
        return self._backend

    def reader(self) -> IndexReader:
        """Return the backend's reader, always the same."""
        if self._reader is None:
            self._reader = self.backend().reader()
        return self._reader

    def writer(self) -> AbstractContextManager[IndexWriter]:
        """Return a context in which the index can be written, committed at its end.

        :raises LockedError: another process is writing, when the context is entered.
        """
        return self._guarded(self.backend().writer(), is_rebuild=False)

    def rebuild(self) -> AbstractContextManager[IndexWriter]:
        """Return a context in which a new index is written, which takes the present one's place at its end.

        :raises LockedError: another process is writing, when the context is entered.
        """
        if (outgoing := self.outgoing()) and outgoing.is_due():
            with self.writer() as writer:
                writer.finish(synced_at=None)  # what must not be seen is not carried over
        return self._guarded(self.backend().rebuild(), is_rebuild=True)

    def close(self) -> None:
        """Release the backend; a later call opens it again."""
        if self._backend is not None:
            self._backend.close()
        self._backend = self._reader = None

    # -- its guards ---------------------------------------------------------------------------------------

    def secrets(self) -> Redactor:
        """Return what knows a secret when it sees one."""
        if self._redactor is None:
            from ..privacy.redactor import Redactor, machine_key

            self._redactor = Redactor(machine_key(), self._config.redaction)
        return self._redactor

    def redactor(self) -> Redactor | None:
        """Return what takes secrets out of what is stored; None when they are kept."""
        is_wanted = self._config.redaction.enabled
        if is_wanted is None:
            is_wanted = self.audience() is not None
        return self.secrets() if is_wanted else None

    def audience(self) -> str | None:
        """Return who else can read the index, None when nobody can."""
        backend = self.backend()
        return backend.audience() if has_ability(backend, Shared) else None

    def outgoing(self, sharing: Sharing | None = None) -> Outgoing | None:
        """Return what decides which sessions others see; None when nobody else can read the index.

        :param sharing: rules to try; those in effect when None.
        :raises ConfigError: the rules cannot be read.
        """
        audience = self.audience()
        if audience is None:
            return None
        from ..metadata.files import MetadataFiles
        from ..sharing.policy import Outgoing
        from ..sharing.rules import load

        metadata = MetadataFiles(self._config.describe.directory)
        return Outgoing(sharing or load(self._config.share), self.reader(), audience, metadata)

    def _guarded(
        self, opened: AbstractContextManager[IndexWriter], *, is_rebuild: bool
    ) -> AbstractContextManager[IndexWriter]:
        redactor, outgoing = self.redactor(), self.outgoing()
        if redactor is None and outgoing is None:
            return opened
        from ..privacy.redacting_writer import guarded

        return guarded(opened, redactor, outgoing, is_rebuild=is_rebuild)
