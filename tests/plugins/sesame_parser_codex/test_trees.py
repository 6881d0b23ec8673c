"""Forks, subagents, rewinds and segments: each text in one session, and with the right parent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .records import (
    CHILD,
    CHILD_TURN,
    OLD_TURN,
    PARENT,
    SEGMENT,
    THREAD,
    Record,
    answer,
    completed,
    context,
    event,
    messages,
    meta,
    model_answer,
    model_user,
    name,
    new_answer,
    new_prompt,
    parse,
    prompt,
    record,
    said,
    session,
    skipped,
    started,
)

COPIED = "copied from the session that it continues"
SPAWNED = {"subagent": {"thread_spawn": {"parent_thread_id": THREAD, "depth": 1, "agent_nickname": "Ada"}}}


def copies(second: float = 0) -> list[Record]:
    """The records of a parent in a child's file, with the time of the fork."""
    return [
        meta(PARENT, second),
        started(OLD_TURN, second),
        context(second, OLD_TURN),
        *prompt("old question", second),
        *answer("old reply", second),
        record("compacted", {"message": "old summary"}, second),
    ]


def own(turn: str = CHILD_TURN, second: float = 0.02) -> list[Record]:
    return [started(turn, second), context(second, turn), *prompt("new question", second), *answer("new reply", 3)]


def with_parent(write: Callable[..., Path], *records: Any, **more: Any) -> Path:
    write(meta(PARENT), prompt("old question"), name=name(PARENT), **more)
    return write(*records, name=name(CHILD))


# -- forks ------------------------------------------------------------------------------------------------


def test_a_fork_has_its_own_turns_only(write: Callable[..., Path]) -> None:
    events = parse(with_parent(write, meta(CHILD, forked_from_id=PARENT), copies(), own()))
    assert said(events) == [("user", "new question"), ("assistant", "new reply")]
    assert (session(events).id, session(events).parent_id, session(events).kind) == (CHILD, PARENT, "interactive")
    assert set(skipped(events)) == {COPIED}


@pytest.mark.parametrize("place", ["archived_sessions", "sessions/2025/10/19", "sessions/2025/10/21"])
def test_the_parent_of_a_fork_may_be_in_another_directory(place: str, write: Callable[..., Path]) -> None:
    events = parse(with_parent(write, meta(CHILD, forked_from_id=PARENT), copies(), own(), place=place))
    # The day in the parent's id is 2025-10-20.
    assert ("user", "old question") not in said(events)


def test_a_fork_whose_parent_is_gone_keeps_the_copies(write: Callable[..., Path]) -> None:
    events = parse(write(meta(CHILD, forked_from_id=PARENT), copies(), own(), name=name(CHILD)))
    assert [text for _, text in said(events)] == [
        "old question",
        "old reply",
        "old summary",
        "new question",
        "new reply",
    ]
    assert (session(events).id, session(events).parent_id) == (CHILD, PARENT)
    assert skipped(events) == []


def test_the_copied_header_does_not_replace_the_ids(write: Callable[..., Path]) -> None:
    path = with_parent(write, meta(CHILD, forked_from_id=PARENT, cwd="/w"), meta(PARENT, cwd="/old"), own())
    assert (session(parse(path)).id, session(parse(path)).cwd) == (CHILD, "/w")


def test_a_fork_of_a_fork_has_its_own_turns_only(write: Callable[..., Path]) -> None:
    head = [meta(CHILD, forked_from_id=PARENT), meta(PARENT), meta("019a0400-0000-7000-8000-000000000011")]
    events = parse(with_parent(write, head, copies()[1:], own()))
    assert said(events) == [("user", "new question"), ("assistant", "new reply")]


def test_a_header_that_is_written_again_when_a_session_is_resumed_changes_nothing(write: Callable[..., Path]) -> None:
    events = parse(write(meta(), prompt("a"), answer("b"), meta(second=20), prompt("c", 21), answer("d", 22)))
    assert [text for _, text in said(events)] == ["a", "b", "c", "d"]


def test_a_strange_header_in_the_middle_hides_nothing(write: Callable[..., Path]) -> None:
    write(meta(PARENT), name=name(PARENT))
    events = parse(write(meta(), prompt("a"), meta(PARENT, 20), prompt("b", 20), answer("c", 21)))
    assert [text for _, text in said(events)] == ["a", "b", "c"]
    assert session(events).id == THREAD


def test_a_fork_whose_own_header_is_lost_has_the_id_in_its_name(write: Callable[..., Path]) -> None:
    events = parse(with_parent(write, b'{"timestamp":"2026\n', copies(), own()))
    assert session(events).id == CHILD
    assert said(events) == [("user", "new question"), ("assistant", "new reply")]


def test_a_fork_of_a_version_without_ids_of_turns_ends_its_copies_with_a_pause(write: Callable[..., Path]) -> None:
    old = "0b0b0b0b-0000-4000-8000-0000000000aa"
    write(meta(old), prompt("old question"), name=name(old))
    path = write(
        meta("0c0c0c0c-0000-4000-8000-0000000000bb", forked_from_id=old),
        meta(old),
        prompt("old question", 0),
        answer("old reply", 0.001),
        record("turn_context", {"cwd": "/w", "model": "fox"}, 5),
        prompt("new question", 5),
        answer("new reply", 6),
        name=name("0c0c0c0c-0000-4000-8000-0000000000bb"),
    )
    assert said(parse(path)) == [("user", "new question"), ("assistant", "new reply")]


def test_a_paginated_fork_only_points_to_its_parent(write: Callable[..., Path]) -> None:
    base = {"thread_id": PARENT, "end_ordinal_exclusive": 9, "end_byte_offset": 999}
    head = meta(CHILD, history_mode="paginated", forked_from_id=PARENT, history_base=base)
    path = with_parent(write, head, new_prompt("new question", 2, CHILD), new_answer("new reply", 3, CHILD))
    assert said(parse(path)) == [("user", "new question"), ("assistant", "new reply")]
    assert session(parse(path)).parent_id == PARENT


# -- subagents --------------------------------------------------------------------------------------------


def test_a_subagent_belongs_to_its_parent_and_its_prompt_is_no_persons(write: Callable[..., Path]) -> None:
    head = meta(CHILD, session_id=THREAD, parent_thread_id=THREAD, source=SPAWNED, thread_source="subagent")
    events = parse(write(head, own(), name=name(CHILD)))
    found = session(events)
    assert (found.id, found.parent_id, found.kind) == (f"{THREAD}/{CHILD}", THREAD, "subagent")
    assert [(m.role, m.source_type) for m in messages(events)][:1] == [("system", "sidechain")]


def test_a_subagent_of_an_old_version_names_its_parent_in_its_source(write: Callable[..., Path]) -> None:
    found = session(parse(write(meta(CHILD, source=SPAWNED), own(), name=name(CHILD))))
    assert (found.id, found.parent_id) == (f"{THREAD}/{CHILD}", THREAD)


def test_a_subagents_subagent_belongs_to_the_same_tree(write: Callable[..., Path]) -> None:
    head = meta(CHILD, session_id=PARENT, parent_thread_id=THREAD, thread_source="subagent")
    found = session(parse(write(head, own(), name=name(CHILD))))
    assert (found.id, found.parent_id) == (f"{PARENT}/{CHILD}", f"{PARENT}/{THREAD}")


def test_a_subagent_with_its_parents_context_has_its_own_turns_only(write: Callable[..., Path]) -> None:
    head = meta(CHILD, session_id=PARENT, parent_thread_id=PARENT, forked_from_id=PARENT, thread_source="subagent")
    settings = event("thread_settings_applied", 0, thread_settings={"model": "fox-9"})
    events = parse(with_parent(write, head, copies(), settings, own()))
    assert said(events) == [("system", "new question"), ("assistant", "new reply")]


def test_a_paginated_subagent_with_its_parents_context_has_its_own_items_only(write: Callable[..., Path]) -> None:
    head = meta(CHILD, session_id=PARENT, parent_thread_id=PARENT, thread_source="subagent", history_mode="paginated")
    path = with_parent(
        write,
        head,
        meta(PARENT),
        record("compacted", {"message": "old summary"}, 0),
        model_user("old question", 0),
        completed("UserMessage", 0, PARENT, id="u", content=[{"type": "text", "text": "old question"}]),
        event("thread_settings_applied", 0, thread_id=CHILD, thread_settings={"model": "fox-9"}),
        new_prompt("new question", 1, CHILD),
        new_answer("new reply", 2, CHILD),
        completed("AgentMessage", 3, PARENT, id="m", content=[{"type": "Text", "text": "old reply"}]),
    )
    assert said(parse(path)) == [("system", "new question"), ("assistant", "new reply")]
    assert session(parse(path)).model == "fox-9"


def test_a_subagent_that_has_not_begun_says_nothing(write: Callable[..., Path]) -> None:
    head = meta(CHILD, session_id=PARENT, parent_thread_id=PARENT, thread_source="subagent")
    assert said(parse(with_parent(write, head, copies()))) == []


# -- rewinds ----------------------------------------------------------------------------------------------


def turns(*texts: str, second: float = 2) -> list[Record]:
    return [
        one
        for n, text in enumerate(texts)
        for one in [*prompt(text, second + n), model_answer(f"re {text}", second + n)]
    ]


def abandoned(path: Path) -> list[str]:
    events = parse(path)
    off = session(events).abandoned or ()
    return [m.text for m in messages(events) if m.segment in off]


@pytest.mark.parametrize(
    ("records", "dropped"),
    [
        ([turns("a", "b", "c"), event("thread_rolled_back", num_turns=1)], ["c"]),
        ([turns("a", "b", "c"), event("thread_rolled_back", num_turns=2), turns("d", second=20)], ["b", "c"]),
        ([turns("a", "b"), event("thread_rolled_back", num_turns=2), turns("d", second=20)], ["a", "b"]),
        ([turns("a", "b"), event("thread_rolled_back", num_turns=9)], ["a", "b"]),
        ([turns("a"), event("thread_rolled_back", num_turns=0), turns("b", second=20)], []),
        ([turns("a"), event("thread_rolled_back"), turns("b", second=20)], []),
        (
            [
                turns("a", "b"),
                event("thread_rolled_back", num_turns=1),
                turns("c", "d", second=20),
                event("thread_rolled_back", num_turns=2),
                turns("e", second=30),
            ],
            ["b", "c", "d"],
        ),
        (
            [
                turns("a", "b", "c"),
                *[event("thread_rolled_back", n, num_turns=1) for n in (10, 11)],
                turns("d", second=20),
            ],
            ["b", "c"],
        ),
    ],
)
def test_turns_that_were_rolled_back_are_off_the_active_branch(
    records: list[Any], dropped: list[str], write: Callable[..., Path]
) -> None:
    path = write(meta(), *records)
    assert [text for text in abandoned(path) if not text.startswith("re ")] == dropped
    assert [text for text in abandoned(path) if text.startswith("re ")] == [f"re {text}" for text in dropped]


def test_the_segment_after_a_rewind_is_a_session_below_its_thread(write: Callable[..., Path]) -> None:
    base = {"thread_id": THREAD, "end_ordinal_exclusive": 5, "end_byte_offset": 500}
    head = meta(history_mode="paginated", history_base=base)
    write(meta(history_mode="paginated"), new_prompt("keep"), new_prompt("regret", 5))
    path = write(head, new_prompt("after", 9), new_answer("yes", 10), name=name(THREAD, SEGMENT))
    events = parse(path)
    assert (session(events).id, session(events).parent_id) == (f"{THREAD}/{SEGMENT}", THREAD)
    assert said(events) == [("user", "after"), ("assistant", "yes")]
