"""The records of a damaged line: with invalid escapes, glued together, or behind one that was cut."""

from __future__ import annotations

import json
import re
from typing import Any

#: Number of positions in a damaged line that are tried as the start of a whole record.
RECOVERY_TRIES = 256

_DECODER = json.JSONDecoder(strict=False)


def recovered(text: str) -> tuple[list[Any], bool]:
    """Decode what the strict decoder rejected: invalid escapes, records on one line, an incomplete record.

    :return: the values, and whether a part of the line was lost.
    """
    values, position = _decode_all(text, 0)
    if position >= len(text):
        return values, False
    starts = re.finditer(r'\{\s*"', text)
    tries = 0
    for start in starts:
        if start.start() <= position:
            continue
        suffix, end = _decode_all(text, start.start())
        if suffix and end >= len(text):
            return values + suffix, True
        tries += 1
        if tries == RECOVERY_TRIES:
            break
    return values, True


def _decode_all(text: str, position: int) -> tuple[list[Any], int]:
    """Decode consecutive values from a position on; return them and the position where that ended."""
    values: list[Any] = []
    while position < len(text):
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            break
        values.append(value)
        while position < len(text) and text[position].isspace():
            position += 1
    return values, position
