"""The calls of six agents: which lines are those of an edit, the same wherever a session is read."""

from __future__ import annotations

import re
from typing import Any

import pytest

from sesame_core import Chunk, ToolCall
from sesame_core.picker.preview import Preview
from sesame_core.query.parser import parse
from sesame_core.rendering.calls import call_lines
from sesame_core.rendering.export.markdown import markdown
from sesame_core.rendering.export.pieces import Piece, pieces
from sesame_core.rendering.screen.style import Screen
from sesame_core.rendering.screen.transcript import transcript_screen
from sesame_core.types.export import Export, Part
from sesame_core.types.index import StoredSession
from sesame_core.types.transcript import Session
from sesame_core.web.showing import body
from sesame_formatter_default.tool_calls import describe
from sesame_parser_codex.patches import arguments_of

STORED = StoredSession(number=1, path="/w/s.jsonl", session=Session(id="s", agent="pi"))
PATCH = "*** Begin Patch\n*** Update File: a.py\n@@ def dig():\n # deep\n-- 1\n+- 2\n*** End Patch"
UNIFIED = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n # deep\n-- 1\n+- 2"
TWO_FILES = PATCH.replace("*** End", "*** Add File: b.md\n+# Dens\n+- one\n*** End")
DIG = ["-- 1", "+- 2"]


def call(name: str, arguments: Any, **more: Any) -> str:
    return describe(ToolCall(id="c", name=name, arguments=arguments, **more))[0]


#: The texts of calls, and the lines of each that are marked.
EDITS = {
    "Claude Code's Edit of a list": (
        call("Edit", {"file_path": "a.md", "old_string": "- one\n- two", "new_string": "- one\n- three"}),
        ["-- two", "+- three"],
    ),
    "MultiEdit": (
        call("MultiEdit", {"file_path": "a", "edits": [{"old_string": str(n), "new_string": "0"} for n in (1, 2)]}),
        ["-1", "+0", "-2", "+0"],
    ),
    "an Edit that only removes": (
        call("Edit", {"file_path": "a", "old_string": "one\n- two", "new_string": ""}),
        ["-one", "-- two"],
    ),
    "an Edit that only adds": (
        call("Edit", {"file_path": "a", "old_string": "", "new_string": "one\n- two"}),
        ["+one", "+- two"],
    ),
    "pi's edit": (call("edit", {"path": "a", "oldText": "one", "newText": "two"}), ["-one", "+two"]),
    "OpenCode's edit": (call("edit", {"filePath": "a", "oldString": "one", "newString": "two"}), ["-one", "+two"]),
    "Gemini's replace with an instruction": (
        call("replace", {"file_path": "a", "old_string": "1", "new_string": "2", "instruction": "- count"}),
        ["-1", "+2"],
    ),
    "Copilot's str_replace_editor": (
        call("str_replace_editor", {"command": "str_replace", "path": "a", "old_str": "1", "new_str": "2"}),
        ["-1", "+2"],
    ),
    "Codex's apply_patch": (call("apply_patch", arguments_of(PATCH)), DIG),
    "Codex's apply_patch without @@": (call("apply_patch", {"path": "a.py", "patch": " # deep\n-- 1\n+- 2"}), DIG),
    "Codex's apply_patch that also adds a list": (call("apply_patch", arguments_of(TWO_FILES)), DIG),
    "Copilot's apply_patch": (call("apply_patch", {"input": PATCH, "edits": [{"path": "a.py"}]}), DIG),
    "OpenCode's apply_patch of two files": (
        call("apply_patch", {"patchText": TWO_FILES}),
        [*DIG, "+# Dens", "+- one"],
    ),
    "a patch in the command of a shell": (
        call("Bash", {"command": f"apply_patch <<'EOF'\n{PATCH}\nEOF\ncat <<'EOF'\n- a list\nEOF"}),
        DIG,
    ),
    "a unified diff in the command of a shell": (
        call("bash", {"command": f"git apply <<'EOF'\n{UNIFIED}\nEOF\ncurl \\\n-H 'a: b'"}),
        DIG,
    ),
    "a unified diff that is written to a file": (call("write", {"path": "a.diff", "content": UNIFIED}), DIG),
}
LIST = "Do this:\n- one\n- two\n+ three"
NO_EDITS = {
    "Claude Code's TodoWrite": call("TodoWrite", {"todos": [{"content": "dig", "status": "pending"}] * 2}),
    "Codex's update_plan": call("update_plan", {"explanation": LIST, "plan": [{"step": "dig", "status": "pending"}]}),
    "a list in a prompt": call("Agent", {"description": "Dig", "prompt": LIST}),
    "a list in a file that is written": call("Write", {"file_path": "a.md", "content": LIST}),
    "the labels of an edit in a file that is written": call("write", {"path": "a.yml", "content": "old: 1\nnew: 2"}),
    "a list in the input of an unknown tool": call("mcp__notes__add", {"path": "a.md", "input": LIST}),
    "options of a command on lines of their own": call("Bash", {"command": "curl \\\n-H 'a: b' \\\n-o c"}),
    "the labels of an edit in a command": call("Bash", {"command": "cat <<'EOF'\nold: 1\nnew: 2\nEOF"}),
    "a front matter": call("Write", {"file_path": "a.md", "content": "---\ntitle: a\n---\n- one"}),
}
CALLS = {**{name: (text, []) for name, text in NO_EDITS.items()}, **EDITS}


def chunk(text: str, kind: str = "tool_call") -> Chunk:
    return Chunk(kind=kind, role="assistant", tool_name="a", text=text)  # type: ignore[arg-type]


def part(text: str, kind: str = "tool_call") -> Part:
    return Part(stored=STORED, chunks=(chunk(text, kind),))


def piece(text: str, kind: str = "tool_call") -> Piece:
    return next(pieces(part(text, kind)))


def on_screen(text: str, kind: str = "tool_call") -> list[str]:
    screen = Screen(width=80, height=24)
    shown = "\n".join(transcript_screen(STORED, [chunk(text, kind)], screen, is_full=True))
    return re.findall(r"\x1b\[3[12]m(.*)\x1b\[0m", shown)


def in_preview(text: str, kind: str = "tool_call") -> list[str]:
    rows = Preview([chunk(text, kind)], parse(""), 80, is_unfolded=True).window(0, 1000)[0]
    return [span for row in rows for span, style in row if style in ("removed", "added")]


def on_page(text: str, kind: str = "tool_call") -> list[str]:
    return re.findall(r"<(?:ins|del)>([^<]*)</(?:ins|del)>", body(piece(text, kind), None))


@pytest.mark.parametrize("name", CALLS)
def test_the_lines_of_an_edit_are_marked_and_no_others(name: str) -> None:
    text, marked = CALLS[name]
    assert [line.text for line in call_lines(text) if line.side] == marked
    assert all(line.text.startswith(line.side) for line in call_lines(text))
    assert on_screen(text) == in_preview(text) == on_page(text) == marked


@pytest.mark.parametrize("name", CALLS)
def test_only_a_call_with_an_edit_is_exported_as_a_diff(name: str) -> None:
    text, marked = CALLS[name]
    exported = "".join(markdown(Export(parts=(part(text),))))
    assert ("```diff\n" in exported) == bool(marked)


@pytest.mark.parametrize("name", CALLS)
def test_no_word_of_a_call_is_lost(name: str) -> None:
    text, _ = CALLS[name]
    shown = "\n".join(line.text for line in call_lines(text))
    labels = set("path old new content command description prompt old_str new_str".split())
    assert set(re.findall(r"\w+", text.partition("\n")[2])) - labels <= set(re.findall(r"\w+", shown))


def test_a_unified_diff_in_an_output_is_plain() -> None:
    for shown in (on_screen, in_preview, on_page):
        assert shown(f"$ git diff\n{UNIFIED}", "tool_result") == []


def test_several_edits_stand_apart() -> None:
    lines = call_lines("tool: MultiEdit\npath: a\nold: x\nnew: y\nold: 1\nnew: 2")
    assert [line.text for line in lines] == ["MultiEdit a", "-x", "+y", "…", "-1", "+2"]


def test_files_of_a_patch_stay_in_order() -> None:
    lines = call_lines(call("apply_patch", arguments_of(TWO_FILES)))
    assert [line.text.strip() for line in lines][-4:] == ["- path: b.md", "content:", "# Dens", "- one"]


def test_a_call_that_is_cut_in_a_patch_is_shown_to_its_end() -> None:
    assert [line.text for line in call_lines("tool: apply_patch\npath: a\npatch:\n@@\n-on")] == [
        "apply_patch a",
        "patch:",
        "@@",
        "-on",
    ]
