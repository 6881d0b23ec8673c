"""The files that a patch changes, in the formats of `apply_patch` and of `diff -u`."""

from __future__ import annotations

import re
from collections.abc import Iterator

_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)[ \t]*$", re.MULTILINE)
_UNIFIED = re.compile(r"^(?:---|\+\+\+) (?:[ab]/)?([^\t\n]+)", re.MULTILINE)


def patched_files(text: str) -> Iterator[str]:
    """Yield the names of the files that the patches in a text change."""
    if "*** " in text or "+++ " in text:
        for match in (*_PATCHED.finditer(text), *_UNIFIED.finditer(text)):
            if match[1] != "/dev/null":
                yield match[1].strip()
