"""The files that the strings of a program name: of a script that a shell runs, of code that calls an agent's tools."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from .patches import patched_files

#: Reads a command: yields the files that it names, and whether it changes them.
Reader: TypeAlias = Callable[[str], Iterable[tuple[str, bool]]]

#: What writes a file, in Python, JavaScript, Ruby and PHP.
_WRITING = re.compile(
    r"\.write_(?:text|bytes)\(|writeFile|appendFile|File\.write|\.write\(|file_put_contents"
    r"|open\([^)\n]*['\"][wax]b?\+?['\"]"
)
_STRING = re.compile(r"\\.|\"((?:\\.|[^\"\\\n])*)\"|'((?:\\.|[^'\\\n])*)'|`((?:\\.|[^`\\])*)`", re.DOTALL)
#: An argument whose value is a command.
_COMMAND = re.compile(r"\b(?:cmd|command)[\"']?\s*[:=]\s*$")
#: What a name of a file has, and what only patterns and code have.
_NAMING, _MEANING = re.compile(r"[\w\])}]"), re.compile(r"[*?{}$`|<>=,;]")
_ESCAPES = {"n": "\n", "t": "\t", "r": ""}


def files_of_script(script: str, run: Reader | None = None) -> Iterator[tuple[str, bool]]:
    """Yield the files that a program names in its strings; changed if anything in it writes files.

    :param run: reads the commands that it runs.
    """
    is_writing = bool(_WRITING.search(script))
    for match in _STRING.finditer(script):
        if match.lastindex is None:
            continue
        text = match[match.lastindex]
        if script[max(0, match.start() - 1) : match.start()] not in ("r", "R"):
            text = re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), text)
        if "*** Begin Patch" in text:
            yield from ((path, True) for path in patched_files(text))
        elif run and _COMMAND.search(script, max(0, match.start() - 20), match.start()):
            yield from run(text)
        elif re.search(r"[./\\]", text) and is_path(text):
            yield text, is_writing


def is_path(word: str) -> bool:
    """Return whether a word of a command, or a string of a program, may name a file."""
    if not word or word.startswith("-") or len(word) > 300 or "\n" in word or "://" in word:
        return False
    return _NAMING.search(word) is not None and _MEANING.search(word) is None and word.count(" ") < 4
