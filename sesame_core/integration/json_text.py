"""Changes one value in the text of a JSON file, and leaves the rest as it is written, comments too."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from ..dataclass import dataclass

_STRING = r'"(?:\\.|[^"\\])*"'
_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
_SPACE = re.compile(r"[ \t\r\n]*")
_decoded = json.JSONDecoder().raw_decode


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    """A member of an object, by the places in the text where its key starts, and where its value starts and ends."""

    key: str
    start: int
    value: int
    end: int


class JsonText:
    """The text of a JSON object.

    :param has_comments: comments, and commas after the last member, are allowed.
    :raises ValueError: it is not valid, or an object has a key twice.
    :raises RecursionError: it is nested too deeply.
    """

    def __init__(self, text: str, *, has_comments: bool = False) -> None:
        self._text = text if text.strip() else "{}\n"
        #: The same without comments: spaces are in their place.
        self._plain = self._text
        if has_comments:
            for pattern in (_COMMENT, _LAST_COMMA):
                self._plain = pattern.sub(_blank, self._plain)
        self.value: Any = json.loads(self._plain, object_pairs_hook=_unique, parse_constant=_refused)
        self._newline = "\r\n" if "\r\n" in text else "\n"
        indent = re.search(r"^([ \t]+)\"", self._text, re.MULTILINE)
        self._unit = indent[1] if indent else "  "

    def with_value(self, keys: Sequence[str], value: Any) -> str:
        """Return the text with a value at a path of keys."""
        place, members, depth = self._found(keys)
        if depth == len(keys):
            old = members[-1]
            is_on_lines = "\n" in self._text[old.value : old.end]
            new = self._written(value, self._indent(old.start) if is_on_lines else None)
            return self._text[: old.value] + new + self._text[old.end :]
        for key in reversed(keys[depth + 1 :]):
            value = {key: value}
        return self._with_member(place, keys[depth], value)

    def without(self, keys: Sequence[str], made: int = 0) -> str:
        """Return the text without the value at a path of keys.

        :param made: so many of the objects around it were made for it, and are removed if they have nothing else.
        """
        _, found, _ = self._found(keys)
        while len(found) > max(1, len(keys) - made):
            parent = found[-2]
            inside = _COMMENT.finditer(self._text, parent.value, parent.end)
            has_comments = any(one[0].startswith("/") for one in inside)
            if has_comments or len(self._members(parent.value)[0]) > 1:
                break
            found.pop()
        place = found[-2].value if len(found) > 1 else self._after_space(0)
        members, _ = self._members(place)
        return self._without_member(place, members, members.index(found[-1]))

    @staticmethod
    def shown(keys: Sequence[str], value: Any) -> str:
        """Return an entry for people, as it is written in a file of its own."""
        return f"{json.dumps(keys[-1])}: {json.dumps(value, indent=2, ensure_ascii=False)}"

    # -- places ---------------------------------------------------------------------------------------------------

    def _after_space(self, place: int) -> int:
        found = _SPACE.match(self._plain, place)
        return found.end() if found else place

    def _members(self, place: int) -> tuple[list[_Member], int]:
        """Return the members of the object that starts at a place, and the place of its closing brace."""
        members = []
        place = self._after_space(place + 1)
        while self._plain[place] != "}":
            key, end = _decoded(self._plain, place)
            value = self._after_space(self._after_space(end) + 1)
            _, end = _decoded(self._plain, value)
            members.append(_Member(key=key, start=place, value=value, end=end))
            place = self._after_space(end)
            if self._plain[place] == ",":
                place = self._after_space(place + 1)
        return members, place

    def _found(self, keys: Sequence[str]) -> tuple[int, list[_Member], int]:
        """Return the place of the innermost object on a path that exists, the members on it, and their number."""
        place, found = self._after_space(0), list[_Member]()
        for depth, key in enumerate(keys):
            members, _ = self._members(place)
            member = next((one for one in members if one.key == key), None)
            if member is None:
                return place, found, depth
            found.append(member)
            if depth < len(keys) - 1:
                place = member.value
        return place, found, len(keys)

    def _indent(self, place: int) -> str:
        """Return the space before the first character of the line of a place."""
        line = self._text[self._text.rfind("\n", 0, place) + 1 : place]
        return line[: len(line) - len(line.lstrip())]

    # -- changes --------------------------------------------------------------------------------------------------

    def _written(self, value: Any, indent: str | None) -> str:
        """Return a value as text; on one line without an indent."""
        if indent is None:
            return json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, ensure_ascii=False, indent=self._unit).split("\n")
        return (self._newline + indent).join(lines)

    def _with_member(self, place: int, key: str, value: Any) -> str:
        text = self._text
        members, end = self._members(place)
        is_on_lines = not members or "\n" in text[place : members[-1].start]
        if not is_on_lines:
            indent = None
        elif members:
            indent = self._indent(members[-1].start)
        else:
            indent = self._indent(place) + self._unit
        member = f"{json.dumps(key)}: {self._written(value, indent)}"
        if indent is None:
            stop = members[-1].end
            return f"{text[:stop]}, {member}{text[stop:]}"
        if not members:
            # What is between the braces is space and comments.
            inner = text[place + 1 : end].rstrip()
            lines = (inner, f"{indent}{member}", f"{self._indent(place)}{text[end:]}")
            return text[: place + 1] + self._newline.join(lines)
        stop = members[-1].end
        # After a comment on the line of the last member.
        line = re.compile(r"[^\n]*").match(self._plain, stop)
        rest = line[0] if line else ""
        after = stop + len(rest.rstrip("\r")) if not rest.strip() else stop
        has_comma = text[self._comma(stop) : self._comma(stop) + 1] == ","
        comma, last = ("", ",") if has_comma and self._comma(stop) < after else (",", "")
        return f"{text[:stop]}{comma}{text[stop:after].rstrip(' ')}{self._newline}{indent}{member}{last}{text[after:]}"

    def _comma(self, place: int) -> int:
        """Return the place of the first character after a value that is not space."""
        found = _SPACE.match(self._text, place)
        return found.end() if found else place

    def _without_member(self, place: int, members: list[_Member], index: int) -> str:
        text = self._text
        member = members[index]
        if index + 1 < len(members):
            stop = self._plain.index(",", member.end) + 1
            line = text.rfind("\n", 0, member.start) + 1
            following = text.find("\n", stop) + 1
            if following and not text[line : member.start].strip() and not text[stop:following].strip():
                return text[:line] + text[following:]
            return text[: member.start] + text[self._comma(stop) :]
        stop = member.end
        if text[self._comma(stop) : self._comma(stop) + 1] == ",":
            stop = self._comma(stop) + 1
            return text[: len(text[: member.start].rstrip())] + text[stop:]
        start = len(text[: member.start].rstrip())
        if index == 0:
            _, end = self._members(place)
            return text[:start] + (text[end:] if not text[stop:end].strip() and start == place + 1 else text[stop:])
        comma = self._plain.index(",", members[index - 1].end)
        return text[:comma] + text[comma + 1 : max(start, comma + 1)] + text[stop:]


def _blank(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith('"') else " " * len(found[0])


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("an object has a key twice")
    return dict(pairs)


def _refused(name: str) -> Any:
    raise ValueError(f"JSON has no number {name}")
