"""What a handoff has of a session."""

from __future__ import annotations

from typing import Any

import pytest

from sesame_core import Sesame
from sesame_core.rendering.export.handoff import handoff_text
from sesame_core.types.export import Handoff

from ..support.transcripts import CLAUDE_ID, Claude, Pi, write


def handed(*records: Any, max_bytes: int = 6_000, pi: Pi | None = None) -> Handoff:
    write(pi.path if pi else Claude().path, *records)
    with Sesame() as sesame:
        sesame.index()
        return sesame.handoff(pi.session if pi else CLAUDE_ID, max_bytes=max_bytes, redact=False)


def texts(points: Any) -> list[str]:
    return [point.text for point in points]


def test_requests_and_the_last_answer_to_each_are_quoted_with_their_places() -> None:
    s = Claude()
    found = handed(
        s.user("first"), s.answer("looking"), s.answer("done with first"), s.user("second"), s.answer("done with both")
    )
    assert [(p.position, p.text) for p in found.asked] == [(0, "first"), (3, "second")]
    assert [(p.position, p.text) for p in found.decided] == [(2, "done with first"), (4, "done with both")]
    assert not found.open
    assert not found.left_out
    assert "- second (11111111:3)" in handoff_text(found, "11111111")


def test_changed_files_are_those_that_were_written_and_not_only_read_nor_those_that_failed() -> None:
    s = Claude()
    found = handed(
        s.user("go"),
        s.call("Read", "c1", file_path="/a/read.py"),
        s.call("Edit", "c2", file_path="/a/edited.py", old_string="a", new_string="b"),
        s.call("Write", "c3", file_path="/a/written.py", content="x = 1"),
        s.call("Edit", "c4", file_path="/a/failed.py", old_string="a", new_string="b"),
        s.result("no match", "c4", is_error=True),
        s.call("MultiEdit", "c5", file_path="/a/multi.py", edits=[{"old_string": "a", "new_string": "b"}]),
        s.call("Edit", "c6", file_path="/a/edited.py", old_string="b", new_string="c"),
    )
    assert texts(found.changed) == ["/a/written.py", "/a/multi.py", "/a/edited.py"]


def test_a_command_that_failed_and_then_succeeded_is_not_told() -> None:
    s = Claude()
    found = handed(
        s.user("go"),
        s.call("Bash", "c1", command="npm test"),
        s.result("1 failed", "c1", is_error=True),
        s.call("Bash", "c2", command="npm test"),
        s.result("all passed", "c2"),
        s.call("Bash", "c3", command="npm run lint"),
        s.result("one\ntwo\nthree\nfour\nfive errors", "c3", is_error=True),
    )
    (failure,) = found.failed
    assert failure.position == 5
    assert failure.text == "$ npm run lint\ntwo\nthree\nfour\nfive errors"


def test_a_session_of_calls_that_only_read_announces_no_passages() -> None:
    s = Claude()
    found = handed(s.call("Bash", "c1", command="ls"), s.result("a.py", "c1"))
    text = handoff_text(found, "11111111")
    assert "passages below" not in text
    assert "Nothing was asked or answered in it" in text
    assert text.rstrip().endswith("To read it: `sesame show 11111111`.")


@pytest.mark.parametrize("state", ["pending", "in_progress"])
def test_tasks_that_are_not_done_are_open(state: str) -> None:
    s = Claude()
    todos = [{"content": "done thing", "status": "completed"}, {"content": "open thing", "status": state}]
    older = [{"content": "older thing", "status": "pending"}]
    found = handed(
        s.user("go"), s.call("TodoWrite", "c1", todos=older), s.call("TodoWrite", "c2", todos=todos), s.answer("so far")
    )
    assert texts(found.open) == ["open thing"]


def test_boxes_without_a_tick_and_marked_lines_of_the_last_answer_are_open() -> None:
    s = Claude()
    found = handed(s.user("go"), s.answer("- [x] one\n- [ ] two\n* [ ] three\nTODO: four\nfive"))
    assert texts(found.open) == ["- [ ] two", "* [ ] three", "TODO: four"]


def test_a_request_without_an_answer_is_open() -> None:
    pi = Pi()
    found = handed(pi.header(), pi.user("one"), pi.answer("yes"), pi.user("two"), pi=pi)
    assert [(p.position, p.text) for p in found.open] == [(2, "the last request has no answer")]


@pytest.mark.parametrize("most", [1_000, 1_500, 3_000, 6_000])
@pytest.mark.parametrize("word", ["fox ", "日本語", "🎉\n", "a\nb\nc\n"])
def test_a_handoff_has_at_most_its_bytes_and_says_what_it_left_out(most: int, word: str) -> None:
    s = Claude(cwd="/home/bo/" + "very/long/" * 60)
    records = []
    for n in range(60):
        records += [s.user(f"request {n} {word * 300}"), s.answer(f"answer {n} {word * 300}")]
        records += [s.call("Write", f"w{n}", file_path=f"/a/{n}/{word.strip() * 20}", content="x")]
        records += [s.call("Bash", f"b{n}", command=f"run {n}"), s.result(word * 99, f"b{n}", is_error=True)]
    found = handed(*records, max_bytes=most)
    text = handoff_text(found, "11111111")
    assert len(text.encode()) <= most
    assert found.left_out > 50
    if most >= 3_000:
        assert {0, 295} <= {point.position for point in found.asked}
    assert f"{found.left_out} more passages left out" in text
