"""Messages of JSON-RPC, and the errors that answer those that are not valid."""

from __future__ import annotations

import json
from typing import Any

#: Codes of errors.
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603


class ProtocolError(Exception):
    """A request that is answered with an error of JSON-RPC."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message, **({} if data is None else {"data": data})}


def decoded(line: bytes) -> Any:
    """Return the message in a line; a `ProtocolError` if it is not JSON."""
    try:
        return json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return ProtocolError(PARSE_ERROR, "the message is not valid JSON")
