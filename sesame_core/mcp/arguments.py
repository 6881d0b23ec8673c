"""Reads the arguments of a call as they were meant, and says of those that cannot be read what is possible."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ..errors import QueryError
from ..query.fields import FIELDS, gathered
from ..text.suggest import hint
from ..text.tokens import clean
from ..types.query import Filters

#: Most characters of a value that a refusal repeats.
SHOWN = 100
#: The largest number that every backend takes; a larger one means the same.
LARGEST = 2**31 - 1
#: What agents call an argument that has another name; answers have `sessionId`.
ALIASES = {"session_id": "session", "id": "session"}

InputT = TypeVar("InputT", bound=BaseModel)


def read(model: type[InputT], arguments: Mapping[str, Any]) -> InputT:
    """Return a tool's arguments.

    One string stands for a list of it and a list of one for a string; numbers may be strings, and strings numbers;
    names may be written as in answers (`maxBytes`); null is an omitted argument.

    :raises QueryError: they are not valid; the message is one line that names each, its value, and what is possible.
    """
    kinds = _kinds(model)
    named = {_named(name, kinds, arguments): value for name, value in arguments.items() if value is not None}
    given = {name: kinds[name].meant(value) if name in kinds else value for name, value in named.items()}
    try:
        return model.model_validate(given)
    except ValidationError as error:
        wrong = {str(problem["loc"][0]): str(problem["type"]) for problem in reversed(error.errors())}
        refused = [_refusal(name, wrong[name], named.get(name), kinds) for name in reversed(wrong)]
        raise QueryError("; ".join(refused)) from None


def filters(given: Mapping[str, Any]) -> Filters:
    """Return the filters of arguments.

    :raises QueryError: one is not valid; the message begins with its name.
    """
    for field in FIELDS:
        try:
            gathered({field.name: given.get(field.name)})
        except QueryError as error:
            text = str(error).removeprefix(f"{field.name}: ")
            raise QueryError(f"{field.name}: {text}") from None
    return gathered(given)


@cache
def _kinds(model: type[BaseModel]) -> dict[str, _Kind]:
    return {name: _Kind(field) for name, field in model.model_json_schema()["properties"].items()}


class _Kind:
    """What an argument may be, from its schema."""

    def __init__(self, field: Mapping[str, Any]) -> None:
        kinds = [one["type"] for one in field.get("anyOf", [field])]
        self.is_list = "array" in kinds
        self.is_number = "integer" in kinds
        self.is_text = "string" in kinds
        self._least, self._most = field.get("minimum"), field.get("maximum")
        self._is_filled = bool(field.get("minLength"))

    def __str__(self) -> str:
        if self.is_number:
            some = f"from {self._least} to {self._most}" if self._most else f"of at least {self._least}"
            return f"a whole number {some}"
        if self.is_list:
            return "a string or a list of strings"
        return "true or false" if not self.is_text else "a string" + " that is not empty" * self._is_filled

    def meant(self, value: Any) -> Any:
        """Return a value in the type that the argument has, where that is clear."""
        if isinstance(value, bool):
            # To Pydantic, true is the number 1.
            return str(value) if self.is_number else value
        if self.is_number:
            return min(value, LARGEST) if isinstance(value, int) else _whole(value)
        if self.is_list and isinstance(value, str) and value.lstrip().startswith("["):
            value = _list_in(value)
        if self.is_list and isinstance(value, list):
            return [_text(one) for one in value]
        if self.is_text and isinstance(value, list) and len(value) == 1:
            (value,) = value
        return _text(value)


def _whole(value: Any) -> Any:
    """Return the number in a string, if it is one."""
    if isinstance(value, str) and re.fullmatch(r"\s*\d{1,30}(?:\.0*)?\s*", value, re.ASCII):
        return min(int(value.partition(".")[0]), LARGEST)
    return min(value, float(LARGEST)) if isinstance(value, float) else value


def _text(value: Any) -> Any:
    """Return a string as every database accepts it, and a number as a string."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return clean(value) if isinstance(value, str) else value


def _list_in(text: str) -> Any:
    """Return the list that a string contains as JSON; the string if it contains none."""
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, list) else text


def _named(name: str, kinds: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """Return the argument that a name means: in camel case, with dashes, or under another name; else the name."""
    if name in kinds:
        return name
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()
    plain = plain if plain in kinds else ALIASES.get(plain, name)
    return plain if plain in kinds and arguments.get(plain) is None else name


def _refusal(name: str, problem: str, value: Any, kinds: Mapping[str, _Kind]) -> str:
    if name not in kinds:
        known = hint(name, kinds) or f"there are {', '.join(kinds)}"
        return f"unknown argument {name[:SHOWN]!r}; {known}"
    if problem == "missing":
        return f"the argument {name!r} is missing: it must be {kinds[name]}"
    shown = json.dumps(value, ensure_ascii=False)
    return f"{name} must be {kinds[name]}, not {shown if len(shown) <= SHOWN else shown[:SHOWN] + '…'}"
