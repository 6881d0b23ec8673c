"""Validates the "options" of a plugin; suggests the nearest name for a typo."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from ..dataclass import dataclass
from ..errors import ConfigError


@dataclass(frozen=True, slots=True)
class OptionType:
    """A type of option: its name in messages, and a check of a value."""

    name: str
    fits: Callable[[object], bool]


COUNT = OptionType("a positive whole number", lambda value: isinstance(value, int) and value is not True and value > 0)
PATH = OptionType("a path", lambda value: isinstance(value, str | os.PathLike))
SWITCH = OptionType("true or false", lambda value: isinstance(value, bool))
TEXT = OptionType("a string", lambda value: isinstance(value, str))


def check(owner: str, options: Mapping[str, Any], kinds: Mapping[str, OptionType]) -> None:
    """Check options against those that a plugin has.  Messages do not quote values: one may be a secret.

    :param owner: the plugin's name in messages: "the xyz parser".
    :param kinds: the types of its options, by name.
    :raises ConfigError: an option is unknown, or its value has the wrong type.
    """
    for name, value in options.items():
        if name not in kinds:
            from ..text.suggest import hint

            known = hint(name, kinds) or f"it has {', '.join(map(repr, kinds))}"
            raise ConfigError(f"{owner} has no option {name!r}; {known}")
        if not kinds[name].fits(value):
            raise ConfigError(f"{owner}'s option {name!r} must be {kinds[name].name}")
