"""Hints in the words of a tool: arguments in place of options, and no commands, which an agent may not have."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..query.fields import FIELDS

_OPTIONS = "|".join(field.name.replace("_", "-") for field in FIELDS)
_OPTION = re.compile(rf"(?<![\w-])--({_OPTIONS})(?![\w-])")
#: What a hint says to run: `; index with: sesame index`.
_COMMAND = re.compile(r"[;,] (?:index with|catch up with|see): sesame [a-z]+(?: --?[a-z-]+)*")
#: A question that a command answers, which is a tool.
_QUESTION = re.compile(r"sesame (fix|how) .*")


def for_agents(hints: Iterable[str]) -> list[str]:
    """Return hints of the search for an agent."""
    plain = (_QUESTION.sub(r"ask_history, question \1", _COMMAND.sub("", hint)) for hint in hints)
    return [_OPTION.sub(lambda found: found[1].replace("-", "_"), hint) for hint in plain]
