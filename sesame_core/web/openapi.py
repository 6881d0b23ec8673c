"""The description of the HTTP API: made from its endpoints, and from what declares their answers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from ..rendering.schemas.described import schema
from .api import ENDPOINTS, Endpoint

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
#: The fields of an object that is sent, which are not strings.
SENT = {"starred": {"type": "boolean"}, "tag": TEXTS, "untag": TEXTS}


@cache
def document() -> dict[str, Any]:
    """Return the description."""
    schemas: dict[str, Any] = {"Error": {"type": "object", "properties": {"error": TEXT}, "required": ["error"]}}
    paths: dict[str, Any] = {}
    for endpoint in ENDPOINTS:
        paths.setdefault(f"/api{endpoint.path}", {})["post" if endpoint.sent else "get"] = _operation(endpoint, schemas)
    security = {"password": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Sesame", "version": "1", "description": "What the command line prints as JSON."},
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": security},
        "security": [{"password": []}],
    }


def _operation(endpoint: Endpoint, schemas: dict[str, Any]) -> dict[str, Any]:
    module, _, name = endpoint.answer.rpartition(".")
    answer = getattr(import_module(f"..rendering.schemas.{module}", __package__), name)
    given = list(_parameters(endpoint))
    made: dict[str, Any] = {
        "summary": endpoint.help,
        "parameters": [{"in": "query", **one} for one in given],
        "responses": {
            "200": {"description": endpoint.help, **_content(schema(answer, schemas))},
            "default": {"description": "Why not.", **_content({"$ref": "#/components/schemas/Error"})},
        },
    }
    if endpoint.sent:
        properties = {name: SENT.get(name, TEXT) for name in endpoint.sent}
        made["requestBody"] = {"required": True, **_content({"type": "object", "properties": properties})}
    return made


def _content(of: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": of}}}


def _parameters(endpoint: Endpoint) -> Iterator[dict[str, Any]]:
    if "{session}" in endpoint.path:
        about = "Its id, or what else names it."
        yield {"name": "session", "in": "path", "required": True, "description": about, "schema": TEXT}
    for one in endpoint.parameters:
        bounds = {"type": "integer", "minimum": one.least, "maximum": one.most, "default": one.default}
        yield {"name": one.name, "description": one.help, "schema": TEXT if one.least is None else bounds}
    for field in endpoint.fields:
        kind = {"enum": ["1"]} if field.is_switch else TEXTS if field.is_repeatable else TEXT
        yield {"name": field.name, "description": field.help, "schema": kind}
