"""The application: which path is answered by what, and what an error looks like."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from ..errors import BackendError, QueryError, SesameError, UnknownSessionError
from ..rendering.export.formats import written
from ..rendering.schemas.openapi import document
from . import api
from .asking import Asked, url
from .guard import Guard, cookies_of, secrets_of
from .marking import ReadOnlyError, mark
from .reading import session_page
from .searching import search_page, session_path
from .showing import page

if TYPE_CHECKING:
    from ..runtime.doors import Doors
    from .desk import Desk
    from .live import Live

#: Seconds until an attempt with a wrong secret is answered.
WRONG_SECONDS = 0.5
#: Types of exports, by format.
TYPES = {"html": "text/html", "json": "application/json", "md": "text/markdown"}
#: Statuses of errors, the most particular first.
STATUSES: tuple[tuple[type[SesameError], int], ...] = (
    (UnknownSessionError, 404),
    (QueryError, 400),
    (ReadOnlyError, 403),
    (BackendError, 503),
    (SesameError, 500),
)
#: Where a form may lead back to: a page of this server.
_WITHIN = re.compile(r"/(?:s/[\w.%~+:/-]+)?(?:\?[\w.%~+:/=&-]*)?", re.ASCII)


class Pages:
    """The handlers of requests for pages."""

    def __init__(self, desk: Desk, doors: Doors, live: Live, cookie: str, entered: Callable[[], None]) -> None:
        self._desk = desk
        self._doors = doors
        self._live = live
        self._cookie = cookie
        self._entered = entered

    async def search(self, request: Request) -> Response:
        """Answer with a search, or with the latest sessions."""
        return HTMLResponse(await self._desk.call(search_page, self._desk, Asked(request.query_params)))

    async def session(self, request: Request) -> Response:
        """Answer with a session."""
        reference = request.path_params["session"]
        return HTMLResponse(await self._desk.call(session_page, self._desk, reference, request.query_params))

    async def mark(self, request: Request) -> Response:
        """Mark a session, and lead back to its page."""
        form = await request.form(max_files=0, max_fields=20)
        given = {name: value for name, value in form.items() if isinstance(value, str)}
        stored = await self._desk.call(mark, self._desk, request.path_params["session"], given)
        at = given.get("at", "")
        return RedirectResponse(url(session_path(stored.session.id), {"at": at if at.isdigit() else ""}), 303)

    async def export(self, request: Request) -> Response:
        """Answer with a session as a file of its own."""
        kind = request.query_params.get("as", "md")
        if kind not in TYPES:
            raise QueryError(f"as must be one of {', '.join(TYPES)}")
        made = await self._desk.call(self._desk.sesame.export, request.path_params["session"])
        name = quote(f"{made.parts[0].stored.session.id}.{kind}".replace("/", "-"), safe="")
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
        content = (piece.encode("utf-8", "replace") for piece in written(made, kind))
        return StreamingResponse(content, media_type=f"{TYPES[kind]}; charset=utf-8", headers=headers)

    async def enter(self, request: Request) -> Response:
        """Let a browser in that has a token or the password."""
        form = await request.form(max_files=0, max_fields=4)
        made = self._doors.enter(str(form.get("secret", "")).strip())
        if made is None:
            await asyncio.sleep(WRONG_SECONDS)
            return door(request, "That token is not valid, or it was used already: a token opens one browser.")
        self._entered()
        to = str(form.get("to", "/"))
        answer = RedirectResponse(to if _WITHIN.fullmatch(to) else "/", 303)
        # Only the browser knows whether a proxy encrypts; the guard has checked what it says.
        is_secure = request.headers.get("origin", "").startswith("https:")
        answer.set_cookie(self._cookie, made, httponly=True, samesite="strict", path="/", secure=is_secure)
        return answer

    async def leave(self, request: Request) -> Response:
        """Let a browser out."""
        self._doors.leave(cookies_of(request.headers, self._cookie))
        self._live.wake()
        answer = RedirectResponse("/", 303)
        answer.delete_cookie(self._cookie, httponly=True, samesite="strict", path="/")
        return answer

    async def events(self, request: Request) -> Response:
        """Answer with what changes from now on."""
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        session, secrets = request.query_params.get("session"), secrets_of(request.headers, self._cookie)
        if session:
            stored = await self._desk.call(self._desk.sesame.get_session, session, is_certain=True)
            session = stored.session.id
        known = request.headers.get("last-event-id", "")
        return self._live.stream(session or None, known, lambda: self._doors.is_in(*secrets))

    async def described(self, request: Request) -> Response:
        """Answer with the description of the HTTP API."""
        return api.as_response(document(api.ENDPOINTS))

    def routes(self) -> list[Route | Mount]:
        """Return the paths of pages."""
        return [
            Route("/", self.search),
            Route("/s/{session:path}", self.session),
            Route("/export/{session:path}", self.export),
            Route("/mark/{session:path}", self.mark, methods=["POST"]),
            Route("/enter", self.enter, methods=["POST"]),
            Route("/leave", self.leave, methods=["POST"]),
            Route("/api/events", self.events),
            Route("/api/openapi.json", self.described),
            Mount("/api", routes=list(api.routes(self._desk))),
            Mount("/static", StaticFiles(directory=Path(__file__).parent / "static")),
        ]


def door(request: Request, problem: str = "") -> Response:
    """Return the page for those who are not in."""
    to = request.url.replace(scheme="", netloc="") if request.method == "GET" else "/"
    return HTMLResponse(page("door.html", problem=problem, to=str(to)), 401)


async def _door(scope: Scope, receive: Receive, send: Send) -> None:
    await door(Request(scope))(scope, receive, send)


def application(
    desk: Desk,
    doors: Doors,
    live: Live,
    *,
    names: Collection[str],
    cookie: str,
    entered: Callable[[], None] = lambda: None,
) -> Guard:
    """Return the application.

    :param live: the streams of what changes; who runs the application ends them, since they do not end by themselves.
    :param names: the hosts that a request may name.
    :param cookie: the name of the cookie.
    :param entered: called when a browser was let in, and at the end.
    """

    @asynccontextmanager
    async def living(app: Starlette) -> AsyncIterator[None]:
        with suppress(SesameError):  # the first page says it
            await desk.call(desk.refreshing)
        try:
            yield
        finally:
            # Here, since a server that is told to end may not come back to who started it.
            entered()
            await asyncio.to_thread(desk.close)

    app = Starlette(
        routes=Pages(desk, doors, live, cookie, entered).routes(),
        exception_handlers={SesameError: _failed, HTTPException: _failed},
        lifespan=living,
    )
    # Around all of it: the answer to an error that nobody expected has the headers of all answers, too.
    return Guard(app, doors=doors, names=names, cookie=cookie, door=_door)


async def _failed(request: Request, error: Exception) -> Response:
    """Return what an error looks like: a page, or JSON to a program."""
    status, message, headers = 500, "", None
    if isinstance(error, SesameError):
        status = next(status for kind, status in STATUSES if isinstance(error, kind))
        message = error.message if isinstance(error, UnknownSessionError) else str(error)
    elif isinstance(error, HTTPException):
        status, message, headers = error.status_code, error.detail, error.headers
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": message}, status, headers)
    return HTMLResponse(page("error.html", status=status, message=message), status, headers)
