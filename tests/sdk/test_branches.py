"""Which parts of a session's tree are on its active branch."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sesame_core.sdk import branches
from sesame_core.sdk.branches import CARRIED, Segments


def test_a_session_that_only_grows_is_one_segment() -> None:
    tree = Segments()
    assert [tree.add(entry) for entry in "abc"] == [0, 0, 0]
    assert tree.abandoned() == ()


def test_a_rewound_branch_is_abandoned() -> None:
    """a b | c d, rewound to b, | e f"""
    tree = Segments()
    tree.add("a")
    tree.add("b")
    assert tree.start("b") == 1
    tree.add("c")
    tree.add("d")
    assert tree.start("b") == 2
    assert tree.add("e") == 2
    assert tree.abandoned() == (1,)


def test_a_leaf_on_an_older_branch_makes_it_the_active_one() -> None:
    tree = Segments()
    tree.add("a")
    tree.start("a")
    tree.add("b")
    tree.start("a")
    tree.add("c")
    assert tree.abandoned("c") == (1,)
    assert tree.abandoned("b") == (2,)
    assert tree.abandoned("a") == (1, 2)


def test_a_branch_of_a_branch_keeps_its_whole_way_to_the_root() -> None:
    tree = Segments()
    tree.add("root")
    for parent, entry in [("root", "one"), ("root", "two"), ("one", "three"), ("three", "four")]:
        tree.start(parent)
        tree.add(entry)
    assert tree.abandoned() == (2,)
    assert tree.abandoned("two") == (1, 3, 4)


def test_a_second_root_leaves_the_first_tree() -> None:
    tree = Segments()
    tree.add("a")
    tree.start("a")
    assert tree.start_root() == 2
    tree.add("b")
    assert tree.abandoned() == (0, 1)
    assert tree.abandoned("a") == (1, 2)


def test_an_unknown_parent_or_leaf_is_the_latest() -> None:
    tree = Segments()
    tree.add("a")
    assert tree.start("nobody") == 1
    assert tree.start(None) == 2
    assert tree.of("nobody") is tree.of(None) is tree.of("") is None
    assert tree.abandoned("nobody") == ()


def test_an_entry_without_an_id_has_a_place_but_no_name() -> None:
    tree = Segments()
    assert tree.add(None) == tree.add("") == 0
    assert tree.state()["recent"] == []


def test_only_recent_entries_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branches, "RECENT", 3)
    tree = Segments()
    for entry in "abcd":
        tree.add(entry)
    assert [tree.of(entry) for entry in "abcd"] == [None, 0, 0, 0]


STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "start", "root"]), st.sampled_from(["", "a", "b", "c", "d", "e"])), max_size=30
)


def walk(tree: Segments, steps: list[tuple[str, str]]) -> None:
    for step, entry in steps:
        if step == "add":
            tree.add(entry)
        elif step == "start":
            tree.start(entry)
        else:
            tree.start_root()


@given(STEPS, STEPS)
def test_a_restored_tracker_goes_on_like_the_one_that_was_saved(
    before: list[tuple[str, str]], after: list[tuple[str, str]]
) -> None:
    tree = Segments()
    walk(tree, before)
    other = Segments.restore(json.loads(json.dumps(tree.state())))
    walk(tree, after)
    walk(other, after)
    assert other.abandoned() == tree.abandoned()
    assert other.state() == tree.state()
    assert tree.current not in tree.abandoned()
    assert set(tree.abandoned()) <= set(range(tree.current))


def test_the_saved_state_stays_small() -> None:
    tree = Segments()
    for number in range(1000):
        tree.add(f"entry {number}")
    assert len(tree.state()["recent"]) == CARRIED
    assert tree.state()["recent"][-1][0] == "entry 999"
