"""Hints in the words of a tool: arguments in place of options, and no commands, which an agent may not have."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..query.fields import FIELDS

_OPTIONS = "|".join(field.name.replace("_", "-") for field in FIELDS)
_OPTION = re.compile(rf"(?<![\w-])--({_OPTIONS})(?![\w-])")
#: What a hint says to run: `; index with: sesame index`.
_COMMAND = re.compile(r"[;,] (?:index with|catch up with|see): sesame [a-z]+(?: --?[a-z-]+)*")


def for_agents(hints: Iterable[str]) -> list[str]:
    """Return hints of the search for an agent."""
    return [_OPTION.sub(lambda found: found[1].replace("-", "_"), _COMMAND.sub("", hint)) for hint in hints]
