"""The object that a plugin registers: a name, and a function that makes the plugin's object.

Evolution rules: a Protocol never gains a required method.  A new ability is a second small Protocol,
marked `runtime_checkable` and found with `isinstance`; a plugin without it lacks the ability and works as before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from ..dataclass import dataclass

T_co = TypeVar("T_co", covariant=True)

#: A plugin's own keys in config.jsonc.
Options: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider(Generic[T_co]):
    """Describes what a plugin provides; cheap to make: heavy imports wait until `create` is called."""

    #: What users write in config.jsonc: the plugin's own name.
    name: str
    #: One line for `sesame plugins`.
    summary: str
    #: Makes the parser, formatter or backend; raises `ConfigError` for unknown options.
    create: Callable[[Options], T_co]
    #: Of a parser: returns what `default_roots` of one without options does.  A parser none of whose roots exists is
    #: then not created, so that a search loads nothing else of it.
    roots: Callable[[], Iterable[Path]] | None = None
