"""`show` and the preview of the picker fold the same chunks to the same lines."""

from __future__ import annotations

import re

import pytest

from sesame_core import Chunk
from sesame_core.picker.preview import Preview
from sesame_core.query.parser import parse
from sesame_core.rendering.screen.folding import folded, is_said, lines_of, most_of
from sesame_core.rendering.screen.style import Screen
from sesame_core.rendering.screen.transcript import transcript_screen
from sesame_core.types.index import StoredSession
from sesame_core.types.transcript import Session

LINES = [f"line {number}" for number in range(30)]
TEXT = "\n".join(LINES)


def chunk(kind: str, text: str = TEXT, **more: object) -> Chunk:
    return Chunk(kind=kind, text=text, seq=0, **{"role": "tool", **more})  # type: ignore[arg-type]


KINDS = {
    "an output": chunk("tool_result", tool_name="Bash"),
    "a failed output": chunk("tool_result", tool_name="Bash", is_error=True),
    "an output of one line more": chunk("tool_result", "\n".join(LINES[:4]), tool_name="Bash"),
    "an output of two lines more": chunk("tool_result", "\n".join(LINES[:5]), tool_name="Bash"),
    "a long command": chunk("tool_call", f"tool: Bash\ncommand: {TEXT}", role="assistant", tool_name="Bash"),
    "a file that is written": chunk(
        "tool_call", f"tool: Write\npath: a.py\ncontent:\n{TEXT}", role="assistant", tool_name="Write"
    ),
    "an edit": chunk(
        "tool_call",
        "tool: Edit\npath: a.py\nold:\n" + "a\n" * 9 + "b\n" * 9 + "new:\n" + "a\n" * 9 + "c\n" * 9,
        role="assistant",
        tool_name="Edit",
    ),
    "a small edit": chunk("tool_call", "tool: Edit\npath: a.py\nold: x\nnew: y", role="assistant", tool_name="Edit"),
    "injected text": chunk("message", role="system"),
    "a title": chunk("message", role="metadata"),
    "a file with numbers": chunk(
        "tool_result", "\n".join(f"{n}→{line}" for n, line in enumerate(LINES, 1)), tool_name="Read"
    ),
    "a long line": chunk("tool_result", "x" * 500, tool_name="Bash"),
    "an empty output": chunk("tool_result", "", tool_name="Bash"),
}


def shown(one: Chunk, *, is_full: bool) -> list[str]:
    """Return what `show` prints of a chunk below its heading."""
    stored = StoredSession(number=1, path="/w/s.jsonl", session=Session(id="s", agent="pi"))
    text = "\n".join(transcript_screen(stored, [one], Screen(width=60, height=24, has_color=False), is_full=is_full))
    lines = text.partition("#0 ")[2].split("\n")[1:]
    return [line.rstrip().replace(" (--full)", "") for line in lines]


def previewed(one: Chunk, *, is_full: bool) -> list[str]:
    """Return what the picker previews of a chunk below its heading."""
    rows = Preview([one], parse(""), 60, is_unfolded=is_full).window(0, 1000)[0]
    return ["".join(text for text, _ in row).rstrip() for row in rows][1:]


@pytest.mark.parametrize("name", KINDS)
def test_what_is_folded_in_a_preview_is_folded_in_a_transcript(name: str) -> None:
    assert previewed(KINDS[name], is_full=False) == shown(KINDS[name], is_full=False)


@pytest.mark.parametrize("name", [name for name in KINDS if name != "a long line"])
def test_what_is_whole_in_a_preview_is_whole_in_a_transcript(name: str) -> None:
    whole = previewed(KINDS[name], is_full=True)
    assert whole == shown(KINDS[name], is_full=True)
    assert not any(re.match("… .*line", line) for line in whole)


def test_a_single_line_is_never_hidden() -> None:
    assert [folded(lines, 3) for lines in (0, 3, 4, 5)] == [range(0), range(3), range(4), range(3)]


def test_lines_around_a_match_reach_to_the_end() -> None:
    assert folded(100, 5, first=40) == range(40, 45)
    assert folded(100, 5, first=99) == range(95, 100)
    assert folded(100, None, first=40) == range(100)


def test_what_was_said_is_not_folded() -> None:
    for role in ("user", "assistant", "summary"):
        said = chunk("message", role=role)
        assert is_said(said)
        assert most_of(said) is None
        assert [line.text for line in lines_of(said)] == LINES
