"""Sizes as they are sent, and what an answer for agents leaves out to keep to one."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

#: Bytes of an item of a window.
WINDOW = 80
#: Bytes of a passage where an answer is over its budget, one limit after the other.
SHORTER = (512, 256)
#: Most bytes that one character takes in JSON: an escaped control character, and a surrogate.
_WIDEST = 6


def sent(value: Any) -> bytes:
    """Return a value as it is sent: as compact JSON, with non-ASCII characters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def size(value: Any) -> int:
    """Return the number of bytes that a value takes as it is sent."""
    return len(sent(value))


def text_size(text: str) -> int:
    """Return the number of bytes that a string takes as it is sent, without its quotes."""
    return size(text) - 2


def fitting(text: str, most: int) -> str:
    """Return a string that takes at most `most` bytes in JSON; of a longer one the beginning and an ellipsis."""
    if len(text) * _WIDEST <= most or text_size(text) <= most:
        return text
    # Each character takes at least a byte.
    text, room = text[:most], most - len("…".encode())
    kept = bisect_left(range(len(text)), True, key=lambda count: text_size(text[: count + 1]) > room)
    return text[:kept].rstrip().removesuffix("…") + "…"


def within(value: dict[str, Any], budget: int, *, first: int) -> dict[str, Any]:
    """Return an answer for agents that takes at most `budget` bytes, and says where it continues and if it was cut.

    Left out are items of windows first, those farthest from a passage before nearer ones and those of worse results
    before better ones; then further passages; then the ends of passages; then results from the end.

    :param value: `results` is its last field.
    :param first: number of the results before these.
    """
    if size(whole := _with(value, value["results"], first)) <= budget:
        return whole
    results = value["results"]
    steps = _steps(results)

    def without(count: int) -> dict[str, Any]:
        return _with(value, _without(results, steps[:count]), first, is_cut=True)

    # Leaving out more only shrinks an answer, so a binary search finds the least that suffices.
    return without(bisect_left(range(len(steps)), True, key=lambda count: size(without(count)) <= budget))


def _with(
    value: Mapping[str, Any], results: list[dict[str, Any]], first: int, *, is_cut: bool = False
) -> dict[str, Any]:
    """Return an answer with these of its results."""
    fields = {name: field for name, field in value.items() if name != "results"}
    if first + len(results) < value["total"] and value["results"]:
        fields["nextOffset"] = first + len(results)
    if is_cut:
        fields["cutToBudget"] = True
    return {**fields, "results": results}


#: What to leave out: the number of a result, a field ("" for the whole result), and the place in it; or, of the texts
#: of all passages, what exceeds a size.
_Step = tuple[int, str, int]


def _steps(results: list[dict[str, Any]]) -> list[_Step]:
    lines: list[tuple[int, _Step]] = []
    passages: list[_Step] = []
    for number, result in enumerate(results):
        at = result["passages"][0]["at"] if result.get("passages") else 0
        for place, line in enumerate(result.get("around", ())):
            lines.append((abs(int(line.partition(" ")[0]) - at), (number, "around", place)))
        passages += [(number, "passages", place) for place in range(1, len(result.get("passages", ())))]
    lines.sort(key=lambda line: (-line[0], -line[1][0], line[1][2]))
    passages.sort(key=lambda step: (-step[2], -step[0]))
    return [
        *(step for _, step in lines),
        *passages,
        *((0, "text", most) for most in SHORTER),
        *((number, "", 0) for number in reversed(range(len(results)))),
    ]


def _without(results: list[dict[str, Any]], steps: list[_Step]) -> list[dict[str, Any]]:
    gone = set(steps)
    most = min((length for _, name, length in steps if name == "text"), default=None)
    left = []
    for number, result in enumerate(results):
        if (number, "", 0) in gone:
            continue
        kept = dict(result)
        for name in ("around", "passages"):
            items = [item for place, item in enumerate(result.get(name, ())) if (number, name, place) not in gone]
            if most is not None and name == "passages":
                items = [{**item, "text": fitting(item["text"], most)} for item in items]
            if items:
                kept[name] = items
            else:
                kept.pop(name, None)
        left.append(kept)
    return left
