"""Cuts messages into chunks: one for the text, one for each tool call, one for each tool result."""

from __future__ import annotations

from sesame_core import Chunk, Message, Options, ToolCall, ToolResult
from sesame_core.sdk.options import COUNT, check

from .session_search import REFERENCE, is_session_search, runs_session_search
from .shortening import shortened, without_payloads
from .tool_calls import describe

#: Indexed characters of a tool result; 98 % of 4,891 results in real pi and Claude Code sessions are shorter.
RESULT_LIMIT = 16_384
#: Indexed characters of a tool call; the longest of 4,926 calls in the same sessions has 62,826.
CALL_LIMIT = 65_536


class DefaultFormatter:
    """Makes a chunk of everything that a person might search for.

    :param result_limit: most indexed characters of a tool result.
    :param call_limit: most indexed characters of a tool call.

    Messages of people and agents are never cut.  Results of tools that search sessions make no chunk, nor do the
    passages that an agent gets about a session that a prompt refers to: they repeat other sessions, and would be
    found instead of them.
    """

    def __init__(self, *, result_limit: int = RESULT_LIMIT, call_limit: int = CALL_LIMIT) -> None:
        self._result_limit = result_limit
        self._call_limit = call_limit

    @classmethod
    def from_options(cls, options: Options) -> DefaultFormatter:
        """Return a formatter with a source's `options`.

        :raises ConfigError: an option is unknown or is not a positive whole number.
        """
        check("the default formatter", options, {"result_limit": COUNT, "call_limit": COUNT})
        return cls(**options)

    def format(self, message: Message) -> list[Chunk]:
        """Return the message's chunks: its text, then its calls, then its results."""
        chunks: list[Chunk] = []
        text = message.text
        if text and not text.isspace() and message.source_type != REFERENCE:
            is_about_session = message.role in ("summary", "metadata")
            chunks.append(
                Chunk(
                    kind="metadata" if is_about_session else "message",
                    text=text,
                    role=message.role,
                    is_error=message.is_error,
                )
            )
        if message.tool_calls:
            chunks += [self._call(call) for call in message.tool_calls]
        for result in message.tool_results:
            if result.text and not result.text.isspace() and not _repeats_sessions(result, message):
                chunks.append(self._result(result))
        return chunks

    def _call(self, call: ToolCall) -> Chunk:
        text, paths = describe(call)
        text, dropped = without_payloads(text)
        text, cut = shortened(text, self._call_limit)
        return Chunk(
            kind="tool_call",
            text=text,
            role="assistant",
            tool_name=call.name or None,
            call_id=call.id,
            paths=paths,
            cut=dropped + cut,
        )

    def _result(self, result: ToolResult) -> Chunk:
        text, dropped = without_payloads(result.text)
        text, cut = shortened(text, self._result_limit)
        return Chunk(
            kind="tool_result",
            text=text,
            role="tool",
            tool_name=result.name or None,
            call_id=result.call_id,
            is_error=result.is_error,
            cut=dropped + cut,
        )


def _repeats_sessions(result: ToolResult, message: Message) -> bool:
    """Return whether a result came from a session search, directly or through calls made on its behalf."""
    if is_session_search(result.name) or (result.command and runs_session_search(result.command)):
        return True
    if not message.tool_calls:
        return False
    nested = [call for call in message.tool_calls if call.via and call.via == result.name]
    return bool(nested) and all(is_session_search(call.name) for call in nested)
