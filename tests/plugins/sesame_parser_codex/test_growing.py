"""Files that grow: the tail says what the whole would have."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Checkpoint, Event, Session

from .records import (
    CHILD,
    PARENT,
    PARSER,
    RICH,
    Record,
    answer,
    call,
    check,
    event,
    messages,
    meta,
    model_answer,
    name,
    new_answer,
    new_prompt,
    output,
    parse,
    prompt,
    roundtrip,
    started,
)

PAGINATED = [
    meta(history_mode="paginated"),
    *new_prompt("one"),
    *new_answer("re one"),
    call("c1", "exec_command", cmd="ls"),
    event("exec_command_end", 4, call_id="c1", command=["ls"], exit_code=1),
    output("c1", "none"),
    *new_answer("failed", 6),
    event("thread_name_updated", 7, thread_name="Foxes"),
    *new_prompt("two", 20),
    call("c2", "update_plan", 21, plan=[{"step": "dig", "status": "pending"}]),
    call("c3", "update_plan", 22, plan=[{"step": "dig", "status": "completed"}, {"step": "fence"}]),
    *new_answer("re two", 23),
]
FORK = [
    meta(CHILD, forked_from_id=PARENT),
    meta(PARENT),
    *prompt("old", 0),
    *answer("re old", 0),
    started("019a2001-0000-7000-8000-0000000000ff", 0.02),
    *prompt("new", 2),
    *answer("re new", 3),
]


def told(events: list[Event]) -> list[tuple[Any, ...]]:
    return [
        (m.role, m.text, m.segment, m.tool_calls, m.tool_results, m.timestamp, m.is_error) for m in messages(events)
    ]


def facts(events: list[Event]) -> dict[str, Any]:
    known: dict[str, Any] = {}
    for one in events:
        if isinstance(one, Session):
            names = (
                "id",
                "kind",
                "parent_id",
                "cwd",
                "title",
                "summary",
                "git_branch",
                "repository",
                "model",
                "abandoned",
            )
            known |= {name: value for name in names if (value := getattr(one, name)) is not None}
    return known


@pytest.mark.parametrize("kind", ["rich", "paginated", "fork"])
def test_a_file_read_in_two_parts_says_the_same(kind: str, write: Callable[..., Path]) -> None:
    records: list[Record] = {"rich": RICH, "paginated": PAGINATED, "fork": FORK}[kind]
    write(meta(PARENT), prompt("old"), name=name(PARENT))
    file = name(CHILD) if kind == "fork" else name()
    whole = parse(write(*records, name=file))
    for cut in range(1, len(records)):
        path = write(*records[:cut], name=file)
        first = parse(path)
        assert isinstance(first[-1], Checkpoint)
        write(*records, name=file)
        second = list(PARSER.parse_tail(path, roundtrip(first[-1])) or ())
        check(second)
        assert told(first) + told(second) == told(whole), cut
        assert facts(first) | facts(second) == facts(whole)
        assert isinstance(second[-1], Checkpoint)
        assert second[-1].offset == whole[-1].offset  # type: ignore[union-attr]


def test_a_last_line_that_is_written_only_in_part_is_read_later(write: Callable[..., Path]) -> None:
    last = json.dumps(model_answer("reply")).encode() + b"\n"
    path = write(meta(), prompt("ask"), last[:50])
    first = parse(path)
    assert isinstance(first[-1], Checkpoint)
    write(meta(), prompt("ask"), last)
    second = list(PARSER.parse_tail(path, roundtrip(first[-1])) or ())
    assert [m.text for m in messages(first + second)] == ["ask", "reply"]


def test_a_prompt_whose_event_follows_later_is_said_once(write: Callable[..., Path]) -> None:
    model, shown = prompt("ask")
    path = write(meta(), model)
    first = parse(path)
    assert isinstance(first[-1], Checkpoint)
    write(meta(), model, shown, answer("reply"))
    second = list(PARSER.parse_tail(path, roundtrip(first[-1])) or ())
    assert [m.text for m in messages(first + second)] == ["ask", "reply"]


def test_a_name_that_was_given_meanwhile_is_read_with_the_tail(write: Callable[..., Path], tmp_path: Path) -> None:
    path = write(meta(), prompt("ask"))
    first = parse(path)[-1]
    assert isinstance(first, Checkpoint)
    (tmp_path / "codex" / "session_index.jsonl").write_text(
        json.dumps({"id": "019a1000-0000-7000-8000-0000000000bb", "thread_name": "Foxes"}) + "\n"
    )
    write(meta(), prompt("ask"), answer("reply"))
    second = list(PARSER.parse_tail(path, roundtrip(first)) or ())
    assert facts(second)["title"] == "Foxes"
    assert [m.text for m in messages(second)] == ["Foxes", "reply"]


def test_a_checkpoint_stays_small(write: Callable[..., Path]) -> None:
    records: list[Record] = [meta()]
    for n in range(1000):
        records += [*prompt(f"prompt {n}", n), call(f"c{n}", "exec_command", n, cmd="echo " * 1000)]
        records += [model_answer(f"answer {n}", n), call(f"p{n}", "update_plan", n, plan=[{"step": f"step {n}"}])]
    checkpoint = parse(write(*records))[-1]
    assert isinstance(checkpoint, Checkpoint)
    assert len(json.dumps(checkpoint.state)) < 100_000
