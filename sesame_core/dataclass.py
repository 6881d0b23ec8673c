"""The standard library's `dataclass`, built lazily: a command that runs for 40 ms cannot afford 45 of them.

Importing `dataclasses` takes 10 ms, and it compiles each class's methods at its definition, 1.3 ms for twenty fields;
here a class takes 0.05 ms.  With the standard library's, a search takes 425 million instructions in place of 204, 2.1
times as many (valgrind's cachegrind, Python 3.11): this is the one place where start-up shapes the code.

To a type checker these are the standard library's own names.  A class made here behaves like one of its own, and is
one to `dataclasses.fields`, `replace` and `asdict`: whatever needs more than the names and values of the fields comes
from a twin that the standard library makes when it is first asked for.

Features that the core and its plugins do not use are not supported: inherited fields, `order`, `init`,
`__post_init__`, and classes without slots.
"""

from __future__ import annotations

# Not from `typing`, which this module does not load: 44 million instructions with Python's own start, 84 with it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace

    __all__ = ["dataclass", "field", "replace"]
else:
    from operator import attrgetter
    from sys import modules

    #: Number of instances of a class whose fields are set in a loop, which takes 3 µs longer, before compiling the
    #: method is worth 11 ms.  A search of a million chunks makes 1,300 of one class; indexing has no such bound.
    LOOPED = 4_000
    #: The same once the standard library's module is loaded, when each further class costs 1 ms.
    LOOPED_AFTERWARDS = 400

    class field:
        """The options of a field: `default_factory`, `compare` and the others of the standard library's `field`."""

        def __init__(self, **options):
            self.options = options

    def replace(instance, /, **changes):
        """Return a new instance with some fields changed."""
        cls = type(instance)
        return cls(**{name: getattr(instance, name) for name in cls.__slots__} | changes)

    def dataclass(*, slots, frozen=False, kw_only=False):
        """Return a decorator that gives a class slots for its fields, and the methods that the options call for."""
        if not slots:
            raise TypeError("these dataclasses have slots")

        def decorate(cls):
            if "__post_init__" in vars(cls):
                raise TypeError("these dataclasses have no __post_init__")
            options = {name: _options(cls, name) for name in cls.__annotations__}
            content = {name: value for name, value in vars(cls).items() if name not in (*options, *_OF_EVERY_CLASS)}
            content |= {"__slots__": tuple(options), "__dataclass_fields__": _Fields(), "__signature__": _Signature()}
            content |= {"__repr__": _repr, "_twin": _Twin(options, frozen=frozen, kw_only=kw_only)}
            content |= _comparisons([name for name in options if options[name].get("compare", True)], frozen=frozen)
            if frozen:
                content |= {"__setattr__": _refuse, "__delattr__": _refuse}
                content |= {"__getstate__": _state, "__setstate__": _restore}
            if not kw_only:
                content["__match_args__"] = tuple(options)
            made = type(cls)(cls.__name__, cls.__bases__, content)
            made.__qualname__ = cls.__qualname__
            made.__init__ = _init(made, options, () if kw_only else tuple(options))
            return made

        return decorate

    _OF_EVERY_CLASS = ("__dict__", "__weakref__")

    def _options(cls, name):
        default = vars(cls).get(name, _options)
        if isinstance(default, field):
            return default.options
        return {} if default is _options else {"default": default}

    def _init(cls, options, positional):
        fill = {name: getattr(cls, name).__set__ for name in options}
        defaults = {name: o["default"] for name, o in options.items() if "default" in o}
        factories = {name: o["default_factory"] for name, o in options.items() if "default_factory" in o}
        required = options.keys() - defaults.keys() - factories.keys()
        looped = 0

        def __init__(self, /, *arguments, **values):
            nonlocal looped
            looped += 1
            if looped >= LOOPED or (looped >= LOOPED_AFTERWARDS and "dataclasses" in modules):
                cls.__init__ = cls._twin.__init__
            given = {**dict(zip(positional, arguments, strict=False)), **values} if arguments else values
            filled = {**defaults, **given}
            for name, make in factories.items():
                if name not in filled:
                    filled[name] = make()
            is_wrong = len(filled) != len(options) or not required <= given.keys()
            if is_wrong or len(given) < len(arguments) + len(values):
                cls._twin(*arguments, **values)  # raises the error
            for name, value in filled.items():
                fill[name](self, value)

        return __init__

    def _comparisons(names, *, frozen):
        if len(names) == 1:
            one = attrgetter(names[0])
            key = lambda instance: (one(instance),)  # noqa: E731
        else:
            key = attrgetter(*names)

        def __eq__(self, other):
            return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

        def __hash__(self):
            return hash(key(self))

        return {"__eq__": __eq__, "__hash__": __hash__ if frozen else None}

    def _repr(self):
        return type(self)._twin.__repr__(self)

    def _refuse(self, name, value=None):
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _state(self):
        return [getattr(self, name) for name in self.__slots__]

    def _restore(self, state):
        for name, value in zip(self.__slots__, state, strict=True):
            object.__setattr__(self, name, value)

    class _Twin:
        """The class as the standard library makes it; replaces this descriptor at first access."""

        def __init__(self, options, **flags):
            self._options = options
            self._flags = flags

        def __get__(self, instance, owner):
            from dataclasses import field, make_dataclass

            fields = [(name, owner.__annotations__[name], field(**o)) for name, o in self._options.items()]
            owner._twin = make_dataclass(owner.__name__, fields, **self._flags)
            return owner._twin

    class _Fields:
        """The attribute by which `dataclasses` recognises a dataclass."""

        def __get__(self, instance, owner):
            return owner._twin.__dataclass_fields__

    class _Signature:
        """The signature that `help` and `inspect.signature` show."""

        def __get__(self, instance, owner):
            from inspect import signature

            return signature(owner._twin)
