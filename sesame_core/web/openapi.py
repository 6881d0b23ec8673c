"""The description of the HTTP API: made from its endpoints, and from what declares their answers."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints

from typing_extensions import is_typeddict

from ..rendering.schemas.doc import Doc
from .api import ENDPOINTS, Endpoint, Parameter

#: Types of JSON.
TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}


@cache
def document() -> dict[str, Any]:
    """Return the description."""
    schemas: dict[str, Any] = {"Error": ERROR}
    paths: dict[str, Any] = {}
    for endpoint in ENDPOINTS:
        paths.setdefault(f"/api{endpoint.path}", {})["post" if endpoint.sent else "get"] = _operation(endpoint, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Sesame", "version": "1", "description": "What the command line prints as JSON."},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"password": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"password": []}],
    }


def _operation(endpoint: Endpoint, schemas: dict[str, Any]) -> dict[str, Any]:
    module, _, name = endpoint.answer.rpartition(".")
    answer = getattr(import_module(f"..rendering.schemas.{module}", __package__), name)
    given = [_described(one) for one in endpoint.parameters]
    if "{session}" in endpoint.path:
        of = {"name": "session", "in": "path", "required": True, "description": "Its id, or what else names it."}
        given.append({**of, "schema": {"type": "string"}})
    for field in endpoint.fields:
        kind: dict[str, Any] = {"type": "string"}
        kind = {"enum": ["1"]} if field.is_switch else {"type": "array", "items": kind} if field.is_repeatable else kind
        given.append({"name": field.name, "in": "query", "description": field.help, "schema": kind})
    failed = {"description": "Why not.", "content": {"application/json": {"schema": _ref("Error")}}}
    made = {
        "summary": endpoint.help,
        "parameters": given,
        "responses": {
            "200": {
                "description": endpoint.help,
                "content": {"application/json": {"schema": schema(answer, schemas)}},
            },
            "default": failed,
        },
    }
    if endpoint.sent:
        properties = {name: {"type": "string"} for name in endpoint.sent}
        tags = {"type": "array", "items": {"type": "string"}}
        properties |= {"starred": {"type": "boolean"}, "tag": tags, "untag": tags}  # type: ignore[dict-item]
        content = {"application/json": {"schema": {"type": "object", "properties": properties}}}
        made["requestBody"] = {"required": True, "content": content}
    return made


def _described(parameter: Parameter) -> dict[str, Any]:
    kind: dict[str, Any] = {"type": "string"}
    if parameter.least is not None:
        kind = {"type": "integer", "minimum": parameter.least, "maximum": parameter.most, "default": parameter.default}
    return {"name": parameter.name, "in": "query", "description": parameter.help, "schema": kind}


def schema(kind: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a declared type.

    :param schemas: gets those of the objects in it, by name.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        about = next((one.text for one in arguments[1:] if isinstance(one, Doc)), None)
        return {**schema(arguments[0], schemas), **({"description": about} if about else {})}
    if origin in (NotRequired, Required):
        return schema(arguments[0], schemas)
    if origin in (Union, UnionType):
        return {"anyOf": [schema(one, schemas) for one in arguments]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is list:
        return {"type": "array", "items": schema(arguments[0], schemas)}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema(arguments[1], schemas)}
    if kind in TYPES:
        return {"type": TYPES[kind]}
    if not is_typeddict(kind):
        return {}
    if kind.__name__ not in schemas:
        schemas[kind.__name__] = {}  # it may contain itself
        hints = get_type_hints(kind, include_extras=True)
        optional = {name for name, of in hints.items() if _is_optional(of)} | set(kind.__optional_keys__)
        schemas[kind.__name__] = {
            "type": "object",
            "properties": {name: schema(of, schemas) for name, of in hints.items()},
            "required": [name for name in hints if name not in optional],
        }
    return _ref(kind.__name__)


def _is_optional(kind: Any) -> bool:
    return get_origin(kind) is NotRequired or (get_origin(kind) is Annotated and _is_optional(get_args(kind)[0]))


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}
