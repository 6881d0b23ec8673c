"""What every request must pass before a page sees it, and what every answer has: the rules of a local server."""

from __future__ import annotations

from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..runtime.doors import Doors
from ..runtime.serving import Bounded

#: Most bytes of the body of a request.
BODY_BYTES = 65_536
#: What is open to all: the door itself, and what every installation has.
DOOR, STATIC = "/enter", "/static/"
#: Only the server's own files are loaded and run; nothing inline, no frames, no forms to elsewhere.
POLICY = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
#: What every answer has.  Without any referrer, a browser would send the server's own forms as those of nobody
#: (`Origin: null`).
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


class Guard:
    """Middleware that refuses requests under other names, from other pages, of strangers, and those that never end.

    :param names: the hosts that a request may name, without ports.
    :param cookie: the name of the cookie; ports share cookies.
    :param door: the page for those who are not in.
    """

    def __init__(self, app: ASGIApp, *, doors: Doors, names: Collection[str], cookie: str, door: ASGIApp) -> None:
        self._app = Bounded(app, BODY_BYTES)
        self._doors = doors
        self._names = frozenset(names)
        self._cookie = cookie
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers, path = Headers(scope=scope), str(scope["path"])
        app: ASGIApp | None = _refused(scope["method"], headers, self._names)
        is_open = path == DOOR or path.startswith(STATIC)
        if app is None and not is_open and not self._doors.is_in(*secrets_of(headers, self._cookie)):
            app = _stranger if path.startswith("/api/") else self._door
        await (app or self._app)(scope, receive, _guarded(send))


def secrets_of(headers: Headers, cookie: str) -> tuple[list[str], str]:
    """Return what a visitor shows: the values of the cookie, and the password of a program; "" for none."""
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    return cookies_of(headers, cookie), bearer if scheme.lower() == "bearer" else ""


def cookies_of(headers: Headers, name: str) -> list[str]:
    """Return the values of a cookie: other servers of this machine may set one of its name, too, for some paths."""
    pairs = (one.strip().partition("=") for line in headers.getlist("cookie") for one in line.split(";"))
    return [value for found, _, value in pairs if found == name]


def _refused(method: str, headers: Headers, names: Collection[str]) -> Response | None:
    """Return the refusal of a request that another web page may have caused; None for others."""
    hosts = headers.getlist("host")
    if len(hosts) != 1 or _without_port(hosts[0]) not in names:
        return PlainTextResponse("this server has another name; name it with --allow-host or --behind\n", 421)
    origins = headers.getlist("origin")
    if origins and origins not in ([f"{scheme}://{hosts[0]}"] for scheme in ("http", "https")):
        return PlainTextResponse("requests of other pages are refused\n", 403)
    site = headers.get("sec-fetch-site", "none")
    is_visit = method == "GET" and headers.get("sec-fetch-mode") == "navigate"
    if site in ("none", "same-origin") or (is_visit and headers.get("sec-fetch-dest") == "document"):
        return None
    return PlainTextResponse("requests of other pages are refused\n", 403)


def _without_port(host: str) -> str:
    name, _, port = host.rpartition(":")
    return name.lower() if name and port.isdigit() else host.lower()


async def _stranger(scope: Scope, receive: Receive, send: Send) -> None:
    said = {"error": "not let in: show the cookie of a browser that is, or the password as a bearer"}
    await JSONResponse(said, 401, {"WWW-Authenticate": "Bearer"})(scope, receive, send)


def _guarded(send: Send) -> Send:
    """Return a `send` that gives each answer the headers of all."""

    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return guarded
