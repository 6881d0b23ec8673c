"""The HTTP API: what the command line prints as JSON, with the same names, each endpoint declared once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ..query.fields import FIELDS
from ..rendering.answers import answer_json
from ..rendering.schemas.openapi import Endpoint, Parameter
from ..rendering.sessions import marked_json, sessions_json
from ..rendering.status import status_json
from ..rendering.text import as_json
from ..rendering.transcripts import transcript_json
from .asking import Asked, number
from .marking import mark

if TYPE_CHECKING:
    from .desk import Desk

LIMIT = Parameter("limit", "Results at most.", 1, 1_000, 10)
OFFSET = Parameter("offset", "Results to skip.", 0, 1_000_000, 0)
MESSAGES = (
    Parameter("offset", "Position of the first message.", 0, 2**31, 0),
    Parameter("limit", "Messages at most.", 0, 1_000, 200),
)


def _search(desk: Desk, session: str, given: QueryParams) -> Any:
    report = desk.refreshed()
    limit, offset, hits = (_number(one, given) for one in SEARCH[1:])
    asked = Asked(given)
    return answer_json(desk.sesame.search(asked.q, asked.filters, limit=limit, offset=offset, passages=hits), report)


def _sessions(desk: Desk, session: str, given: QueryParams) -> Any:
    filters, offset = Asked(given).filters, _number(OFFSET, given)
    found, total = desk.sesame.list_sessions(filters, limit=_number(LIMIT, given), offset=offset)
    return sessions_json(found, total, offset, desk.sesame.kept_out(filters, total), desk.sesame.as_it_is())


def _session(desk: Desk, session: str, given: QueryParams) -> Any:
    return transcript_json(desk.sesame.get_session(session), (), desk.sesame.as_it_is())


def _messages(desk: Desk, session: str, given: QueryParams) -> Any:
    offset, limit = (_number(one, given) for one in MESSAGES)
    stored = desk.sesame.get_session(session)
    return transcript_json(
        stored, desk.sesame.list_messages(stored, offset=offset, limit=limit), desk.sesame.as_it_is()
    )


def _marks(desk: Desk, session: str, given: QueryParams) -> Any:
    return marked_json([desk.sesame.get_session(session)])


def _mark(desk: Desk, session: str, given: Mapping[str, Any]) -> Any:
    return marked_json([mark(desk, session, given)])


def _status(desk: Desk, session: str, given: QueryParams) -> Any:
    sesame = desk.sesame
    unread = sesame.unread()
    unread.looked_in, unread.unread_roots = sesame.looked_in(), sesame.unread_roots()
    return status_json(sesame.status(), sesame.expiring(), sesame.plugins.catalogue(), unread, sesame.team.server())


SEARCH = (
    Parameter("q", "The query; none for the latest sessions."),
    LIMIT,
    OFFSET,
    Parameter("hits", "Passages of each session at most.", 1, 100, 1),
)
MARKS = ("starred", "tag", "untag", "name", "note")
OF_SESSIONS = tuple(field for field in FIELDS if not field.is_of_passages)
ENDPOINTS = (
    Endpoint("/search", "The sessions that match a query.", "answers.AnswerJson", _search, SEARCH, FIELDS),
    Endpoint("/sessions", "The latest sessions.", "sessions.SessionsJson", _sessions, (LIMIT, OFFSET), OF_SESSIONS),
    Endpoint("/sessions/{session}", "A session without its messages.", "sessions.TranscriptJson", _session),
    Endpoint("/messages/{session}", "A page of a session.", "sessions.TranscriptJson", _messages, MESSAGES),
    Endpoint("/marks/{session}", "A session with its marks.", "sessions.MarkedJson", _marks),
    Endpoint("/marks/{session}", "Mark a session.", "sessions.MarkedJson", _mark, sent=MARKS),
    Endpoint("/status", "The state of the index.", "status.StatusJson", _status),
)


def routes(desk: Desk) -> Iterator[Route]:
    """Yield the routes below `/api`."""

    def answering(endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            given = await _object(request) if endpoint.sent else request.query_params
            session = str(request.path_params.get("session", ""))
            return as_response(await desk.call(endpoint.run, desk, session, given))

        return answer

    for one in ENDPOINTS:
        path = one.path.replace("{session}", "{session:path}")
        yield Route(path, answering(one), methods=["POST" if one.sent else "GET"])


def _number(parameter: Parameter, given: QueryParams) -> int:
    least = parameter.least or 0
    return number(given, parameter.name, parameter.default, least=least, most=parameter.most)


async def _object(request: Request) -> Mapping[str, Any]:
    """Return the JSON object that a request has sent."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "send JSON, with Content-Type: application/json")
    try:
        given = await request.json()
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is not valid JSON") from None
    if not isinstance(given, dict):
        raise HTTPException(400, "the body must be a JSON object")
    return given


def as_response(value: Any) -> Response:
    """Return a value as an answer."""
    return Response(as_json(value).encode("utf-8", "replace"), media_type="application/json")
