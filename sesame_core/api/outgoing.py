"""What leaves for an agent or a language model: an index that is read without secrets."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..errors import BackendError
from .index import Index

if TYPE_CHECKING:
    from ..config.model import Redaction
    from ..plugin.backend import IndexReader, StorageBackend
    from ..privacy.redactor import Redactor


class OutgoingIndex(Index):
    """An index whose reader shows no secrets; everything else is that of the given one."""

    shows_secrets = False

    def __init__(self, index: Index, redactor: Redactor) -> None:
        super().__init__(index.config, index.plugins)
        self._inner = index
        self._outgoing = redactor
        #: The reader, and the one that it is around.
        self._around: tuple[IndexReader, IndexReader] | None = None

    def backend(self) -> StorageBackend:
        """Return the backend of the given index."""
        return self._inner.backend()

    def reader(self) -> IndexReader:
        """Return a reader that shows no secrets, always the same until the index is closed."""
        from ..privacy.redacting_reader import redacting_reader

        inner = self._inner.reader()
        if self._around is None or self._around[1] is not inner:
            self._around = redacting_reader(inner, self._outgoing), inner
        return self._around[0]

    def close(self) -> None:
        """Release the backend of the given index."""
        self._inner.close()


def redactor_of_answers(settings: Redaction) -> Redactor:
    """Return a redactor that also works without the extra `redact`, and without a data directory to write to."""
    from ..privacy.redactor import Redactor, machine_key

    try:
        key = machine_key()
    except BackendError:
        key = os.urandom(32)  # placeholders differ from those of other processes: they hide as much
    return Redactor(key, settings, is_for_answers=True)
