"""Files that grow: the tail says what the whole would have."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sesame_core import Checkpoint

from .records import (
    PARSER,
    RICH,
    Record,
    ai_title,
    answer,
    atoms,
    check,
    facts,
    messages,
    parse,
    queued,
    roundtrip,
    tool_use,
    user,
)


@pytest.mark.parametrize("cut", range(1, len(RICH)))
def test_a_file_read_in_two_parts_says_the_same(cut: int, write: Callable[..., Path]) -> None:
    whole = parse(write(*RICH))
    path = write(*RICH[:cut])
    first = parse(path)
    assert isinstance(first[-1], Checkpoint)
    write(*RICH)
    second = list(PARSER.parse_tail(path, roundtrip(first[-1])) or ())
    check(second)
    assert atoms(first) + atoms(second) != []
    assert sorted(atoms(first) + atoms(second)) == atoms(whole)
    assert facts(first) | facts(second) == facts(whole)
    assert sum(m.is_new for m in messages(first + second)) == len(messages(whole))
    assert isinstance(second[-1], Checkpoint)
    assert second[-1].offset == whole[-1].offset  # type: ignore[union-attr]


def test_a_checkpoint_stays_small(write: Callable[..., Path]) -> None:
    records: list[Record] = []
    for n in range(1, 4000, 4):
        records += [
            user(n, f"prompt {n}"),
            answer(n + 1, f"answer {n}", tool_use(f"t{n}", "echo " * 1000)),
            queued(n + 2, f"queued {n}"),
            ai_title(f"title {n}"),
        ]
    checkpoint = parse(write(*records))[-1]
    assert isinstance(checkpoint, Checkpoint)
    assert len(json.dumps(checkpoint.state)) < 100_000
