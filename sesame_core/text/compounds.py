"""Names that are made of words: their parts, and what a person calls a word in them.

`createWebSocketServer` has the parts create, Web, Socket and Server, and people search for `websocket`.  Which
neighbours are one word is not known, so all neighbours are joined.
"""

from __future__ import annotations

import functools
import re
from itertools import pairwise

#: Number of names whose words are cached.
REMEMBERED = 50_000
#: Longest word that is made of two parts, in characters.
LONGEST = 20

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@functools.lru_cache(REMEMBERED)
def camel_parts(word: str) -> str:
    """Return the parts of a camelCase word, space-separated: `HTTPServerError` → `HTTP Server Error`."""
    return " ".join(_PART.findall(word))


@functools.lru_cache(REMEMBERED)
def inner_words(name: str) -> str:
    """Return the words inside a camelCase name, space-separated: its parts in order, then neighbouring parts joined.

    The whole name is a word of the text anyway, and the parts of a time (`29T10`) are no words.
    """
    parts = _PART.findall(name)
    if len(parts) < 3 or parts[0].isdigit():
        return " ".join(parts)
    joined = (word for word in dict.fromkeys(_joined(parts)) if len(word) <= LONGEST and word != name)
    return " ".join([*parts, *joined])


def _joined(parts: list[str]) -> list[str]:
    """Return pairs of parts as one word; and numbers and single letters with what they belong to, and pairs of those.

    `IPv6` and `K8s` have three parts, `IPv6Address` has four.
    """
    units: list[str] = []
    for part in parts:
        if units and (part.isdigit() or len(part) == 1 or (len(units[-1]) == 1 and units[-1].isalpha())):
            units[-1] += part
        else:
            units.append(part)
    return [*_pairs(parts), *(unit for unit in units if unit not in parts), *_pairs(units)]


def _pairs(parts: list[str]) -> list[str]:
    return [one + other for one, other in pairwise(parts) if not one.isdigit()]
