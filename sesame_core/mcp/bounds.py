"""The size of an answer, as its client counts it, whatever a session contains.

What a client passes to its model is the text of an answer: compact JSON.  Bytes of it are counted, not characters of
what it quotes: a line feed takes two, a control character six, a Chinese character three.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from ..rendering.budget import size, text_size

#: Default bytes of an answer: pi cuts the middle out of more than 20,480, Claude Code refuses more than 25,000 tokens.
ANSWER_BYTES = 20_000
#: The most, and the least, that a call can set; the least has room for the facts about a session and some text.
MOST_BYTES = 1_000_000
LEAST_BYTES = 2_000
#: Most characters of an error's message.
MESSAGE = 2_000

#: Bytes of each string, and entries of each list or object, in the order in which they are tried.
_LEVELS = tuple((1 << power, max(2, (1 << power) >> 4)) for power in range(14, 3, -1))
#: Fields whose prefix is of little use: they are shortened last.
_EXACT = frozenset({"sessionId", "parentId", "path", "cwd"})

ItemT = TypeVar("ItemT", bound=Mapping[str, Any])


def budget(max_bytes: int) -> int:
    """Return the bytes of an answer for the argument of a call."""
    return max(max_bytes, LEAST_BYTES)


def fitted(value: Mapping[str, Any], most: int) -> tuple[dict[str, Any], list[str]]:
    """Return an object in at most `most` bytes, and the names of its fields that are shortened for that.

    The longest strings, lists and objects are shortened first, to one length.  Ids and paths are exact up to an eighth
    of `most`.
    """
    found = dict(value)
    for length, count in _LEVELS:
        if size(found) <= most:
            break
        found = {
            name: _shortened(one, max(length, most // 8) if name in _EXACT else length, count, mark=name not in _EXACT)
            for name, one in value.items()
        }
    return found, [name for name, one in value.items() if found[name] != one]


def _shortened(value: Any, length: int, count: int, *, mark: bool = True) -> Any:
    if isinstance(value, str):
        return cut(value, length, mark="…" if mark else "")
    if isinstance(value, Mapping):
        # Of a table of counts some rows may be left out, of a record no field.
        is_table = all(type(one) is int for one in value.values())
        kept = list(value.items())[: count if is_table else None]
        return {_shortened(name, length, count): _shortened(one, length, count) for name, one in kept}
    if isinstance(value, list):
        return [_shortened(one, length, count) for one in value[:count]]
    return value


def cut(text: str, most: int, *, mark: str = "") -> str:
    """Return the longest prefix of a string that takes at most `most` bytes in an answer, without its quotes.

    :param mark: the end of a string that is shortened, counted in addition.
    """
    text = text[: most + 1]  # each character takes a byte or more
    if text_size(text) <= most:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if text_size(text[:middle]) <= most else (low, middle - 1)
    return text[:low] + mark


def first(items: Iterable[ItemT], most: int) -> list[ItemT]:
    """Return as many of the first items as fit into a list of `most` bytes, and at least one, if there is one."""
    kept: list[ItemT] = []
    for item in items:
        most -= size(item) + 1
        if most < 0 and kept:
            break
        kept.append(item)
    return kept


def message(text: str) -> str:
    """Return the message of an error, without the middle of a very long one: what to do stands at its end."""
    half = MESSAGE // 2
    return text if len(text) <= MESSAGE else f"{text[:half]} … {text[-half:]}"
