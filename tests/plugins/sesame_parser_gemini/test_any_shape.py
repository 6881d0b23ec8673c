"""Records of any shape: nothing raises, nothing is said twice, and the head and the tail of a file equal the whole."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sesame_core import Event, Message
from sesame_parser_gemini.parser import GeminiParser

from .writing import HEADER, as_lines, call, checkpoint, gemini, listed, user

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.sampled_from(["", "kelp", "u1", "g1", "user", "gemini", "/", "\ud800"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["text", "id", "name", "args", "result", "functionResponse", "functionCall", "response", "output"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)
ODD = st.dictionaries(
    st.sampled_from(
        [
            "id",
            "type",
            "content",
            "timestamp",
            "toolCalls",
            "thoughts",
            "$set",
            "$rewindTo",
            "messages",
            "displayContent",
        ]
    ),
    VALUES,
    max_size=5,
)
IDS = st.integers(0, 5)
RECORDS = st.one_of(
    st.builds(lambda n, text: user(f"u{n}", n, f"prompt {n} {text}"), IDS, st.sampled_from(["", "a", "b"])),
    st.builds(lambda n, text: gemini(f"g{n}", n, f"answer {n} {text}"), IDS, st.sampled_from(["", "a"])),
    st.builds(lambda n: gemini(f"g{n}", n, toolCalls=[call(f"c{n}", "glob", {"n": n}, f"found {n}")]), IDS),
    st.builds(lambda n: user(f"r{n}", n, *call(f"c{n}", "glob", {}, f"found {n}")["result"]), IDS),
    st.builds(lambda n: {"$rewindTo": f"u{n}"}, IDS),
    st.builds(
        lambda ids: listed(*(user(f"u{n}", n, f"prompt {n} ") for n in ids)), st.lists(IDS, max_size=4, unique=True)
    ),
)


def said(events: list[Event]) -> list[Any]:
    return [
        (e.role, e.text, e.segment, [c.name for c in e.tool_calls], [(r.call_id, r.text) for r in e.tool_results])
        for e in events
        if isinstance(e, Message)
    ]


@settings(max_examples=150)
@given(st.lists(ODD | RECORDS, max_size=8))
def test_records_of_any_shape_are_read_without_an_error(records: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as place:
        log = Path(place, "session-2026-03-02T10-00-3f0c1d7e.jsonl")
        log.write_bytes(as_lines(HEADER, *records))
        list(GeminiParser(thinking=True).parse(log))
        document = log.with_suffix(".json")
        document.write_text(json.dumps({**HEADER, "messages": records}))
        list(GeminiParser(thinking=True).parse(document))


@settings(max_examples=150)
@given(st.lists(RECORDS, max_size=12), st.integers(0, 12))
def test_head_and_tail_say_what_the_whole_says_and_no_result_twice(records: list[Any], cut: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        log = Path(place, "session-2026-03-02T10-00-3f0c1d7e.jsonl")
        log.write_bytes(as_lines(HEADER, *records[:cut]))
        head, at = list(GeminiParser().parse(log)), checkpoint(log)
        log.write_bytes(as_lines(HEADER, *records))
        whole = list(GeminiParser().parse(log))
        tail = GeminiParser().parse_tail(log, at)
        if tail is not None:
            rest = list(tail)
            assert said([*head, *rest]) == said(whole)
            assert rest[-2] == whole[-2]
        results = [result.call_id for e in whole if isinstance(e, Message) for result in e.tool_results]
        assert len(set(results)) == len(results)
        texts = [(e.entry_id, e.text) for e in whole if isinstance(e, Message) and e.text]
        assert len(set(texts)) == len(texts)
