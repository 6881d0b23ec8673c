"""Claude Code's transcripts: what the parser says about files as they are found in the wild."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sesame_core import Checkpoint, Session

from .records import (
    PARSER,
    SESSION,
    ai_title,
    answer,
    base,
    custom_title,
    enqueue,
    everything,
    lines,
    messages,
    parse,
    queued,
    result,
    roundtrip,
    said,
    session,
    skipped,
    texts,
    tool_use,
    user,
    uuid,
)


def test_01_truncated_splice(write: Callable[..., Path]) -> None:
    torn = b'{"type":"pr-link","sessionId":"0a0a' + lines(answer(2, "two"))
    events = parse(write(user(1, "one"), torn, user(3, "three")))
    assert said(events) == [("user", "one"), ("assistant", "two"), ("user", "three")]
    assert skipped(events) == ["damaged"]


def test_02_missing_newline(write: Callable[..., Path]) -> None:
    events = parse(write(lines(user(1, "one")).rstrip() + lines(answer(2, "two")), user(3, "three")))
    assert said(events) == [("user", "one"), ("assistant", "two"), ("user", "three")]


def test_04_bad_line_mid_file(write: Callable[..., Path]) -> None:
    events = parse(write(user(1, "one"), b'{"type":"attachment","attachment":{\n', answer(2, "two")))
    assert said(events) == [("user", "one"), ("assistant", "two")]
    assert skipped(events) == ["damaged"]


def test_05_unicode_line_separators(write: Callable[..., Path]) -> None:
    text = "left\u2028right\u2029par\u0085nel end"
    events = parse(write(json.dumps(user(1, text), ensure_ascii=False).encode() + b"\n"))
    assert said(events) == [("user", text)]


def test_06_lone_surrogate_and_nul_escape(write: Callable[..., Path]) -> None:
    cut = user(1, "cut \ud83d here \0 tail")
    title = {"type": "custom-title", "customTitle": "t \ud83d", "sessionId": SESSION}
    events = parse(write(cut, title, answer(2, tool_use("t1", "ls \ud83d"))))
    assert messages(events)[0].text == "cut \ufffd here  tail"
    assert session(events).title == "t \ufffd"


def test_07_one_message_many_lines_interleaved(write: Callable[..., Path]) -> None:
    events = parse(
        write(
            user(1, "go"),
            answer(2, "first", id="A"),
            answer(3, tool_use("t1", "grep fox"), id="A"),
            result(4, "t1", "out1"),
            answer(5, tool_use("t2", "ls den"), id="A"),
            result(6, "t2", "out2", is_error=True),
            answer(7, "done", id="B"),
        )
    )
    assert said(events) == [
        ("user", "go"),
        ("assistant", "first"),
        ("tool", "out1"),
        ("tool", "out2"),
        ("assistant", "done"),
    ]
    reply = messages(events)[1]
    assert [call.id for call in reply.tool_calls] == ["t1", "t2"]
    assert reply.entry_id == uuid(2)
    results = [m.tool_results[0] for m in messages(events) if m.tool_results]
    assert [(r.name, r.command, r.is_error) for r in results] == [
        ("Bash", "grep fox", False),
        ("Bash", "ls den", True),
    ]


def test_streaming_snapshots_of_a_block_are_one_text(write: Callable[..., Path]) -> None:
    events = parse(write(answer(1, "The qu", id="A"), answer(2, "The quick fox", id="A"), answer(3, "The", id="A")))
    assert said(events) == [("assistant", "The quick fox")]


def test_a_reply_that_another_one_interrupts_is_continued(write: Callable[..., Path]) -> None:
    events = parse(write(answer(1, "a1", id="A"), answer(2, "b", id="B"), answer(3, "a1", "a2", id="A")))
    assert said(events) == [("assistant", "a1"), ("assistant", "b"), ("assistant", "a2")]
    assert [m.is_new for m in messages(events)] == [True, True, False]


def test_an_open_reply_holds_back_no_more_than_its_patience(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sesame_parser_claude_code.order.PATIENCE", 2000)
    long = [result(n, "t1", "x" * 500) for n in range(2, 10)]
    stream = PARSER.parse(write(answer(1, "start", id="A"), *long, answer(10, "end", id="A")))
    events = list(stream)
    assert [who for who, _ in said(events)] == ["assistant", *["tool"] * 8, "assistant"]
    assert messages(events)[-1].is_new is False


def test_09_no_requestId(write: Callable[..., Path]) -> None:
    events = parse(write(answer(1, "dup", id="A", requestId=None), answer(2, "dup", id="A", requestId=None)))
    assert said(events) == [("assistant", "dup")]


def test_messages_without_an_id_are_not_joined(write: Callable[..., Path]) -> None:
    records = [answer(1, "one"), answer(2, "two")]
    for record in records:
        del record["message"]["id"]
    assert said(parse(write(*records))) == [("assistant", "one"), ("assistant", "two")]


def test_10_stream_json_history_replayed(write: Callable[..., Path]) -> None:
    one, two = user(1, "one", parent=None), answer(2, "two", id="A")
    events = parse(write(one, two, one, two, user(3, "three")))
    by_origin = {m.origin_id: m.text for m in messages(events)}
    assert list(by_origin.values()) == ["one", "two", "three"]
    assert session(events).abandoned == ()


def test_12_background_fork_copy(write: Callable[..., Path]) -> None:
    first = parse(write(user(1, "one"), answer(2, "two")))
    copied = [{**record, "sessionId": "b" * 8, "sessionKind": "bg"} for record in (user(1, "one"), answer(2, "two"))]
    second = parse(write(*copied, {**user(9, "only here"), "sessionId": "b" * 8}, name="b.jsonl"))
    assert [m.origin_id for m in messages(first)] == [m.origin_id for m in messages(second)][:2]
    assert session(second).id == "b" * 8
    assert messages(second)[-1].text == "only here"


def test_13_a_fork_names_its_origin(write: Callable[..., Path]) -> None:
    forked = {"sessionId": "orig", "messageUuid": uuid(77)}
    events = parse(write(user(1, "one", forkedFrom=forked), answer(2, "two", forkedFrom="junk")))
    assert [m.origin_id for m in messages(events)] == [uuid(77), uuid(2)]
    assert session(events).parent_id == "orig"


def subagent_files(write: Callable[..., Path]) -> Iterator[Path]:
    task = user(1, "explore", isSidechain=True, agentId="a1", parent=None)
    found = answer(2, "found", isSidechain=True, agentId="a1")
    for place in (f"{SESSION}/subagents", f"{SESSION}/subagents/workflows/wf_1", "."):
        yield write(task, found, name=f"{place}/agent-a1.jsonl")


def test_14_subagents_layout(write: Callable[..., Path]) -> None:
    for path in subagent_files(write):
        events = parse(path)
        about = session(events)
        assert PARSER.matches(path)
        assert (about.id, about.kind, about.parent_id) == (f"{SESSION}/a1", "subagent", SESSION)
        assert said(events) == [("system", "explore"), ("assistant", "found")]


def test_14_a_subagents_description_is_its_title(write: Callable[..., Path]) -> None:
    path = next(subagent_files(write))
    path.with_name("agent-a1.meta.json").write_text('{"description": "Find the den", "agentType": "Explore"}')
    events = parse(path)
    assert session(events).title == "Find the den"
    assert said(events)[0] == ("metadata", "Find the den")
    path.with_name("agent-a1.meta.json").write_text("{cut")
    assert session(parse(path)).title is None


def test_14_a_subagent_without_ids_is_recognised_by_its_path(write: Callable[..., Path]) -> None:
    record = user(1, "explore", parent=None)
    del record["sessionId"]
    events = parse(write(record, name=f"{SESSION}/subagents/agent-acompact-7.jsonl"))
    assert session(events).id == f"{SESSION}/acompact-7"
    pointer = {"type": "fork-context-ref", "agentId": "f1", "parentSessionId": "parent"}
    assert session(parse(write(pointer, record, name="agent-f1.jsonl"))).id == "parent/f1"


STUB = "<persisted-output>\nOutput too large. Full output saved to: {}\n\nPreview:\nfoo\n</persisted-output>"


def test_14_spilled_output_is_read_from_its_file(write: Callable[..., Path], tmp_path: Path) -> None:
    write(b"spilledneedle " * 50_000, name=f"{SESSION}/tool-results/t1.txt")
    stub = STUB.format(f"/elsewhere/.claude/projects/-x/{SESSION}/tool-results/t1.txt")
    windows = STUB.format(r"C:\x\tool-results\t1.txt")
    events = parse(write(result(1, "t1", stub), result(2, "t2", windows)))
    for text in texts(events, "tool"):
        assert text.startswith("spilledneedle")
        assert 200_000 < len(text) <= 1 << 18


@pytest.mark.parametrize("name", ["gone.txt", "..", "secret.txt", "x\0y", "dir"])
def test_14_spilled_output_out_of_reach_leaves_the_stub(name: str, write: Callable[..., Path], tmp_path: Path) -> None:
    results = tmp_path / SESSION / "tool-results"
    (results / "dir").mkdir(parents=True)
    (tmp_path / "outside").write_text("secret")
    (results / "secret.txt").symlink_to(tmp_path / "outside")
    stub = STUB.format(f"/x/{name}")
    assert texts(parse(write(result(1, "t1", stub))), "tool") == [stub.replace("\0", "")]


def test_15_path_encoding(write: Callable[..., Path]) -> None:
    path = write(user(1, "one"), user(2, "two", cwd="/home/bo/other"), name="-home-bo-my-project/s.jsonl")
    assert session(parse(path)).cwd == "/home/bo/fox"


def test_17_append_then_delete(write: Callable[..., Path]) -> None:
    first = lines(user(1, "go"), answer(2, tool_use("t1", "make den")))
    path = write(first)
    stopped = parse(path)[-1]
    assert isinstance(stopped, Checkpoint)
    path.write_bytes(first + lines(result(3, "t1", "built")))
    tail = list(PARSER.parse_tail(path, roundtrip(stopped)) or ())
    (message,) = messages(tail)
    assert message.tool_results[0].name == "Bash"
    assert message.tool_results[0].command == "make den"
    assert isinstance(tail[0], Session)


@pytest.mark.parametrize("is_first", [True, False])
def test_19_queued_command(is_first: bool, write: Callable[..., Path]) -> None:
    operation = enqueue("midturn")
    nameless = queued(5, "no uuid")
    del nameless["uuid"], nameless["parentUuid"]
    notification = queued(4, "<task-notification>bg</task-notification>", commandMode="task-notification")
    events = parse(
        write(
            user(1, "go"),
            *[operation] * is_first,
            queued(2, "midturn", commandMode="prompt", origin={"kind": "human"}),
            queued(3, [{"type": "text", "text": "as blocks"}]),
            notification,
            nameless,
            queued(6, "by another agent", origin={"kind": "coordinator"}),
            *[operation] * (not is_first),
        )
    )
    assert texts(events, "user") == ["go", "midturn", "as blocks", "no uuid"]
    assert texts(events, "system") == ["bg", "by another agent"]
    assert {m.source_type for m in messages(events)[1:4]} == {"queued_command", "task-notification"}
    assert session(events).abandoned == ()


def test_19_a_queued_prompt_without_another_record_is_indexed(write: Callable[..., Path]) -> None:
    rest = [answer(n, f"a{n}") for n in range(2, 300)]
    events = parse(write(enqueue("lost"), enqueue("typed"), user(1, "typed"), enqueue('{"task_id":"b1"}'), *rest))
    assert texts(events, "user") == ["typed", "lost"]
    # It does not wait for the end of the file.
    assert messages(events)[-1].role == "assistant"
    assert messages(events)[1].source_type != "queue-operation"


def test_19_a_queued_prompt_is_indexed_once_across_a_checkpoint(write: Callable[..., Path]) -> None:
    first = lines(user(1, "go"), enqueue("midturn"))
    path = write(first)
    stopped = parse(path)[-1]
    assert isinstance(stopped, Checkpoint)
    path.write_bytes(first + lines(queued(2, "midturn"), answer(3, "fine")))
    tail = list(PARSER.parse_tail(path, roundtrip(stopped)) or ())
    assert said(tail) == [("assistant", "fine")]


def test_20_rewind_dead_branch(write: Callable[..., Path]) -> None:
    records = [
        user(1, "one", parent=None),
        answer(2, "two"),
        user(3, "dead"),
        answer(4, "dead answer"),
        user(5, "live", parent=2),
        answer(6, "live answer"),
    ]
    leaf = {"type": "last-prompt", "lastPrompt": "live", "leafUuid": uuid(6), "sessionId": SESSION}
    for path in (write(*records), write(*records, leaf)):
        events = parse(path)
        abandoned = session(events).abandoned or ()
        assert [m.text for m in messages(events) if m.segment in abandoned] == ["dead", "dead answer"]
    back = {**leaf, "leafUuid": uuid(4)}
    events = parse(write(*records, back))
    assert [m.text for m in messages(events) if m.segment in (session(events).abandoned or ())] == [
        "live",
        "live answer",
    ]
    # A prompt after it makes the record stale.
    events = parse(write(*records, back, user(7, "more", parent=6)))
    assert [m.text for m in messages(events) if m.segment in (session(events).abandoned or ())] == [
        "dead",
        "dead answer",
    ]


def test_22_missing_parents_cycles_and_self_reference_change_nothing(write: Callable[..., Path]) -> None:
    events = parse(write(user(1, "one", parent=99), user(2, "two", parent=2), answer(3, "three", parent=4)))
    assert said(events) == [("user", "one"), ("user", "two"), ("assistant", "three")]
    assert session(events).abandoned == ()


def test_23_compaction(write: Callable[..., Path]) -> None:
    boundary = base(62, "system", None, subtype="compact_boundary", content="Conversation compacted")
    events = parse(
        write(
            user(1, "before", parent=None),
            answer(2, "two"),
            boundary,
            user(63, "This session is being continued from …", parent=62, isCompactSummary=True),
            answer(9, "preserved, earlier timestamp", parent=63),
            user(10, "after"),
        )
    )
    assert [who for who, _ in said(events)] == ["user", "assistant", "summary", "assistant", "user"]
    about = session(events)
    assert about.summary == "This session is being continued from …"
    assert about.title is None
    assert about.abandoned == ()


def test_24_titles(write: Callable[..., Path]) -> None:
    prompt = user(4, "<ide_opened_file>The user opened x</ide_opened_file>\nreal first prompt")
    preview = {"type": "last-prompt", "lastPrompt": "not a title", "leafUuid": uuid(4), "sessionId": SESSION}
    mine = parse(write(prompt, ai_title("AI one"), custom_title("Mine"), ai_title("AI two"), custom_title("Mine")))
    assert session(mine).title == "Mine"
    assert said(mine) == [
        ("user", "real first prompt"),
        ("metadata", "AI one"),
        ("metadata", "Mine"),
        ("metadata", "AI two"),
    ]
    assert session(parse(write(prompt, ai_title("AI one"), ai_title("AI two"), preview))).title == "AI two"
    bare = parse(write(prompt, preview))
    assert session(bare).title is None
    assert said(bare) == [("user", "real first prompt")]


def test_24_a_long_title_is_found_in_full(write: Callable[..., Path]) -> None:
    events = parse(write(user(1, "hi"), custom_title("fox " * 30_000 + "endneedle")))
    assert "endneedle" in everything(events)
    assert (session(events).title or "").startswith("fox fox")


def test_26_an_old_title_counts_only_in_the_session_of_its_record(write: Callable[..., Path]) -> None:
    own = {"type": "summary", "summary": "Fox hunt", "leafUuid": uuid(2)}
    foreign = {"type": "summary", "summary": "Another session", "leafUuid": uuid(50)}
    for records in ((foreign, own, user(1, "hi"), answer(2, "yo")), (user(1, "hi"), answer(2, "yo"), foreign, own)):
        events = parse(write(*records))
        assert session(events).title == "Fox hunt"
        assert texts(events, "metadata") == ["Fox hunt"]
    assert session(parse(write(foreign))).title is None
    assert session(parse(write({"type": "summary", "summary": "Loose"}))).title == "Loose"


def test_27_odd_shapes(write: Callable[..., Path]) -> None:
    events = parse(
        write(
            user(1, [{"type": "text", "text": "ok"}, "raw", {"type": "future"}, {"text": "typeless"}, 7, None]),
            answer(2, {"type": "tool_use", "id": "t", "name": "Grep", "input": {"glob": 7, "command": None}}),
            result(3, "t", None),
            user(4, [{"type": "tool_result", "tool_use_id": "t"}]),
            base(5, "attachment", attachment={"type": "diagnostics", "files": "no list"}),
            base(6, "attachment", attachment=None),
            base(7, "user", message=None),
            user(8, "nots needle", timestamp="not-a-date"),
            b'{"type":"user"}\n[1,2]\n"str"\n7\nnull\n',
            answer(9, {"type": "tool_use", "id": 7, "name": None, "input": "text"}),
        )
    )
    assert texts(events, "user") == ["ok\n\nraw\n\ntypeless", "nots needle"]
    assert skipped(events) == ["not an object"] * 4
    assert messages(events)[-2].timestamp is None


def test_29_huge_lines(write: Callable[..., Path]) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 8_000_000}}
    progress = base(2, "progress", data={"type": "bash_progress", "output": "word " * 1_000_000})
    path = write(
        user(1, [{"type": "text", "text": "imgneedle"}, image]),
        progress,
        result(3, "t1", "x y " * 100_000 + "endneedle"),
        answer(4, "tailneedle"),
    )
    tracemalloc.start()
    events = parse(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    found = everything(events)
    assert "imgneedle" in found
    assert "endneedle" in found
    assert "tailneedle" in found
    assert "AAAA" not in found
    assert "word word" not in found
    assert skipped(events) == ["shortened"]
    assert peak < 24_000_000


def test_30_crlf_bom_no_final_newline(write: Callable[..., Path]) -> None:
    content = b"\xef\xbb\xbf" + lines(user(1, "one"), answer(2, "two")).replace(b"\n", b"\r\n").rstrip()
    events = parse(write(content))
    assert said(events) == [("user", "one"), ("assistant", "two")]
    assert isinstance(events[-1], Checkpoint)
    assert events[-1].offset == len(content)


def test_30_a_last_line_cut_short_is_read_when_it_is_complete(write: Callable[..., Path]) -> None:
    content = lines(user(1, "one"), answer(2, "two"))
    path = write(content[:-20])
    stopped = parse(path)[-1]
    assert isinstance(stopped, Checkpoint)
    path.write_bytes(content)
    assert said(list(PARSER.parse_tail(path, roundtrip(stopped)) or ())) == [("assistant", "two")]


def test_32_old_1x_shape(write: Callable[..., Path]) -> None:
    events = parse(
        write(
            user(1, "oldneedle", parent=None),
            user(2, "task for an agent", parent=None, isSidechain=True),
            answer(3, "inline sidechain", isSidechain=True),
        )
    )
    assert session(events).kind == "interactive"
    assert [(m.role, m.text, m.source_type) for m in messages(events)] == [
        ("user", "oldneedle", "message"),
        ("system", "task for an agent", "sidechain"),
        ("assistant", "inline sidechain", "sidechain"),
    ]
