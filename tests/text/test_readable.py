"""The text of a chunk as people would write it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sesame_core import Message, ToolCall
from sesame_core.query.parser import parse
from sesame_core.text.readable import readable
from sesame_core.text.snippets import snippet
from sesame_formatter_default.formatter import DefaultFormatter


def call(name: str, **arguments: Any) -> str:
    message = Message(
        session_id="s", role="assistant", text="", tool_calls=(ToolCall(id="c", name=name, arguments=arguments),)
    )
    (chunk,) = DefaultFormatter().format(message)
    return " ".join(readable(chunk.text, chunk.kind).split())


@pytest.mark.parametrize("shell", ["Bash", "bash", "run_command", "exec_command", "PowerShell"])
def test_a_call_of_a_shell_is_written_as_on_a_prompt(shell: str) -> None:
    assert call(shell, command="gh pr create --title x") == "$ gh pr create --title x"


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("Bash", {"command": "npm test", "description": "Run the tests"}, "$ npm test # Run the tests"),
        ("Bash", {"command": "cd /w\nmake", "description": "Build"}, "$ cd /w make # Build"),
        ("Bash", {"command": ["git", "log"]}, "$ git log"),
        ("Bash", {"command": "cat <<E\ndescription: no\nE"}, "$ cat <<E description: no E"),
        ("Read", {"file_path": "/w/socket.ts", "limit": 5}, "Read /w/socket.ts"),
        ("read", {"path": "socket.ts"}, "read socket.ts"),
        ("Write", {"file_path": "/w/a.yml", "content": "path: x\nold: y"}, "Write /w/a.yml path: x old: y"),
        (
            "Edit",
            {"file_path": "/w/a.ts", "old_string": "let a", "new_string": "const a"},
            "Edit /w/a.ts - let a + const a",
        ),
        (
            "MultiEdit",
            {
                "file_path": "a",
                "edits": [{"oldText": "1\n2", "newText": "3"}, {"oldText": "4", "newText": "5"}],
            },
            "MultiEdit a - 1 2 + 3 - 4 + 5",
        ),
        ("Grep", {"pattern": "TODO", "path": "src", "glob": "*.ts"}, "Grep TODO src *.ts"),
        ("Task", {"description": "Find it", "prompt": "Look in src"}, "Task Find it Look in src"),
        ("WebFetch", {"url": "https://x.y", "prompt": "Sum up"}, "WebFetch https://x.y Sum up"),
        ("mcp__db__query", {"sql": "select 1"}, "mcp__db__query sql: select 1"),
        ("str_replace_editor", {"command": "view", "path": "a"}, "str_replace_editor command: view path: a"),
        ("TodoWrite", {"todos": [{"content": "x"}]}, "TodoWrite todos: - content: x"),
    ],
)
def test_a_call_of_a_tool_is_written_without_the_names_of_clear_arguments(
    name: str, arguments: dict[str, Any], expected: str
) -> None:
    assert call(name, **arguments) == expected


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("1→package main\n2→\n3→import x", "tool_result", "package main\n\nimport x"),
        ("     1→package main", "tool_result", "package main"),
        ("     9\tpackage\n    10\timport", "tool_result", "package\nimport"),
        ("found:\n 12→a\n 13→b\ndone", "message", "found:\na\nb\ndone"),
        ("1→2 is a migration", "message", "1→2 is a migration"),
        ("7\tapples\n3\tpears", "tool_result", "7\tapples\n3\tpears"),
        ("a → b", "tool_result", "a → b"),
        ("src/a.ts:12:x", "tool_result", "src/a.ts:12:x"),
        ("Run:\n```sh\nnpm test\n```\nthen", "message", "Run:\nnpm test\nthen"),
        ("~~~~python title=x\na = 1\n~~~~", "message", "a = 1\n"),
        ("  ```\n  x\n  ```", "message", "  x\n"),
        ("> ```\n> x\n> ```\n", "message", "> x\n"),
        ("use ```inline``` code", "message", "use ```inline``` code"),
        ("```not a fence``` x\ny", "message", "```not a fence``` x\ny"),
        ("```", "message", "```"),
        ("tool: Bash\ncommand: x", "message", "tool: Bash\ncommand: x"),
        ("no: label", "tool_call", "no: label"),
        ("tool: x", "tool_call", "x"),
    ],
)
def test_marks_for_machines_are_left_out(text: str, kind: str, expected: str) -> None:
    assert readable(text, kind) == expected


def test_the_words_that_matched_are_marked_where_they_are_shown() -> None:
    shown = snippet(
        readable("tool: Bash\ncommand: gh pr create\ndescription: Open it", "tool_call"), parse("pr create")
    )
    assert shown.text == "$ gh pr create # Open it"
    assert [shown.text[start:end] for start, end in shown.marks] == ["pr", "create"]


@given(
    st.text(st.sampled_from("a1→\t\n`~: ") | st.characters()), st.sampled_from(["message", "tool_call", "tool_result"])
)
def test_every_text_has_a_readable_form_that_is_no_longer(text: str, kind: str) -> None:
    assert len(readable(text, kind)) <= len(text)


@given(st.text())
def test_plain_text_stays(text: str) -> None:
    assert readable(text) == text or set(text) & set("→\t`~")
