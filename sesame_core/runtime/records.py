"""The records that a `Runtime` writes; one that no index could take is refused before anything is written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from ..errors import SesameError

if TYPE_CHECKING:
    from ..types.transcript import ToolCall, ToolResult

Speaker: TypeAlias = Literal["user", "assistant", "system", "tool"]
SPEAKERS: tuple[str, ...] = get_args(Speaker)
#: Most characters of a value that a message repeats.
SHOWN = 100


def header(session: str, agent: str, created_by: str, created_at: str, **more: str | None) -> dict[str, Any]:
    """Return the header of a session.

    :raises SesameError: the agent has no name.
    """
    made = {"id": session, "agent": _filled(agent, "the name of an agent")}
    made |= {"createdBy": _string(created_by, "createdBy"), "createdAt": created_at}
    return made | {key: _string(value, key) for key, value in more.items() if value}


def message(
    role: Speaker, text: str, tool_calls: Iterable[ToolCall], tool_results: Iterable[ToolResult]
) -> dict[str, Any]:
    """Return the record of a message.

    :raises SesameError: the role is not one of `Speaker`, a call has no name, or a text is not a string.
    """
    if role not in SPEAKERS:
        raise SesameError(f"{_shown(role)} is not a role of a message: use {', '.join(SPEAKERS)}")
    record: dict[str, Any] = {"role": role, "text": _string(text, "the text of a message")}
    calls = [
        {
            "id": _string(c.id, "the id of a tool call"),
            "name": _filled(c.name, "the name of a tool call"),
            "arguments": dict(c.arguments),
        }
        for c in tool_calls
    ]
    results = [
        {
            "callId": _string(r.call_id, "the id of a tool result"),
            "name": _string(r.name, "the name of a tool result"),
            "text": _string(r.text, "the text of a tool result"),
            "isError": r.is_error,
        }
        for r in tool_results
    ]
    return {**record, **({"toolCalls": calls} if calls else {}), **({"toolResults": results} if results else {})}


def summary(text: str) -> dict[str, Any]:
    """Return the record of a summary.

    :raises SesameError: it is empty.
    """
    return {"summary": _filled(text, "a summary")}


def title(text: str) -> dict[str, Any]:
    """Return the record of a title.

    :raises SesameError: it is empty.
    """
    return {"title": _filled(text, "a title")}


def _string(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise SesameError(f"{what} must be a string, not {_shown(value)}")
    return value


def _filled(value: object, what: str) -> str:
    text = _string(value, what)
    # A NUL is no character of an indexed text.
    if not text.replace("\0", "").strip():
        raise SesameError(f"{what} cannot be empty")
    return text


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= SHOWN else shown[:SHOWN] + "…"
