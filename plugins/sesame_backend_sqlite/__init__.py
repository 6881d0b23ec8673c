"""One SQLite file with FTS5 full-text tables: no server, nothing leaves the machine."""

from __future__ import annotations

from collections.abc import Iterable

from sesame_core import hookimpl
from sesame_core.plugin.backend import StorageBackend
from sesame_core.plugin.provider import Options, Provider


def create(options: Options) -> StorageBackend:
    """Return the backend for these options: `directory`, the directory of the index (default: the data directory)."""
    from .backend import SqliteBackend

    return SqliteBackend.from_options(options)


@hookimpl
def sesame_register_backends() -> Iterable[Provider[StorageBackend]]:
    """Provide the backend `sqlite`."""
    return [Provider(name="sqlite", summary="SQLite FTS5, one file on this machine", create=create)]
