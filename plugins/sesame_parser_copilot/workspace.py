"""Reads `workspace.yaml` next to an event log: plain `key: value` lines, and blocks of several lines."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from sesame_core.text.tokens import clean

#: Most bytes read.
SIZE = 1 << 16
_LINE = re.compile(r"([A-Za-z_]\w*):(?:[ \t]+(.*))?")
#: A value in a block: kept as it is, or folded into one line.
_BLOCK = re.compile(r"([|>])[-+]?\d?")


class Workspace:
    """The values of the file, as strings."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def __getitem__(self, key: str) -> str:
        """Return a value; "" when it is missing."""
        return self._values.get(key, "")

    @property
    def name(self) -> str:
        """The session's name on one line; older versions call it a summary."""
        return " ".join((self["name"] or self["summary"]).split())

    @property
    def is_named_by_user(self) -> bool:
        """Whether a person gave the name."""
        return self["user_named"].lower() == "true"

    @classmethod
    def read(cls, path: Path) -> Workspace:
        """Return the values of a file; none when it does not exist."""
        try:
            with path.open("rb") as file:
                text = file.read(SIZE).decode("utf-8", "replace")
        except OSError:
            # It is optional: an event log of an older version has none.
            return cls({})
        return cls(_parsed(clean(text).replace("\r\n", "\n").split("\n")))


def _parsed(lines: list[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    key, block = "", ""
    for line in lines:
        if line[:1] in (" ", "\t") or (block and not line):
            if key:
                # A plain value may continue on indented lines, too.
                joint = "\n" if block == "|" else " "
                values[key] = f"{values[key]}{joint if values[key] else ''}{line.strip()}"
            continue
        found = _LINE.fullmatch(line)
        key, block = (found[1], "") if found else ("", "")
        if found:
            value = (found[2] or "").strip()
            marked = _BLOCK.fullmatch(value)
            block = marked[1] if marked else ""
            values[key] = "" if marked else _scalar(value)
    return {key: value.strip() for key, value in values.items()}


def _scalar(value: str) -> str:
    """Return a value without its quotes and its comment; "" for null."""
    if value.startswith('"') and value.endswith('"') and len(value) > 1:
        try:
            decoded = json.loads(value, strict=False)
        except ValueError:
            return value[1:-1]
        return clean(decoded) if isinstance(decoded, str) else value[1:-1]
    if value.startswith("'") and value.endswith("'") and len(value) > 1:
        return value[1:-1].replace("''", "'")
    value = re.split(r"\s#", value, maxsplit=1)[0].strip()
    return "" if value in ("null", "~") else value
