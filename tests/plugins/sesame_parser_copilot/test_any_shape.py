"""Values of any shape in any place of an event harm no neighbour."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sesame_parser_copilot.workspace import Workspace

from .reading import EVERY, read

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
LINES = [raw for raw in EVERY.read_bytes().split(b"\n") if raw]
#: What a changed event may change in others: who speaks in those of its subagent, and the names of calls in results.
SAID = ("entry_id", "text")


def places(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every value inside a record."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(inner, (*path, key))


def said(path: Path) -> list[tuple[object, ...]]:
    reading = read(path, thinking=True)
    return [tuple(getattr(m, name) for name in SAID) for m in reading.messages if m.text and m.entry_id]


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_any_value_in_any_place_harms_no_neighbour(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    number = data.draw(st.integers(0, len(LINES) - 1))
    record = json.loads(LINES[number])
    entry = record["id"]
    *way, last = data.draw(st.sampled_from(list(places(record))))
    target = record
    for step in way:
        target = target[step]
    target[last] = data.draw(VALUES)
    path = tmp_path_factory.getbasetemp() / "copilot-mutated" / "events.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"\n".join([*LINES[:number], json.dumps(record).encode(), *LINES[number + 1 :]]) + b"\n")
    found = iter(said(path))
    # Another event may repeat what a changed one no longer says.
    assert all(one in found for one in said(EVERY) if one[0] != entry and one[1] not in ("milling", "All sails turn."))


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=80) | st.text(alphabet="ab: |>-\n'\"#\t ", max_size=60))
def test_any_text_next_to_a_log_is_read_as_values(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "workspace.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    workspace = Workspace.read(path)
    assert isinstance(workspace.name, str)
    assert not workspace["no_such_key"]
