"""An edit as a diff: what the call of a tool took out of a file and what it put in."""

from __future__ import annotations

import re
from collections.abc import Iterator

#: A pair of texts in the call of an editing tool, as the default formatter writes it.
_PAIR = re.compile(r"^old:(?: |\n)(.*?)\nnew:(?: |\n|$)(.*?)(?=\nold:(?: |\n)|\Z)", re.MULTILINE | re.DOTALL)
#: Unchanged lines around a change.
CONTEXT = 2


def diff_of(text: str) -> tuple[str, list[str]]:
    """Return what stands before the first pair of a call, and the diffs of all; no lines when it has no pair."""
    pairs = list(_PAIR.finditer(text))
    if not pairs:
        return text, []
    diffs = [list(_diff(pair[1], pair[2])) for pair in pairs]
    return text[: pairs[0].start()].rstrip("\n"), [line for diff in diffs for line in ("…", *diff)][1:]


def _diff(old: str, new: str) -> Iterator[str]:
    """Yield a unified diff without the names of files and the numbers of lines, which nobody knows."""
    from difflib import unified_diff

    for number, line in enumerate(unified_diff(old.split("\n"), new.split("\n"), n=CONTEXT, lineterm="")):
        if line.startswith("@@"):
            if number > 2:
                yield "…"
        elif number > 1:
            yield line
