"""Converts errors of the server and of the driver into one line that says what to do, never with a password."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

import psycopg
from psycopg import errors

from sesame_core.errors import BackendError

#: What a person does about a schema that is not this Sesame's; only the owner of the tables can.
PREPARE = "sesame workstations --prepare"

#: The message by SQLSTATE, or by its class; `{role}`, `{place}` and `{message}` are placeholders.
_ADVICE = {
    "53": "{place} has run out of something: {message}; nothing was lost, run it again later",
    "57014": "{place} took too long for a statement, which was cancelled; try again, or narrow the search",
    "55P03": "{place}: another connection holds a lock that is needed; try again, or see docs/team.md who it is",
    "25006": "{place} is read-only (a replica?): index into the primary server",
    "25P03": "{place} ended a transaction that was idle: {message}; raise idle_in_transaction_session_timeout",
    "25P04": "{place} ended a transaction that took too long: {message}; raise transaction_timeout",
    "57P05": "{place} ended a connection that was idle: {message}; try again, or raise idle_session_timeout",
    "42501": "{role} may not do that at {place}: {message}; see the roles in docs/team.md",
    "40": "{place}: {message}; nothing was stored, run it again",
    "XX": "{place} reports damage: {message}; ask whoever runs it",
}
#: The message for a connection that is refused, by a part of the server's text: there is no SQLSTATE then.
_REFUSED = (
    (
        "password authentication failed|no password supplied|SASL authentication failed",
        "{place} refuses the password of {role}: check the dsn, PGPASSWORD or ~/.pgpass",
    ),
    (
        "too many connections for role|too many connections for user",
        "{place} allows {role} no further connection: try again later, or ALTER ROLE {name} CONNECTION LIMIT -1",
    ),
    (
        "too many connections for database",
        "{place} has no connection left: try again later, or raise the database's CONNECTION LIMIT",
    ),
    (
        "too many clients|remaining connection slots",
        "{place} has no connection left: try again later, or raise its max_connections",
    ),
    (
        "no more connections allowed|query_wait_timeout|max_client_conn|no free connections",
        "the pooler {place} has no connection left ({message}): try again later, or raise max_client_conn or its "
        "pool sizes",
    ),
    (
        "unsupported startup parameter",
        "the pooler {place} refuses a setting of the dsn ({message}): remove it from the dsn",
    ),
    (
        "server_login_retry|server login failed|server conn crashed|pgbouncer cannot connect|no such user",
        "the pooler {place} does not get through to its server: {message}",
    ),
    (
        "starting up|shutting down|not yet accepting connections|in recovery mode",
        "{place} is starting up or shutting down; try again in a moment",
    ),
    (
        'database "[^"]*" does not exist|no such database',
        "{place}: {message}; create it first, or check the dsn",
    ),
    (
        "permission denied for database",
        "{place} refuses {role}: {message}; as the database's owner run: "
        "GRANT CONNECT ON DATABASE {database} TO {name}",
    ),
    (
        "is not permitted to log in",
        "{place} refuses {role}: {message}; as an administrator run: ALTER ROLE {name} LOGIN",
    ),
    (
        "no pg_hba.conf entry.*no encryption",
        "{place} refuses a connection without TLS ({message}): set sslmode=verify-full",
    ),
    ("no pg_hba.conf entry", "{place} refuses {role}: {message}; ask whoever runs it"),
    (
        "does not support SSL",
        "{place} has no TLS, which sslmode demands: set ssl = on there, or ask whoever runs it",
    ),
    (
        "root certificate file .* does not exist",
        "{place} cannot be verified: {message}; name the authority's certificate in sslrootcert, or use "
        "sslrootcert=system",
    ),
    (
        "certificate verify failed|certificate signed by",
        "{place} has a certificate of an authority that sslrootcert does not name, or an expired one: {message}",
    ),
    (
        "does not match host name",
        "{place} is not whom its certificate names: {message}; use a name of the certificate as the host",
    ),
    ("certificate|private key file", "{place}: {message}; check sslcert, sslkey and sslrootcert"),
    (
        "session is read-only|server is in hot standby mode|server is not in hot standby|session is not read-only",
        "{place}: no host is as target_session_attrs demands ({message})",
    ),
)


class LostError(BackendError):
    """The server cannot be reached, or closed the connection."""


@contextmanager
def translated(place: str, role: str) -> Iterator[None]:
    """Convert the driver's errors inside the block into `BackendError`.

    :param place: the server and the database, for the message.
    :param role: the connected role, for the message.
    """
    try:
        yield
    except psycopg.Error as error:
        raise explained(error, place, role) from error


class _HasPlace(Protocol):
    @property
    def place(self) -> str: ...

    @property
    def role(self) -> str: ...


S = TypeVar("S", bound=_HasPlace)
P = ParamSpec("P")
T = TypeVar("T")


def translating(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Wrap a method of an object that has `place` and `role`, so that the driver's errors become `BackendError`s."""

    @wraps(method)
    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with translated(self.place, self.role):
            return method(self, *args, **kwargs)

    return call


def explained(error: psycopg.Error, place: str, role: str) -> BackendError:
    """Return the error of a connection that was open, with the message for people."""
    state = error.sqlstate or ""
    message = _first_line(error)
    named = _named(role)
    advice = _ADVICE.get(state)
    if advice is None and (text := _refusal(message)) and state[:2] in ("", "08", "53"):
        advice = text
    if advice is None:
        advice = _ADVICE.get(state[:2])
    if advice is not None:
        return BackendError(
            advice.format(place=place, role=named, name=identifier(role), message=message, database="…")
        )
    is_lost = state[:2] == "08" or state in ("57P01", "57P02", "57P03")
    if is_lost or (not state and isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)):
        return LostError(f"{place} does not answer any more: {message}; what was stored is kept, run it again")
    if isinstance(error, errors.UndefinedTable | errors.UndefinedFunction | errors.UndefinedColumn):
        return BackendError(
            f"{place} has another schema than this Sesame's ({message}): the owner of its tables upgrades it with: "
            f"{PREPARE}"
        )
    return BackendError(f"{place}: {message}")


def refused(error: psycopg.Error, place: str, role: str, database: str) -> BackendError:
    """Return the error of a connection that was not made, with the message for people.

    :param role: "" for the operating system's user.
    """
    texts = _attempts(error)
    # Of several attempts, one that says more than that nobody is there.
    for text in sorted(texts, key=lambda text: "no pg_hba.conf entry" in text):
        if advice := _refusal(text):
            return BackendError(
                advice.format(
                    place=place,
                    role=_named(role),
                    name=identifier(role) if role else "…",
                    message=text,
                    database=identifier(database) if database else "…",
                )
            )
    told = "; ".join(texts)
    if "FATAL" in str(error):
        return BackendError(f"{place} refuses {_named(role)}: {told}")
    return LostError(f"{place} cannot be reached: {told} (the index is there, and no copy of it on this machine)")


def identifier(name: str) -> str:
    """Return a name as SQL has it."""
    return name if re.fullmatch("[a-z_][a-z0-9_]*", name) else '"{}"'.format(name.replace('"', '""'))


def _named(role: str) -> str:
    return f"role {role!r}" if role else "this role"


def _refusal(message: str) -> str | None:
    return next((advice for part, advice in _REFUSED if re.search(part, message)), None)


def _attempts(error: psycopg.Error) -> list[str]:
    """Return what each attempt to connect ended with, each text once; with the host, if there are several texts."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    several = re.findall(r"^- host: (.*?), port: (.*?), hostaddr: (.*?): (.*)$", str(error), re.MULTILINE)
    texts = list(dict.fromkeys(_plain(text) for *_, text in several))
    if len(texts) > 1:
        return [f"{host.strip(chr(39))}: {_plain(text)}" for host, _, _, text in several]
    if texts:
        return texts
    # Of one host: a line for each way of encryption that was tried.
    tried = [_plain(line) for line in lines if "failed: " in line]
    return list(dict.fromkeys(tried)) or [_plain(lines[0])]


def _plain(line: str) -> str:
    """Return a message without the names of the addresses and what comes before it."""
    text = line.strip().removeprefix("connection failed: ")
    if text.startswith("connection to server") and "failed: " in text:
        text = text.split("failed: ", 1)[1] or text
    text = re.sub(r"^(FATAL|ERROR): +", "", text)
    return {"connection timeout expired": "no answer"}.get(text, text).strip()


def _first_line(error: psycopg.Error) -> str:
    primary = error.diag.message_primary if error.diag else None
    lines = (primary or str(error)).strip().splitlines() or [type(error).__name__]
    return _plain(lines[0])
