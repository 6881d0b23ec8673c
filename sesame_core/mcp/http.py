"""Streamable HTTP: only on request, only to bearers of the token, only under names that are this server's."""

from __future__ import annotations

import ipaddress
import os
import secrets
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware.authentication import AuthenticationMiddleware

from ..config import paths
from ..dataclass import dataclass
from ..errors import QueryError, SesameError

#: Environment variable with the token.
TOKEN = "SESAME_MCP_TOKEN"
#: Least characters of a token: 128 bits, as `secrets` encodes them.
MIN_TOKEN = 22
#: Path of the endpoint.
PATH = "/mcp"


@dataclass(frozen=True, slots=True)
class Place:
    """An address to listen on."""

    host: str
    port: int

    @classmethod
    def read(cls, text: str) -> Place:
        """Parse `HOST:PORT`, `[IPv6]:PORT` or a port alone, which means this machine's own address.

        :raises QueryError: it is none of them.
        """
        host, _, port = text.rpartition(":")
        host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
        if not (port.isascii() and port.isdigit() and int(port) < 65536):
            raise QueryError(f"--http {text!r} is not HOST:PORT, such as 127.0.0.1:8765")
        return cls(host, int(port))

    @property
    def url(self) -> str:
        """The endpoint's URL."""
        return f"http://{_in_url(self.host)}:{self.port}{PATH}"


class _OneToken:
    """A verifier of one token."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the bearer of the token, None for another token; compared in constant time."""
        if not secrets.compare_digest(token.encode("utf-8", "surrogateescape"), self._token):
            return None
        return AccessToken(token=token, client_id="sesame", scopes=[])


def token(file: Path | None) -> tuple[str, str]:
    """Return the token and its origin: the given file, else the environment, else the data directory.

    A missing file is created, readable by its owner alone, with a new token.

    :raises SesameError: it cannot be read or created, or the token is too short to be a secret.
    """
    if file is None and (found := os.environ.get(TOKEN)):
        return _strong(found.strip(), TOKEN), f"the token is that of {TOKEN}"
    file = file or paths.data_dir() / "mcp-token"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return _strong(file.read_text(encoding="utf-8").strip(), str(file)), f"the token is in {file}"
        made = secrets.token_urlsafe(32)
        with open(descriptor, "w", encoding="utf-8") as out:
            out.write(made + "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SesameError(f"{file}: the token cannot be read or created: {error}") from error
    return made, f"a new token is in {file}"


def _strong(token: str, place: str) -> str:
    if len(token) < MIN_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise SesameError(f"the token of {place} must be {MIN_TOKEN} or more plain characters; delete it for a new one")
    return token


def application(protocol: Server[Any], place: Place, token: str, names: Sequence[str] = ()) -> Starlette:
    """Return the ASGI application.

    :param names: further host names by which clients reach this server.
    """
    verifier = _OneToken(token)
    app = protocol.streamable_http_app(
        streamable_http_path=PATH,
        host=place.host,
        token_verifier=verifier,
        transport_security=_security(place, names),
    )
    app.add_middleware(AuthenticationMiddleware, backend=BearerAuthBackend(verifier))
    return app


def listen(place: Place) -> tuple[socket.socket, Place]:
    """Return a socket that accepts connections, and its address: port 0 means any free port.

    :raises SesameError: the address is in use, or does not belong to this machine.
    """
    listening = socket.socket(socket.AF_INET6 if ":" in place.host else socket.AF_INET)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((place.host, place.port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise SesameError(f"cannot listen on {place.host}:{place.port}: {error.strerror or error}") from error
    return listening, Place(place.host, listening.getsockname()[1])


def serve(application: Starlette, listening: socket.socket) -> None:
    """Serve until the process is stopped."""
    with listening:
        # Requests are not logged: they contain session text, too.
        uvicorn.Server(uvicorn.Config(application, log_level="warning", access_log=False)).run(sockets=[listening])


def _security(place: Place, names: Sequence[str]) -> TransportSecuritySettings:
    """Return the hosts and origins that a request may name: requests of other web pages are refused."""
    hosts = {"localhost", "127.0.0.1", "[::1]", *map(_in_url, names)}
    if not _is_everywhere(place.host):
        hosts.add(_in_url(place.host))
    known = sorted(hosts)
    return TransportSecuritySettings(
        allowed_hosts=[*known, *(f"{host}:*" for host in known)],
        allowed_origins=[
            f"{scheme}://{host}{port}" for scheme in ("http", "https") for host in known for port in ("", ":*")
        ],
    )


def _is_everywhere(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
