"""Changes one table in the text of a TOML file, and leaves the rest as it is written: order, comments, quotes."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

from ..dataclass import dataclass

#: What a valid file consists of: strings, comments, brackets, ends of lines, and bare words such as keys and numbers.
_TOKEN = re.compile(
    r'''"""(?:\\.|[^\\])*?""""{0,2}|\'\'\'.*?\'\'\'\'{0,2}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|\#[^\n]*|[\[\]{}=,\n]|[^\s"'\#\[\]{}=,]+''',
    re.DOTALL,
)
_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statement:
    """A line with a key, or the header of a table; with an array in it, several lines."""

    #: All keys from the root.
    path: tuple[str, ...]
    #: Where the line starts, and where the next one does.
    start: int
    end: int
    #: Where the value is; None for a header.
    value: tuple[int, int] | None
    #: The header that it is below; the empty path above the first one.
    table: tuple[str, ...]


class TomlText:
    """The text of a TOML file.

    :raises ValueError: it is not valid.
    :raises RecursionError: it is nested too deeply.
    """

    def __init__(self, text: str) -> None:
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self._text = text
        self.value: Any = tomllib.loads(text)
        self._statements = list(_statements(text))

    def with_value(self, keys: Sequence[str], value: Any) -> str:
        """Return the text with a table at a path of keys: what it has is replaced where it is written."""
        path = tuple(keys)
        old = self.value
        for key in path:
            old = old.get(key)
            if old is None:
                return self._with_table(path, value)
        return _replaced(self._text, self._changes(path, old, value))

    def without(self, keys: Sequence[str], made: int = 0) -> str:
        """Return the text without the table at a path of keys, and without the blank line before it.

        :param made: without effect: tables around it are not written.
        """
        path = tuple(keys)
        if inline := self._inline(path):
            return _replaced(self._text, [self._within(inline, path, None)])
        cuts = [(one.start, one.end) for one in self._statements if one.path[: len(path)] == path]
        joined: list[tuple[int, int]] = []
        for start, end in cuts:
            # Comments inside of the table, too.
            last = joined[-1] if joined else None
            between = [one for one in self._statements if last and last[1] <= one.start < start]
            if last and not between:
                joined[-1] = (last[0], end)
            else:
                joined.append((start, end))
        return _replaced(self._text, [(self._after_blank_line(start, end), end, "") for start, end in joined])

    @staticmethod
    def shown(keys: Sequence[str], value: Any) -> str:
        """Return an entry for people, as it is written in a file of its own."""
        return _table(tuple(keys), value, "\n").rstrip("\n")

    def _after_blank_line(self, start: int, end: int) -> int:
        """Return where a cut starts: before the blank line that separated it, unless that still separates others."""
        before = self._text[:start]
        blank = self._newline * 2
        is_last = not self._text[end:].strip() or self._text[end:].startswith(("\n", "\r\n"))
        return start - len(self._newline) if is_last and before.endswith(blank) else start

    def _with_table(self, path: tuple[str, ...], value: Any) -> str:
        if inline := self._inline(path):
            return _replaced(self._text, [self._within(inline, path, value)])
        before = self._text + self._line_end(len(self._text))
        return f"{before}{self._newline if before.strip() else ''}{_table(path, value, self._newline)}"

    def _changes(self, path: tuple[str, ...], old: Any, new: Any) -> Iterator[tuple[int, int, str]]:
        """Yield the replacements that make a table another: where each starts and ends, and its text."""
        if inline := self._inline(path):
            yield self._within(inline, path, new)
            return
        added = {key: value for key, value in new.items() if key not in old}
        for key in old:
            place = (*path, key)
            if key in new and old[key] == new[key]:
                continue
            if key in new and isinstance(old[key], dict) and isinstance(new[key], dict):
                yield from self._changes(place, old[key], new[key])
                continue
            at = next((one for one in self._statements if one.path == place and one.value), None)
            if at is not None and at.value is not None and key in new:
                yield (*at.value, _value(new[key]))
                continue
            yield from ((one.start, one.end, "") for one in self._statements if one.path[: len(place)] == place)
            if key in new:
                added[key] = new[key]
        if added:
            yield self._additions(path, added)

    def _additions(self, path: tuple[str, ...], added: dict[str, Any]) -> tuple[int, int, str]:
        """Return the lines for new keys of a table that is written in lines of its own."""
        lines = [one for one in self._statements if one.table == path and one.path[: len(path)] == path]
        if lines:
            at, start = lines[-1], path
        else:
            # Written with dotted keys, below another header; or by the headers of its own tables alone.
            dotted = [one for one in self._statements if one.value and one.path[: len(path)] == path]
            dotted = [one for one in dotted if len(one.table) < len(path)]
            if not dotted:
                end = len(self._text)
                return end, end, f"{self._line_end(end)}{self._newline}{_table(path, added, self._newline)}"
            at = dotted[-1]
            start = at.table
        names = {_key((*path[len(start) :], key)): value for key, value in added.items()}
        text = "".join(f"{name} = {_value(value)}{self._newline}" for name, value in names.items())
        return at.end, at.end, self._line_end(at.end) + text

    def _line_end(self, place: int) -> str:
        """Return the end of line that is missing before a place."""
        return "" if self._text[:place].endswith("\n") or not place else self._newline

    def _inline(self, path: tuple[str, ...]) -> _Statement | None:
        """Return the statement whose value, in braces, has or could have the table of this path."""
        return next((one for one in self._statements if one.value and one.path == path[: len(one.path)]), None)

    def _within(self, inline: _Statement, path: tuple[str, ...], value: Any) -> tuple[int, int, str]:
        """Return the replacement of a value in braces by one with another table in it; None removes the table."""
        table = self.value
        for key in inline.path:
            table = table[key]
        rest = path[len(inline.path) :]
        assert inline.value is not None  # `_inline` finds no header
        if not rest:
            return (*inline.value, _value(value)) if value is not None else (inline.start, inline.end, "")
        return (*inline.value, _value(_with(table, rest, value)))


def _with(table: dict[str, Any], keys: tuple[str, ...], value: Any) -> dict[str, Any]:
    key, *rest = keys
    if rest:
        return {**table, key: _with(table.get(key, {}), tuple(rest), value)}
    return {**table, key: value} if value is not None else {name: one for name, one in table.items() if name != key}


def _statements(text: str) -> Iterator[_Statement]:
    """Yield the statements of a valid file."""
    tokens: list[re.Match[str]] = []
    depth = 0
    table: tuple[str, ...] = ()
    for token in [*_TOKEN.finditer(text), None]:
        mark = token[0] if token else "\n"
        depth += (mark in ("[", "{")) - (mark in ("]", "}"))
        if mark != "\n" or depth:
            if token and not mark.startswith("#") and mark != "\n":
                tokens.append(token)
            continue
        end = token.end() if token else len(text)
        if tokens:
            first = tokens[0]
            start = text.rfind("\n", 0, first.start()) + 1
            if first[0] == "[":
                skipped = 2 if tokens[1][0] == "[" else 1
                table = _path(text[tokens[skipped].start() : tokens[-1 - skipped].end()])
                yield _Statement(path=table, start=start, end=end, value=None, table=table)
            else:
                sign = next(n for n, one in enumerate(tokens) if one[0] == "=")
                path = (*table, *_path(text[first.start() : tokens[sign].start()]))
                value = (tokens[sign + 1].start(), tokens[-1].end())
                yield _Statement(path=path, start=start, end=end, value=value, table=table)
        tokens = []


def _path(key: str) -> tuple[str, ...]:
    """Return the keys of a dotted key, as TOML reads it."""
    value, keys = tomllib.loads(f"{key} = 0"), []
    while isinstance(value, dict):
        ((name, value),) = value.items()
        keys.append(name)
    return tuple(keys)


def _replaced(text: str, changes: Any) -> str:
    # From the end, so that places stay true; of several at one place the first comes first.
    for _, (start, end, new) in sorted(enumerate(changes), key=lambda one: (one[1][0], one[0]), reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _table(path: tuple[str, ...], value: dict[str, Any], newline: str) -> str:
    lines = [f"[{_key(path)}]", *(f"{_key((key,))} = {_value(one)}" for key, one in value.items())]
    return "".join(line + newline for line in lines)


def _key(path: Sequence[str]) -> str:
    return ".".join(key if _BARE.fullmatch(key) else _string(key) for key in path)


def _value(value: Any) -> str:
    """Return a value as TOML, on one line."""
    if isinstance(value, dict):
        inner = ", ".join(f"{_key((key,))} = {_value(one)}" for key, one in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return _string(value) if isinstance(value, str) else str(value)


def _string(text: str) -> str:
    # A string of JSON is one of TOML, which has no escape for half a surrogate, and wants one for DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
