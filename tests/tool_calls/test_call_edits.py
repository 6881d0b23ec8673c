"""What a call wrote, read from its text: as the default formatter writes the calls of every agent."""

from __future__ import annotations

from typing import Any

import pytest

from sesame_core import Message, ToolCall
from sesame_core.testing.formatters import EDITS
from sesame_core.tool_calls.call_edits import edits
from sesame_core.tool_calls.changes import Edit
from sesame_formatter_default.formatter import DefaultFormatter


def of(name: str, **arguments: Any) -> list[Edit]:
    """Return the edits of a call."""
    call = ToolCall(id="c", name=name, arguments=arguments)
    (chunk,) = DefaultFormatter().format(Message(session_id="s", role="assistant", tool_calls=(call,)))
    return edits(chunk.text)


def wrote(found: list[Edit]) -> list[tuple[str, list[str], list[str]]]:
    """Return file, added and removed lines of each edit."""
    return [(e.path, [e.block[n] for n in sorted(e.fresh)], [e.before[n] for n in sorted(e.gone)]) for e in found]


PATCH = "*** Begin Patch\n*** Update File: a.py\n@@ def f\n x\n-y\n+z\n*** End Patch"
DIFF = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Edit", {"file_path": "a.py", "old_string": "x\ny", "new_string": "x\nz"}),
        ("edit", {"path": "a.py", "oldText": "x\ny", "newText": "x\nz"}),
        ("edit", {"path": "a.py", "edits": [{"oldText": "x\ny", "newText": "x\nz"}]}),
        ("MultiEdit", {"file_path": "a.py", "edits": [{"old_string": "x\ny", "new_string": "x\nz"}]}),
        ("replace", {"file_path": "a.py", "instruction": "do", "old_string": "x\ny", "new_string": "x\nz"}),
        ("edit", {"filePath": "a.py", "oldString": "x\ny", "newString": "x\nz"}),
        ("str_replace_editor", {"command": "str_replace", "path": "a.py", "old_str": "x\ny", "new_str": "x\nz"}),
        ("some_new_tool", {"old_string": "x\ny", "new_string": "x\nz", "file_path": "a.py"}),
        ("apply_patch", {"path": "a.py", "patch": "@@ def f\n x\n-y\n+z"}),
        ("apply_patch", {"input": PATCH, "edits": [{"path": "a.py"}]}),
        ("apply_patch", {"patchText": PATCH, "edits": [{"path": "a.py"}]}),
        ("patch", {"diff": DIFF}),
        ("mcp__files__edit", {"diff": f"diff --git a/a.py b/a.py\nindex 1..2 100644\n{DIFF}"}),
    ],
)
def test_every_tool_says_what_it_replaced(name: str, arguments: dict[str, Any]) -> None:
    assert wrote(of(name, **arguments)) == [("a.py", ["z"], ["y"])]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Write", {"file_path": "a.py", "content": "x\ny"}),
        ("write", {"path": "a.py", "content": "x\ny"}),
        ("write_file", {"file_path": "a.py", "content": "x\ny"}),
        ("create_file", {"filePath": "a.py", "content": "x\ny"}),
        ("create", {"path": "a.py", "file_text": "x\ny"}),
        ("str_replace_based_edit_tool", {"command": "create", "path": "a.py", "file_text": "x\ny"}),
        ("apply_patch", {"path": "a.py", "content": "x\ny"}),
        ("apply_patch", {"input": "*** Begin Patch\n*** Add File: a.py\n+x\n+y\n*** End Patch"}),
        ("bash", {"command": "cat > a.py <<'EOF'\nx\ny\nEOF"}),
        ("shell", {"command": ["bash", "-lc", "cat <<EOF > a.py\nx\ny\nEOF"]}),
        ("bash", {"command": "tee a.py <<-EOF > /dev/null\nx\ny\nEOF\necho done"}),
        ("bash", {"command": "bash -lc 'cat > a.py <<EOF\nx\ny\nEOF'"}),
        ("bash", {"command": "cat <<EOF | sudo tee a.py\nx\ny\nEOF", "description": "Write it"}),
        ("bash", {"command": "printf 'x\\ny' | tee a.py"}),
        ("bash", {"command": "mkdir b\necho 'x\\ny' > a.py"}),
    ],
)
def test_every_tool_says_what_it_wrote(name: str, arguments: dict[str, Any]) -> None:
    found = [edit for edit in of(name, **arguments) if edit.way != "script"]
    assert wrote(found) == [("a.py", ["x", "y"], [])]
    assert found[0].is_whole


def test_what_a_file_contains_is_not_an_argument() -> None:
    text = "old: 1\nnew: 2\npath: 3\ncontent: 4"
    assert wrote(of("Write", file_path="a.yml", content=text)) == [("a.yml", text.split("\n"), [])]
    text = "path: 3\ncontent: 4\nnew: 2\ncommand: go"
    found = of("Edit", file_path="a.yml", old_string="a\nb", new_string=f"a\n{text}")
    assert wrote(found) == [("a.yml", text.split("\n"), ["b"])]


def test_a_deletion_has_no_new_text() -> None:
    assert wrote(of("Edit", file_path="a.py", old_string="x\ny", new_string="")) == [("a.py", [], ["x", "y"])]
    pairs = [{"oldText": "x", "newText": ""}, {"oldText": "y\nz", "newText": "z"}]
    assert wrote(of("edit", path="a.py", edits=pairs)) == [("a.py", [], ["x"]), ("a.py", [], ["y"])]


def test_a_patch_of_several_files() -> None:
    changes = [{"path": "a.py", "patch": "@@\n-x\n+y"}, {"path": "b.py", "content": "1\n2"}]
    found = of("apply_patch", edits=[*changes, {"path": "c.py", "action": "delete"}])
    assert wrote(found) == [("a.py", ["y"], ["x"]), ("b.py", ["1", "2"], []), ("c.py", [], [])]
    assert [edit.is_whole for edit in found] == [False, True, True]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("bash", {"command": "git mv src/a.py src/b.py"}),
        ("bash", {"command": "cd src && mv a.py b.py"}),
        ("bash", {"command": "mv 'src/a.py' src/b.py && npm test"}),
        ("apply_patch", {"edits": [{"path": "src/a.py", "patch": "@@\n-x\n+y"}, {"path": "src/b.py"}]}),
        ("apply_patch", {"input": "*** Update File: src/a.py\n*** Move to: src/b.py\n@@\n-x\n+y"}),
        ("patch", {"diff": "diff --git a/src/a.py b/src/b.py\nrename from src/a.py\nrename to src/b.py\n"}),
    ],
)
def test_a_renamed_file(name: str, arguments: dict[str, Any]) -> None:
    (found,) = [edit for edit in of(name, **arguments) if edit.former]
    assert found.path == "src/b.py"
    assert found.former in ("src/a.py", "a.py")


@pytest.mark.parametrize(
    ("command", "replaced"),
    [
        ("sed -i 's/foo/bar/' src/a.py", ("foo", "bar")),
        ("sed -i '' -e 's|foo|bar|g' src/a.py", ("foo", "bar")),
        ("sed -i.bak 's#a/b#c/d#' src/a.py", ("a/b", "c/d")),
        ("perl -pi -e 's/foo/bar/g' src/a.py", ("foo", "bar")),
        (r"sed -i 's/a\.b/a\/b/' src/a.py", ("a.b", "a/b")),
        (r"sed -i 's/\(a\)b/\1c/' src/a.py", ("", "")),
    ],
)
def test_a_string_that_was_replaced_everywhere(command: str, replaced: tuple[str, str]) -> None:
    (found,) = of("bash", command=command)
    assert (found.path, found.replaced) == ("src/a.py", (replaced,))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Read", {"file_path": "a.py"}),
        ("Grep", {"pattern": "new: x", "path": "src"}),
        ("bash", {"command": "grep -rn foo src"}),
        ("bash", {"command": "sed -n '1,20p' a.py"}),
        ("bash", {"command": "echo 'unclosed"}),
        ("str_replace_based_edit_tool", {"command": "view", "path": "a.py"}),
        ("TodoWrite", {"todos": [{"content": "write a.py", "status": "pending"}]}),
    ],
)
def test_a_call_that_wrote_nothing(name: str, arguments: dict[str, Any]) -> None:
    assert of(name, **arguments) == []


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("cd a && rm x && cd b && echo 1 > c.py", "a/b/c.py"),
        ("cd a\nsed -i s/x/y/ c.py\ngo vet ./...", "a/c.py"),
        ("git -C a mv b.py c.py", "c.py"),
    ],
)
def test_a_command_after_others_is_where_they_went(command: str, path: str) -> None:
    assert [edit.path for edit in of("bash", command=command)] == [path]


def test_what_a_program_reads_is_not_what_it_writes() -> None:
    found = of("bash", command="python3 - <<'EOF' > out.txt\nprint('x')\nEOF")
    assert [(edit.path, edit.way) for edit in found] == [("", "script")]


@pytest.mark.parametrize("text", ["", "tool: ", "path: a.py\nnew: x", "x" * 100, "tool: edit\nnew: x\n" * 1000])
def test_any_text_can_be_read(text: str) -> None:
    assert isinstance(edits(text), list)


@pytest.mark.parametrize(("name", "arguments", "text"), EDITS)
def test_the_documented_form_is_read(name: str, arguments: dict[str, Any], text: str) -> None:
    assert [edit.path for edit in edits(text) if edit.way != "script"]
