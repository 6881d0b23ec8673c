"""The standard library's names for type hints, paid for by those who check types: `typing` takes 7 ms to load.

To a type checker these are the standard library's own.  At run time they are as much of them as the core and its
plugins need: hints mean nothing then, but a Protocol tells whether a thing has its methods, and a Literal its values.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import (
        Any,
        Concatenate,
        Generic,
        Literal,
        NoReturn,
        ParamSpec,
        Protocol,
        TypeAlias,
        TypeVar,
        get_args,
        runtime_checkable,
    )

    __all__ = [
        "Any",
        "Concatenate",
        "Generic",
        "Literal",
        "NoReturn",
        "ParamSpec",
        "Protocol",
        "TypeAlias",
        "TypeVar",
        "get_args",
        "runtime_checkable",
    ]
else:
    from abc import ABCMeta
    from types import GenericAlias

    Any = object
    TypeAlias = Concatenate = NoReturn = None

    class Generic:
        """What stands for others; it may be asked for with those."""

        __class_getitem__ = classmethod(GenericAlias)

    class Literal(Generic):
        """One of some values."""

    class TypeVar:
        """A name for a type."""

        def __init__(self, name, *, bound=None, covariant=False):
            self.__name__ = name

    ParamSpec = TypeVar

    def get_args(alias):
        """Return the values of a Literal."""
        return alias.__args__

    class _ProtocolMeta(ABCMeta):
        """A class that stands for all that have its methods, when it is made to be asked for that."""

        def __instancecheck__(cls, thing):
            if not vars(cls).get("_is_runtime_protocol"):
                return super().__instancecheck__(thing)
            return all(hasattr(thing, name) for name in vars(cls) if not name.startswith("_"))

    class Protocol(metaclass=_ProtocolMeta):
        """Methods that a thing has."""

    def runtime_checkable(cls):
        """Let `isinstance` tell whether a thing has the methods of a Protocol."""
        cls._is_runtime_protocol = True
        return cls
