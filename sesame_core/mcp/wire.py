"""One message of a client, as it comes in: what is no message of the protocol gets an answer.

A client waits for the answer to each of its requests, so a request that cannot be read must not be dropped.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeAlias

from ..text.tokens import clean

#: A message, or an answer.
Message: TypeAlias = dict[str, Any]

#: Codes of JSON-RPC.
PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602


def read(line: str) -> tuple[Message | None, Sequence[Message]]:
    """Return the message of a line, and the answers to what is not one; neither for an empty line.

    Lone surrogates, which JSON can escape and no transport can encode, become replacement characters.
    """
    if not line.strip():
        return None, ()
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        return None, [_error(None, PARSE_ERROR, f"not valid JSON: {error.msg}")]
    except (ValueError, RecursionError):  # Python's own limits
        return None, [_error(None, PARSE_ERROR, "it is nested too deeply, or has a number of too many digits")]
    if isinstance(value, list):
        # Only the protocol of 2025-03-26 had batches.
        ids = [one["id"] for one in value if isinstance(one, dict) and "method" in one and _is_id(one.get("id"))]
        why = "a batch is not supported: send each message alone"
        return None, [_error(name, INVALID_REQUEST, why) for name in ids or [None]]
    if problem := _problem(value):
        return None, [problem]
    return _cleaned(value), ()


def _problem(value: Any) -> Message | None:
    """Return the answer to a value that is not a message; None if it is one."""
    if not isinstance(value, dict):
        return _error(None, INVALID_REQUEST, "a message must be a JSON object")
    name = value.get("id")
    if "id" in value and not _is_id(name):
        return _error(None, INVALID_REQUEST, f"an id must be a string or a whole number, not {json.dumps(name)[:100]}")
    if value.get("jsonrpc") != "2.0":
        return _error(name, INVALID_REQUEST, '"jsonrpc" must be "2.0"')
    if "method" not in value and ("result" in value or "error" in value):
        return None
    if not isinstance(value.get("method"), str):
        return _error(name, INVALID_REQUEST, '"method" must be a string')
    if not isinstance(value.get("params"), dict | None):
        return _error(name, INVALID_PARAMS, '"params" must be an object')
    return None


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _error(name: object, code: int, message: str) -> Message:
    return {"jsonrpc": "2.0", "id": name, "error": {"code": code, "message": message}}


def _cleaned(value: Any) -> Any:
    """Return a value whose strings can be encoded."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(one) for one in value]
    return {clean(key): _cleaned(one) for key, one in value.items()} if isinstance(value, dict) else value
