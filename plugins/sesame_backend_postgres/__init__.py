"""One PostgreSQL database for a team: each workstation writes its own sessions, everyone searches all of them."""

from __future__ import annotations

from collections.abc import Iterable

from sesame_core import hookimpl
from sesame_core.plugin.backend import StorageBackend
from sesame_core.plugin.provider import Options, Provider


def create(options: Options) -> StorageBackend:
    """Return the backend for these options, which `connecting.Settings` lists.

    :raises ConfigError: an option is unknown or not valid, or the extra is not installed.
    """
    from importlib.util import find_spec

    from sesame_core.errors import ConfigError

    # A search does not need SQLAlchemy, which takes longer to load than a search takes.
    for needed in ("psycopg", "sqlalchemy"):
        if find_spec(needed) is None:
            from sesame_core.installation import adding

            raise ConfigError(f"the postgres backend needs {needed}, which is not installed: {adding('postgres')}")
    from .importing import of_a_command

    with of_a_command():
        from .backend import PostgresBackend

    return PostgresBackend.from_options(options)


@hookimpl
def sesame_register_backends() -> Iterable[Provider[StorageBackend]]:
    """Provide the backend `postgres`."""
    return [Provider(name="postgres", summary="PostgreSQL, one index for a team", create=create)]
