"""Values of any shape and bytes of any kind harm no neighbour."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sesame_core import ParseError
from sesame_parser_pi.parser import PiParser

from .reading import DATA, HEADER, read

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


LINES = [raw for raw in (DATA / "every-entry.jsonl").read_bytes().split(b"\n") if raw]


def places(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every value inside a record."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(inner, (*path, key))


def said_by(path: Path) -> list[tuple[str | None, str, str]]:
    """Return what each entry says; titles and labels depend on the ones before them."""
    reading = read(path, thinking=True, excluded_bash=True)
    return [(m.entry_id, m.role, m.text) for m in reading.messages if m.role != "metadata"]


def harms_no_neighbour(path: Path, entry_id: str) -> bool:
    """Tell whether all entries but one say in this file, in order, what they said before it was damaged."""
    found = iter(said_by(path))
    return all(said in found for said in said_by(DATA / "every-entry.jsonl") if said[0] != entry_id)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_any_value_in_any_place_harms_no_neighbour(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    number = data.draw(st.integers(1, len(LINES) - 1))
    record = json.loads(LINES[number])
    *way, last = data.draw(st.sampled_from(list(places(record))))
    target = record
    for step in way:
        target = target[step]
    target[last] = data.draw(VALUES)
    path = tmp_path_factory.getbasetemp() / "mutated.jsonl"
    mutated = json.dumps(record).encode()
    path.write_bytes(b"\n".join([*LINES[:number], mutated, *LINES[number + 1 :]]))
    assert harms_no_neighbour(path, json.loads(LINES[number])["id"])


@settings(max_examples=200, deadline=None)
@given(
    number=st.integers(1, len(LINES) - 1),
    cut=st.tuples(st.integers(0, 400), st.integers(0, 400)),
    junk=st.binary(max_size=20),
)
def test_any_bytes_in_a_line_harm_no_neighbour(
    tmp_path_factory: pytest.TempPathFactory, number: int, cut: tuple[int, int], junk: bytes
) -> None:
    raw, (first, last) = LINES[number], sorted(cut)
    damaged = raw[:first] + junk.replace(b"\n", b"") + raw[last:]
    path = tmp_path_factory.getbasetemp() / "damaged.jsonl"
    path.write_bytes(b"\n".join([*LINES[:number], damaged, *LINES[number + 1 :], b""]))
    assert harms_no_neighbour(path, json.loads(LINES[number])["id"])


def test_a_header_of_any_shape_is_read_or_refused(tmp_path: Path) -> None:
    source = random.Random(3)
    odd = [None, True, 7, -1.5, "", "x", [], {}, "\ud83d", "a\0b"]
    path = tmp_path / "s.jsonl"
    refused = 0
    for _ in range(300):
        header = {**HEADER, source.choice([*HEADER, "parentSession", "modelId"]): source.choice(odd)}
        path.write_bytes(json.dumps(header).encode() + b"\n")
        try:
            reading = read(path)
        except ParseError:
            refused += 1
            assert not PiParser().matches(path)
        else:
            assert PiParser().matches(path)
            assert reading.session.id
    assert 0 < refused < 300
