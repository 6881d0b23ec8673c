"""Records of any shape and bytes of any kind harm no neighbour."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .records import PARSER, RICH, completed, event, everything, item, lines, meta, parse, prompt
from .test_growing import PAGINATED

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
RECORDS = [
    *RICH,
    *PAGINATED,
    completed("FileChange", id="f", changes={"/w/a": {"type": "update", "unified_diff": "x"}}, status="failed"),
    completed("McpToolCall", id="m", server="s", tool="t", arguments={}, result={"content": []}),
    completed("CommandExecution", id="x", command=["ls"], exit_code=1, aggregated_output="a", source="user_shell"),
    completed("CollabAgentToolCall", id="y", tool="spawn_agent", prompt="go"),
    completed("WebSearch", id="w", query="q", action={"queries": ["a"]}),
    event("exited_review_mode", review_output={"findings": [{"title": "t", "code_location": {"line_range": {}}}]}),
    event("thread_goal_updated", goal={"objective": "o"}),
    event("mcp_tool_call_end", call_id="z", invocation={"server": "s", "tool": "t"}, result={"Err": "no"}),
    item("local_shell_call", call_id="l", action={"type": "exec", "command": ["ls"]}),
]
FIELDS = sorted({key for one in RECORDS for holder in (one, one["payload"]) for key in holder})


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_record_of_any_shape_stops_the_parser_or_harms_its_neighbours(
    data: st.DataObject, write: Callable[..., Path]
) -> None:
    record = json.loads(json.dumps(data.draw(st.sampled_from(RECORDS[1:]))))
    target = record
    for key in ("payload", "item", "goal", "action", "review_output"):
        if isinstance(target.get(key), dict) and data.draw(st.booleans()):
            target = target[key]
    target[data.draw(st.sampled_from([*FIELDS, *target]))] = data.draw(JSON)
    events = parse(write(meta(), prompt("neighbour above"), record, prompt("neighbour below", 90)))
    assert "neighbour above" in everything(events)
    assert "neighbour below" in everything(events)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_header_of_any_shape_stops_the_parser(data: st.DataObject, write: Callable[..., Path]) -> None:
    record = json.loads(json.dumps(RICH[0]))
    target = record["payload"] if data.draw(st.booleans()) else record
    target[data.draw(st.sampled_from([*FIELDS, *target]))] = data.draw(JSON)
    assert "neighbour below" in everything(parse(write(record, prompt("neighbour below", 90))))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_damaged_bytes_stop_the_parser_or_harm_other_lines(data: st.DataObject, write: Callable[..., Path]) -> None:
    line = bytearray(lines(data.draw(st.sampled_from(RECORDS[1:]))).rstrip())
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(line)))
        line[start : start + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=8)).replace(b"\n", b"")
    path = write(meta(), prompt("line above"), bytes(line) + b"\n", prompt("line below", 90))
    events = parse(path)
    assert PARSER.matches(path)
    assert "line above" in everything(events)
    assert "line below" in everything(events)
