"""Streamable HTTP: only on request, only to bearers of the token, only under names that are this server's."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware.authentication import AuthenticationMiddleware

from ..runtime import listening, serving
from ..runtime.doors import Doors

#: Environment variable with the token.
TOKEN = "SESAME_MCP_TOKEN"
#: Path of the endpoint.
PATH = "/mcp"
#: Most bytes of the body of a request: arguments of a tool are far smaller.
BODY_BYTES = 1_048_576


class Place(listening.Place):
    """An address to listen on, and the endpoint there."""

    __slots__ = ()

    @property
    def url(self) -> str:
        """The endpoint's URL."""
        return f"http://{listening.in_url(self.host)}:{self.port}{PATH}"


class _OneToken:
    """A verifier of one token."""

    def __init__(self, token: str) -> None:
        self._doors = Doors(password=token)

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the bearer of the token, None for another token."""
        if not self._doors.is_in((), token):
            return None
        return AccessToken(token=token, client_id="sesame", scopes=[])


def token(file: Path | None) -> tuple[str, str]:
    """Return the token and its origin, as `runtime.listening.secret` does."""
    return listening.secret(file, variable=TOKEN, name="mcp-token")


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


def serve(application: Starlette, accepting: socket.socket) -> None:
    """Serve until the process is stopped."""
    serving.serve(serving.Bounded(application, BODY_BYTES), accepting)


def _security(place: Place, names: Sequence[str]) -> TransportSecuritySettings:
    """Return the hosts and origins that a request may name: requests of other web pages are refused."""
    known = place.names(names)
    return TransportSecuritySettings(
        allowed_hosts=[*known, *(f"{host}:*" for host in known)],
        allowed_origins=[
            f"{scheme}://{host}{port}" for scheme in ("http", "https") for host in known for port in ("", ":*")
        ],
    )
