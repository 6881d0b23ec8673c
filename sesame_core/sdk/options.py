"""What people write under "options" of a plugin: a slip of the pen is named, with what was meant."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from ..dataclass import dataclass
from ..errors import ConfigError


@dataclass(frozen=True, slots=True)
class OptionType:
    """A kind of value: what it is, and whether a value is one."""

    name: str
    fits: Callable[[object], bool]


COUNT = OptionType("a positive whole number", lambda value: isinstance(value, int) and value is not True and value > 0)
PATH = OptionType("a path", lambda value: isinstance(value, str | os.PathLike))
SWITCH = OptionType("true or false", lambda value: isinstance(value, bool))
TEXT = OptionType("a text", lambda value: isinstance(value, str))


def check(owner: str, options: Mapping[str, Any], kinds: Mapping[str, OptionType]) -> None:
    """Look whether options are those that a plugin knows.  Values are not quoted: one may be a secret.

    :param owner: the plugin, as messages name it: "the xyz parser".
    :param kinds: of the options that it knows, by name.
    :raises ConfigError: one is unknown, or its value of the wrong kind.
    """
    for name, value in options.items():
        if name not in kinds:
            from ..text.suggest import hint

            known = hint(name, kinds) or f"it knows {', '.join(map(repr, kinds))}"
            raise ConfigError(f"{owner} has no option {name!r}; {known}")
        if not kinds[name].fits(value):
            raise ConfigError(f"{owner}'s option {name!r} must be {kinds[name].name}")
