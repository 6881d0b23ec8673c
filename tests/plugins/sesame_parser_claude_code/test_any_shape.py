"""Records of any shape and bytes of any kind harm no neighbour."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .records import (
    PARSER,
    RICH,
    everything,
    lines,
    parse,
    user,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


FIELDS = sorted({field for record in RICH for field in record} | {"forkedFrom", "origin", "entrypoint", "isMeta"})


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_record_of_any_shape_stops_the_parser_or_harms_its_neighbours(
    data: st.DataObject, write: Callable[..., Path]
) -> None:
    record = json.loads(json.dumps(data.draw(st.sampled_from(RICH))))
    target = record
    if isinstance(record.get("message"), dict) and data.draw(st.booleans()):
        target = record["message"]
        content = target.get("content")
        if isinstance(content, list) and data.draw(st.booleans()):
            target = content[0]
    target[data.draw(st.sampled_from([*FIELDS, *target]))] = data.draw(JSON)
    record["uuid"] = data.draw(st.just("odd") | JSON)
    events = parse(write(user(90, "neighbour above"), record, user(91, "neighbour below")))
    assert "neighbour above" in everything(events)
    assert "neighbour below" in everything(events)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_damaged_bytes_stop_the_parser_or_harm_other_lines(data: st.DataObject, write: Callable[..., Path]) -> None:
    line = bytearray(lines(data.draw(st.sampled_from(RICH))).rstrip())
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(line)))
        line[start : start + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=8)).replace(b"\n", b"")
    path = write(user(90, "line above"), bytes(line) + b"\n", user(91, "line below"))
    events = parse(path)
    assert PARSER.matches(path)
    assert "line above" in everything(events)
    assert "line below" in everything(events)
