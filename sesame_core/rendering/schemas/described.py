"""The JSON schema of a declared value, for a description of an interface; pydantic is not needed for it."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints

from typing_extensions import is_typeddict

from .doc import Doc

#: Types of JSON.
TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


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
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def _is_optional(kind: Any) -> bool:
    return get_origin(kind) is NotRequired or (get_origin(kind) is Annotated and _is_optional(get_args(kind)[0]))
