"""The description of an HTTP API in OpenAPI, made from its endpoints and from what declares their answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

from ...dataclass import dataclass
from ...query.fields import Field
from .described import schema

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
#: The fields of an object that is sent, which are not strings.
SENT = {"starred": {"type": "boolean"}, "tag": TEXTS, "untag": TEXTS}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an endpoint: a string, or a number between two."""

    name: str
    help: str
    least: int | None = None
    most: int = 2**31
    default: int | None = None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A path of an API, and what answers it."""

    path: str
    help: str
    #: The module and class of `rendering.schemas` that declares the answer.
    answer: str
    run: Callable[..., Any]
    parameters: tuple[Parameter, ...] = ()
    #: The fields that narrow it.
    fields: tuple[Field, ...] = ()
    #: `POST`: the fields of the JSON object that is sent.
    sent: tuple[str, ...] = ()


def document(endpoints: Iterable[Endpoint]) -> dict[str, Any]:
    """Return the description of endpoints below `/api`."""
    schemas: dict[str, Any] = {"Error": {"type": "object", "properties": {"error": TEXT}, "required": ["error"]}}
    paths: dict[str, Any] = {}
    for endpoint in endpoints:
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
    answer = getattr(import_module(f".{module}", __package__), name)
    made: dict[str, Any] = {
        "summary": endpoint.help,
        "parameters": [{"in": "query", **one} for one in _parameters(endpoint)],
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
