"""The backend's options in config.jsonc, and the name of the server that they lead to."""

from __future__ import annotations

import os
import re
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from sesame_core.dataclass import dataclass
from sesame_core.errors import ConfigError
from sesame_core.sdk.options import COUNT, TEXT

#: Environment variable with the server's address, used when the configuration names none.
DSN_VARIABLE = "SESAME_POSTGRES_DSN"
#: The backend's options in config.jsonc, fields of `Settings`.
OPTIONS = {
    "dsn": TEXT,
    "service": TEXT,
    "schema": TEXT,
    "connect_timeout": COUNT,
    "sslmode": TEXT,
    "pool": COUNT,
}

#: The schema of an index, unless an option names another one.
SCHEMA = "sesame"
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,40}")
#: The words that PostgreSQL 14 to 18 reserve (`pg_get_keywords`, categories R and T).
_RESERVED = frozenset(
    "all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation "
    "column concurrently constraint create cross current_catalog current_date current_role current_schema "
    "current_time current_timestamp current_user default deferrable desc distinct do else end except false fetch for "
    "foreign freeze from full grant group having ilike in initially inner intersect into is isnull join lateral "
    "leading left like limit localtime localtimestamp natural not notnull null offset on only or order outer overlaps "
    "placing primary references returning right select session_user similar some symmetric system_user table "
    "tablesample then to trailing true union unique user using variadic verbose when where window with".split()
)
_URL = re.compile(r"postgres(?:ql)?://(?P<address>[^?]*)")
#: What a dsn may look like; the message never quotes the given one, which may hold a password.
_LIKE = "postgresql://role@host:5432/database"
#: A character of a password that ends it: what follows would be taken for the host, and be shown.
_UNESCAPED = (
    "the postgres backend's dsn cannot be read: a character of its password or role ends it there; write %40 for @, "
    "%2F for /, %3A for :, %3F for ?, %23 for # and %25 for %, or put the password into ~/.pgpass"
)

#: The parameters that name a database, each with libpq's variable.
_PLACES = (
    ("host", "PGHOST"),
    ("hostaddr", "PGHOSTADDR"),
    ("port", "PGPORT"),
    ("dbname", "PGDATABASE"),
    ("user", "PGUSER"),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """The backend's options in config.jsonc."""

    #: A libpq connection string or URL; without one, that of the environment (`SESAME_POSTGRES_DSN`, `PGHOST` …).
    dsn: str | None = None
    #: A section of `pg_service.conf`.
    service: str | None = None
    #: The schema with Sesame's tables.
    schema: str = SCHEMA
    #: Seconds to wait for the server, of all its hosts together.
    connect_timeout: int = 5
    #: libpq's `sslmode`; None leaves it to the dsn.
    sslmode: str | None = None
    #: Most connections of readers in one process.
    pool: int = 4

    def check(self) -> Settings:
        """Return these options.

        :raises ConfigError: the schema or the dsn is not valid; the message never quotes a dsn.
        """
        if not _SCHEMA.fullmatch(self.schema) or self.schema in _RESERVED or self.schema.startswith("pg_"):
            raise ConfigError(
                "the postgres backend's option 'schema' must be a lower-case name of letters, digits and _ that is no "
                "reserved word of SQL and does not begin with pg_"
            )
        self.conninfo()
        return self

    def conninfo(self) -> dict[str, Any]:
        """Return libpq's parameters.

        :raises ConfigError: the dsn cannot be parsed, or only in a way that its author cannot have meant.
        """
        dsn = self.dsn or os.environ.get(DSN_VARIABLE) or ""
        # SQLAlchemy's form.
        dsn = re.sub(r"^postgresql\+\w+:", "postgresql:", dsn)
        url = _URL.match(dsn)
        if url and _is_torn(url["address"]):
            raise ConfigError(_UNESCAPED)
        try:
            found: dict[str, Any] = dict(conninfo_to_dict(dsn))
        except psycopg.Error:
            raise ConfigError(
                _UNESCAPED if url and "@" in dsn else f"the postgres backend's dsn cannot be read; it is like {_LIKE}"
            ) from None
        for name, value in (("service", self.service), ("sslmode", self.sslmode)):
            if value is not None:
                found[name] = value
        if any(_is_address(value) for name, value in _completed(found).items() if name != "port"):
            raise ConfigError(
                "the host or the database of the postgres backend, in its dsn or in PGHOST and PGDATABASE, is a whole "
                f"address: write it as the dsn, like {_LIKE}"
            )
        for name in ("port", "connect_timeout"):
            if not re.fullmatch(r"-?\d*(,\d*)*", str(found.get(name) or "")):
                raise ConfigError(f"the postgres backend's dsn has no number as its {name}; it is like {_LIKE}")
        return found

    def seconds(self, known: dict[str, Any]) -> int:
        """Return the seconds to wait for the server: the dsn's, else the option's.

        :param known: libpq's parameters.
        """
        given = int(known.get("connect_timeout") or 0)
        return given if given > 0 else self.connect_timeout


def place(known: dict[str, Any]) -> str:
    """Return the name of a database for people, without a password: every host with its port.

    :param known: libpq's parameters.
    """
    service = known.get("service") or os.environ.get("PGSERVICE")
    return f"PostgreSQL (service {service})" if service else _address(_completed(known))


def audience(known: dict[str, Any], schema: str) -> str:
    """Return what tells the readers of one schema from those of another one, whatever leads to it.

    A service is named and resolved: its section may lead to another server tomorrow.

    :param known: libpq's parameters.
    """
    whole = _completed(known)
    name = _address(whole)
    if whole.get("host") and whole.get("hostaddr"):
        name += f" ({whole['hostaddr']})"
    return name if schema == SCHEMA else f"{name}, schema {schema}"


def _address(whole: dict[str, Any]) -> str:
    hosts = _several(whole.get("host") or whole.get("hostaddr"), "localhost")
    ports = _several(whole.get("port"), "5432")
    ports = ports if len(ports) == len(hosts) else ports[:1] * len(hosts)
    hosts = [f"[{host}]" if ":" in host else host for host in hosts]
    listed = ",".join(map(":".join, zip(hosts, ports, strict=True)))
    name = whole.get("dbname") or whole.get("user") or "its default database"
    return re.sub(r"[^\S ]", "?", f"PostgreSQL at {listed}/{name}")


def _completed(known: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that name a database, with those that libpq takes from a service and the environment."""
    service = known.get("service") or os.environ.get("PGSERVICE")
    section = _section(str(service), known.get("servicefile")) if service else {}
    return {name: known.get(name) or section.get(name) or os.environ.get(variable) for name, variable in _PLACES}


def _section(service: str, file: str | None) -> dict[str, str]:
    """Return the section of a service in libpq's files; none when there is no such file or section."""
    system = os.environ.get("PGSYSCONFDIR") or "/etc/postgresql-common"
    own = file or os.environ.get("PGSERVICEFILE") or os.path.expanduser("~/.pg_service.conf")
    for path in (own, os.path.join(system, "pg_service.conf")):
        try:
            with open(path, encoding="utf-8", errors="replace") as lines:
                text = lines.read()
        except OSError:
            continue  # libpq reports what it needs and cannot read
        found = re.search(rf"^\[{re.escape(service)}\][^\n]*\n(.*?)(?=^\[|\Z)", text, re.MULTILINE | re.DOTALL)
        if found:
            pairs = (line.split("=", 1) for line in found[1].splitlines() if "=" in line and not line.startswith("#"))
            return {name.strip(): value.strip() for name, value in pairs}
    return {}


def _several(value: object, default: str) -> list[str]:
    return [part or default for part in str(value or "").split(",")]


def _is_address(value: object) -> bool:
    """Return whether a name is a URL or a connection string, of which libpq would use no part, and messages all."""
    return re.search(r"://|(?:^|\s)(?:host|user|password|dbname)\s*=", str(value or "")) is not None


def _is_torn(address: str) -> bool:
    """Return whether a URL's address has an @ in its password, or a / before the @."""
    before, at, after = address.partition("@")
    return bool(at) and ("@" in after or "/" in before)
