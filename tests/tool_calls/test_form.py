"""The form in which formatters write a call."""

from __future__ import annotations

import pytest

from sesame_core.tool_calls.form import command_in, fields, names

EDIT = "tool: Edit\npath: a.py\nold: x\nnew:\n1\npath: b.py\ncontent: 2"


def test_the_command_of_a_call_is_found_in_the_text_of_its_chunk() -> None:
    assert command_in("tool: Bash\ncommand: npm test\ndescription: Run the tests", "Bash") == "npm test"
    assert command_in("tool: bash\nvia: codemode\ncommand:\nset -e\nmake\ndescription: Build", "bash") == "set -e\nmake"
    assert command_in("tool: Edit\npath: x\nold: a\nnew: b", "Edit") is None


@pytest.mark.parametrize("text", ["", "tool: bash", "tool: bash\n", "tool: bash\ncommands: x", "tool: bash\ntext: no"])
def test_a_call_of_a_shell_without_a_command_has_none(text: str) -> None:
    assert command_in(text, "bash") is None


def test_what_a_file_contains_is_no_field() -> None:
    assert [(field.role, field.lines) for field in fields(EDIT)] == [
        ("path", ["a.py"]),
        ("old", ["x"]),
        ("new", ["1", "path: b.py", "content: 2"]),
    ]
    assert names(EDIT) == ["a.py"]


def test_a_file_that_is_named_after_its_change_is_named() -> None:
    assert names("tool: x\nold_string: a\nnew_string:\nb\nc\nfile_path: a.py") == ["a.py"]
