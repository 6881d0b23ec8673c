"""Patches: which files they change, and which lines of them."""

from __future__ import annotations

import pytest

from sesame_core.tool_calls.patches import patched, patched_files

PATCHES = {
    "*** Begin Patch\n*** Add File: a.py\n+x\n*** Update File: b.py\n@@\n-x\n+y\n*** End Patch": ["a.py", "b.py"],
    "*** Update File: a.py\n*** Move to: b.py\n@@\n-x\n+y": ["a.py", "b.py"],
    "*** Delete File: a.py\n": ["a.py"],
    "diff --git a/a.py b/b.py\nrename from a.py\nrename to b.py\n": ["a.py", "b.py"],
    "diff --git a/a.py b/b.py\nrename from a.py\nrename to b.py\n--- a/a.py\n+++ b/b.py\n@@\n-x\n+y": ["a.py", "b.py"],
    "--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+x": ["a.py"],
    "--- a/a.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x": ["a.py"],
    "--- a/a b.py\t2026-01-01\n+++ b/a b.py\t2026-01-02\n@@\n-x\n+y": ["a b.py"],
    "--- a.py\n+++ a.py\n@@": ["a.py"],
    "a list:\n--- one\n+ two": [],
    "": [],
}


@pytest.mark.parametrize("text", PATCHES)
def test_a_patch_names_the_files_that_it_changes(text: str) -> None:
    assert sorted(set(patched_files(text))) == PATCHES[text]


@pytest.mark.parametrize("text", PATCHES)
def test_no_change_is_of_a_file_that_the_patch_does_not_name(text: str) -> None:
    edits = list(patched(text.split("\n")))
    assert {name for edit in edits for name in (edit.path, edit.former) if name} <= set(PATCHES[text])


def test_a_line_that_looks_like_the_head_of_a_file_is_a_line() -> None:
    text = "--- a/q.sql\n+++ b/q.sql\n@@\n--- old comment\n+select 1"
    (edit,) = patched(text.split("\n"))
    assert (edit.path, edit.before, edit.block) == ("q.sql", ("-- old comment",), ("select 1",))


def test_a_file_that_is_renamed_and_changed_has_both_changes() -> None:
    text = "*** Update File: a.py\n*** Move to: b.py\n@@\n-x\n+y"
    renamed, changed = patched(text.split("\n"))
    assert (renamed.path, renamed.former, changed.path, changed.block) == ("b.py", "a.py", "b.py", ("y",))
