"""A transcript on a screen: folded, rendered, marked, and as harmless as anywhere."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from sesame_core.query.parser import parse
from sesame_core.rendering.screen.style import Screen
from sesame_core.rendering.screen.transcript import transcript_screen
from sesame_core.text.cells import cells
from sesame_core.types.index import Chunk, StoredSession
from sesame_core.types.transcript import Session

STORED = StoredSession(
    number=1,
    path="/w/fox.jsonl",
    session=Session(
        id="35ea950f-1", agent="pi", cwd="/w/den", title="A den", modified=datetime(2026, 5, 1, tzinfo=UTC)
    ),
)
LONG = "\n".join(f"line {number}" for number in range(30))


def shown(*chunks: Chunk, columns: int = 60, color: bool = False, **options: object) -> str:
    screen = Screen(width=columns, height=24, has_color=color)
    return "\n".join(transcript_screen(STORED, chunks, screen, **options))  # type: ignore[arg-type]


def said(text: str, role: str = "assistant", **more: object) -> Chunk:
    return Chunk(kind="message", role=role, text=text, **more)  # type: ignore[arg-type]


def call(text: str, tool: str = "Edit") -> Chunk:
    return Chunk(kind="tool_call", role="assistant", tool_name=tool, text=text)


def result(text: str, **more: object) -> Chunk:
    return Chunk(kind="tool_result", role="tool", tool_name="Bash", text=text, **more)  # type: ignore[arg-type]


def test_markdown_is_rendered() -> None:
    text = shown(said("# Why\n\nThe **fox** digs:\n\n- deep\n- `fast`\n\n```sh\nnpm test\n```"))
    assert "**" not in text
    assert "```" not in text
    assert "• deep" in text
    assert "npm test" in text


def test_lines_that_a_person_typed_stay_lines() -> None:
    assert "first\nsecond" in shown(said("first\nsecond", "user"))


@pytest.mark.parametrize(
    ("chunk", "lines"),
    [
        (result(LONG), 3),
        (result(LONG, is_error=True), 10),
        (said(LONG, "system"), 1),
        (said(LONG, "metadata"), 1),
        (call(f"tool: Bash\ncommand: {LONG}", "Bash"), 12),
    ],
)
def test_outputs_and_injected_text_are_folded(chunk: Chunk, lines: int) -> None:
    text = shown(chunk)
    assert len(re.findall(r"^.*line \d+$", text, re.MULTILINE)) == lines
    assert f"… {30 - lines} more lines (--full)" in text
    assert text != shown(chunk, is_full=True)
    assert len(re.findall(r"^.*line \d+$", shown(chunk, is_full=True), re.MULTILINE)) == 30


def test_the_chunk_that_is_looked_for_is_not_folded() -> None:
    text = shown(result(LONG), result(LONG), marked=0)
    assert "more lines" not in shown(result(LONG), marked=0)
    assert "→0 Bash result" in text


def test_an_edit_is_a_diff() -> None:
    edit = "tool: Edit\npath: src/den.py\nold:\ndef dig():\n    pass\n    return 1\n"
    edit += "new:\ndef dig():\n    go()\n    return 1"
    text = shown(call(edit))
    assert "Edit src/den.py\n def dig():\n-    pass\n+    go()\n     return 1" in text
    assert "\x1b[31m-    pass\x1b[0m\n\x1b[32m+    go()\x1b[0m" in shown(call(edit), color=True)


def test_what_a_query_finds_is_marked_in_markdown_and_in_output() -> None:
    text = shown(said("the **foxes** dig"), result("a fox"), color=True, query=parse("fox"))
    assert re.search(r"\x1b\[1;33mfoxes\x1b\[0m", text)
    assert re.search(r"\x1b\[[12];?3?3?;?m?.*fox", text)
    assert "\x1b[1;33m" not in shown(said("the foxes dig"), color=True)


@pytest.mark.parametrize("columns", [20, 40, 80, 120])
@pytest.mark.parametrize("text", ["日本語 " * 40, "x" * 300, "🐹 hamster " * 30, "a | b\n--|--\n1 | 2"])
def test_no_line_is_wider_than_the_screen(columns: int, text: str) -> None:
    lines = shown(said(text), result(text), call(f"tool: Bash\ncommand: {text}"), columns=columns).split("\n")
    assert max(map(cells, lines)) <= columns


def test_the_path_of_a_session_stays_whole_to_be_copied() -> None:
    stored = StoredSession(number=1, path=f"/w/{'deep/' * 20}fox.jsonl", session=STORED.session)
    top = next(iter(transcript_screen(stored, [], Screen(width=40, height=24, has_color=False))))
    assert f"  {stored.path}" in top.split("\n")


def test_nothing_in_a_transcript_steers_the_terminal() -> None:
    evil = "\x1b]0;owned\x07\x1b[2Jfox\x9b31m\u202e [x](javascript:1) \x08"
    for color in (False, True):
        text = shown(said(evil, tool_name=None), result(evil), call(evil, evil), color=color, query=parse("fox"))
        assert not re.search(r"\x1b(?!\[[\d;]*m)|[\x07\x08\x9b\u202e]", text)
        assert color or "\x1b" not in text
