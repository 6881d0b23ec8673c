"""One PostgreSQL for a whole team: each workstation writes its own sessions, everybody finds all of them."""

from __future__ import annotations

from collections.abc import Iterable

from sesame_core import hookimpl
from sesame_core.protocols import Options, Provider, StorageBackend


def create(options: Options) -> StorageBackend:
    """Return the backend for these options; `connecting.Settings` tells which there are.

    :raises ConfigError: an option is unknown or means nothing, or the extra is not installed.
    """
    from sesame_core.errors import ConfigError

    try:
        import psycopg  # noqa: F401
        import sqlalchemy  # noqa: F401
    except ImportError as error:
        raise ConfigError(f"the postgres backend needs {error.name}: pip install 'sesame-search[postgres]'") from error
    from .backend import PostgresBackend

    return PostgresBackend.from_options(options)


@hookimpl
def sesame_register_backends() -> Iterable[Provider[StorageBackend]]:
    """Provide the backend `postgres`."""
    return [Provider(name="postgres", summary="PostgreSQL, one index for a team", create=create)]
