"""Where quotes, substitutions and heredocs of a shell end."""

from __future__ import annotations

import re
from collections.abc import Callable

#: Quotes and substitutions in one another that are understood.
DEEPEST = 12
_HEREDOC = r"<<-?[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|\\?([A-Za-z_][\w.-]*))"
#: The beginning of a heredoc; one of its groups is the mark that ends it.
HEREDOC = re.compile(_HEREDOC)
_INSIDE = re.compile(rf"[\\'\"()`\n]|{_HEREDOC}")
_QUOTED = re.compile(r'[\\"]|\$\(')


def body_end(text: str, place: int, mark: str) -> tuple[int, int]:
    """Return where a heredoc ends, and the place after the line that ends it."""
    closing = re.compile(rf"^[ \t]*{re.escape(mark)}(?=[ \t)'\"]*$)", re.MULTILINE).search(text, place)
    return closing.span() if closing else (len(text), len(text))


def quote_end(text: str, place: int, inner: Callable[[str], None] | None = None, depth: int = 0) -> int:
    """Return where the quotes that begin at a place end; the end of the text if they do not.

    :param inner: is given each substitution in them.
    """
    if text[place] == "'":
        end = text.find("'", place + 1)
        return len(text) if end < 0 else end
    at = place + 1
    while found := _QUOTED.search(text, at):
        if found[0] == '"':
            return found.start()
        if found[0] == "\\":
            at = found.end() + 1
        elif depth > DEEPEST:
            at = found.end()
        else:
            at = substitution_end(text, found.start(), depth + 1)
            if inner:
                inner(text[found.start() : at])
    return len(text)


def substitution_end(text: str, place: int, depth: int = 0) -> int:
    """Return the place after a substitution that begins at a place; the end of the text if it has no end."""
    if text[place] == "`":
        closing = re.compile(r"(?:\\.|[^`\\])*`", re.DOTALL).match(text, place + 1)
        return closing.end() if closing else len(text)
    level, at = 0, place + 1
    marks: list[str] = []
    while found := _INSIDE.search(text, at):
        character, at = found[0][0], found.end()
        if character == "\\":
            at += 1
        elif character in "'\"":
            at = quote_end(text, found.start(), depth=depth + 1) + 1
        elif character == "(":
            level += 1
        elif character == ")":
            level -= 1
            if not level:
                return at
        elif character == "<":
            marks.append(found[1] or found[2] or found[3])
        elif character == "\n":
            for mark in marks:
                _, at = body_end(text, at, mark)
            marks.clear()
    return len(text)
