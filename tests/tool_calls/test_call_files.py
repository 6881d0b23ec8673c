"""Which files a call names, and which it changes: of the tools of all agents, and of commands of a shell."""

from __future__ import annotations

from typing import Any

import pytest

from sesame_core import ToolCall
from sesame_core.tool_calls.call_files import files_of
from sesame_formatter_default.tool_calls import describe


def named(tool: str, directory: str | None = None, **arguments: Any) -> dict[str, bool]:
    text, _ = describe(ToolCall(id="c1", name=tool, arguments=arguments))
    return {one.path: one.is_changed for one in files_of(text, directory)}


@pytest.mark.parametrize(
    ("tool", "arguments", "changed"),
    [
        ("Edit", {"file_path": "/w/a.py", "old_string": "a", "new_string": "b"}, True),
        ("Write", {"file_path": "/w/a.py", "content": "x = 1"}, True),
        ("MultiEdit", {"file_path": "/w/a.py", "edits": [{"old_string": "a", "new_string": "b"}]}, True),
        ("NotebookEdit", {"notebook_path": "/w/a.py", "new_source": "x"}, True),
        ("edit", {"path": "/w/a.py", "oldText": "a", "newText": "b"}, True),
        ("replace", {"file_path": "/w/a.py", "old_string": "a", "new_string": "b"}, True),
        ("write_file", {"absolute_path": "/w/a.py", "content": "x"}, True),
        ("apply_patch", {"path": "/w/a.py", "patch": "@@\n-a\n+b"}, True),
        ("apply_patch", {"path": "/w/a.py", "action": "delete"}, True),
        ("str_replace_editor", {"command": "str_replace", "path": "/w/a.py", "old_str": "a", "new_str": "b"}, True),
        ("str_replace_editor", {"command": "create", "path": "/w/a.py", "file_text": "x"}, True),
        ("str_replace_editor", {"command": "view", "path": "/w/a.py"}, False),
        ("mcp__files__write_file", {"path": "/w/a.py", "content": "x"}, True),
        ("mcp__files__read_file", {"path": "/w/a.py"}, False),
        ("edit_file", {"target_file": "/w/a.py", "code_edit": "x"}, True),
        ("mcp__fs__delete", {"file_path": "/w/a.py"}, True),
        ("Read", {"file_path": "/w/a.py", "offset": 3}, False),
        ("view", {"filePath": "/w/a.py"}, False),
        ("Grep", {"pattern": "fox", "path": "/w/a.py"}, False),
    ],
)
def test_a_tool_changes_a_file_or_only_names_it(tool: str, arguments: dict[str, Any], changed: bool) -> None:
    assert named(tool, **arguments) == {"/w/a.py": changed}


def test_a_patch_of_several_files_changes_all_of_them() -> None:
    edits = [{"path": "a.py", "patch": "@@\n-x\n+y"}, {"path": "b.py", "content": "z"}, {"path": "c.py"}]
    assert named("apply_patch", edits=edits) == {"a.py": True, "b.py": True, "c.py": True}
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Delete File: b.py\n*** End Patch"
    assert named("apply_patch", patch=patch) == {"a.py": True, "b.py": True}
    diff = "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-x\n+y\n--- /dev/null\n+++ b/src/b.py\n"
    assert named("patch", diff=diff) == {"src/a.py": True, "src/b.py": True}


@pytest.mark.parametrize(
    "text",
    [
        "text:\nTool use: **Bash** `rm src/a.py`\n```\nb.py changed > c.py\n```",
        "text:\nTool use: **Bash**\n```bash\nrm src/a.py\n```\n```\nrm b.py\n```",
        'arguments:\n{"cmd":"cat <<E\\nb.py\\nE\\nrm src/a.py","workdir":"/w"}',
        'arguments:\n{"command": "rm src/a.py',
        'arguments:\n{"command": "rm src/a.py\\n\\u00',
    ],
)
def test_a_command_that_a_session_has_as_markdown_or_json_is_read(text: str) -> None:
    assert {one.path: one.is_changed for one in files_of(f"tool: shell\n{text}")} == {"src/a.py": True}


def test_a_program_calls_tools() -> None:
    patch = r'"*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+\"b.py\"\n*** End Patch"'
    assert named("exec", code=f"const p = {patch}; await tools.apply_patch(p)") == {"src/a.py": True}
    assert named("exec", "/w", code='await tools.exec_command({"cmd": "sed -i s/a/b/ c.py && cat d.py"})') == {
        "/w/c.py": True,
        "/w/d.py": False,
    }
    assert named("codemode", code="const t = await read({path: 'e.py'})") == {"e.py": False}
    assert named("codemode", code="fs.writeFileSync('f.py', 'x y z')")["f.py"]


def test_what_is_written_into_a_file_names_no_other() -> None:
    text = "path: /w/other.py\nfile: x.py\n--- a/diff.py\n+++ b/diff.py\n*** Update File: patched.py\n"
    assert named("Write", file_path="/w/notes.yaml", content=text) == {"/w/notes.yaml": True}
    assert named("Edit", file_path="/w/a.md", old_string="path: /w/b.py\nx", new_string="file: c.py\ny") == {
        "/w/a.md": True
    }


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat a.py", {"a.py": False}),
        ("sed -i 's/a/b/' a.py b.py", {"a.py": True, "b.py": True}),
        ("sed -i '' -e 's/a/b/' a.py", {"a.py": True}),
        ("sed -n 1,5p a.py", {"a.py": False}),
        ("perl -pi -e 's/a/b/' a.py", {"a.py": True}),
        ("cat > a.py <<'EOF'\nimport b.py\nsee c.py\nEOF", {"a.py": True}),
        ("cat <<EOF >> a.py\nx\nEOF", {"a.py": True}),
        ("echo hi>a.txt", {"a.txt": True}),
        ("make 2>&1 | tee out.log", {"out.log": True}),
        ("go test ./... 2> err.log", {"err.log": True}),
        ("rm -f a.py && git mv b.py c.py", {"a.py": True, "b.py": True, "c.py": True}),
        ("git add a.py && git commit -m 'rewrite b.py'", {"a.py": False}),
        ("git rm --cached a.py", {"a.py": False}),
        ("git checkout -- a.py", {"a.py": False}),
        ("git checkout main", {}),
        ("cp a.py b.py", {"a.py": False, "b.py": True}),
        ("gofmt -w a.go; gofmt -l b.go", {"a.go": True, "b.go": False}),
        ("npx prettier --write src/a.ts", {"src/a.ts": True}),
        ("ruff format a.py", {"a.py": True}),
        ("ruff check a.py", {"a.py": False}),
        ("sudo -E tee /etc/a.conf < b.conf", {"/etc/a.conf": True, "b.conf": False}),
        ("FOO=1 pytest tests/a.py::test_x b.py:12", {"tests/a.py": False, "b.py": False}),
        ("python3 - <<'E'\nopen('a.py', 'w').write('x')\nE", {"a.py": True}),
        ("python3 - <<'E'\nprint(open('a.py').read())\nE", {"a.py": False}),
        ("python3 -c \"p=r'C:\\w\\a.py'; open(p, 'w').write('x')\"", {"C:\\w\\a.py": True}),
        ("node -e \"require('fs').writeFileSync('a.json', '1')\"", {"a.json": True}),
        ("git apply <<'E'\n--- a/a.py\n+++ b/a.py\n@@\nE", {"a.py": True}),
        ("Set-Content -Path a.ps1 -Value x", {"a.ps1": True}),
        ("Get-Content a.ps1", {"a.ps1": False}),
        ("rm 'with space.py'", {"with space.py": True}),
        ("rm with\\ space.py", {"with space.py": True}),
        ("for f in *.py; do rm $f; done", {}),
        ("curl https://example.org/a.py", {}),
        ("if [ -f a.py ]; then rm a.py; fi", {"a.py": True}),
        ("bash -lc 'rm a.py && cat b.py'", {"a.py": True, "b.py": False}),
        ("sh <<EOF\nrm a.py\nEOF", {"a.py": True}),
        ("(cd x; rm a.py)", {"x/a.py": True}),
        ("rm app/(group)/page.tsx", {"app/(group)/page.tsx": True}),
        ("for f in a; do rm $f; done > log.txt", {"log.txt": True}),
        ("X=$(sed -i s/a/b/ a.py)", {"a.py": True}),
        ("git commit -m \"$(cat <<'E'\nsee a.py, don't\nE\n)\" && rm b.py", {"b.py": True}),
        ("Set-Content (Join-Path $x 'a.txt') 'y'", {"a.txt": True}),
        ("sed -i s/a/b/ src\\a.py", {"src\\a.py": True}),
    ],
)
def test_a_command_changes_a_file_or_only_names_it(command: str, expected: dict[str, bool]) -> None:
    found = named("Bash", command=command)
    assert {path: of for path, of in found.items() if "." in path} == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("rm a.py", "/w/x/a.py"),
        ("cd sub && rm ./a.py", "/w/x/sub/a.py"),
        ("cd /other; rm a.py", "/other/a.py"),
        ("rm /abs/a.py", "/abs/a.py"),
        ("rm D:\\w\\a.py", "D:\\w\\a.py"),
        ("rm ~/a.py", "~/a.py"),
    ],
)
def test_a_relative_path_is_below_the_directory_of_the_command(command: str, expected: str) -> None:
    assert named("Bash", "/w/x", command=command) == {expected: True}


@pytest.mark.parametrize(
    "command",
    [
        "",
        "'",
        "\ndescription: x" * 9_000,
        '"$(',
        "<<EOF",
        "cat <<'E'\n",
        ">",
        "| | &&",
        "\\",
        "x" * 100_000,
        "('" * 5_000,
    ],
)
def test_a_broken_command_is_read_as_far_as_it_can_be(command: str) -> None:
    files_of(f"tool: Bash\ncommand: {command}")


@pytest.mark.parametrize(
    "text",
    ["Edit\npath: a\nnew:\n" + "old: 1\n" * 9_000, "exec\ncode: " + '\\"' * 50_000, "bash\ntext: " + "`x" * 50_000],
)
def test_a_hostile_call_is_read_in_linear_time(text: str) -> None:
    files_of(f"tool: {text}")
