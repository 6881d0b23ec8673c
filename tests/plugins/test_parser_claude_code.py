"""Claude Code's transcripts: what the parser says about files as they are found in the wild."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sesame_core import Checkpoint, ConfigError, Event, Message, Session, Skipped, TailParser
from sesame_core.plugin.parser import Expiring, Resumer
from sesame_core.testing import ParserConformance
from sesame_parser_claude_code import create, sesame_register_parsers
from sesame_parser_claude_code.parser import ClaudeCodeParser
from sesame_parser_claude_code.wrappers import classify

SESSION = "0a0a0a0a-1111-4222-8333-444444444444"
PARSER = ClaudeCodeParser()

Record = dict[str, Any]


def uuid(n: int) -> str:
    return f"00000000-0000-4000-8000-{n:012d}"


def base(n: int, kind: str, parent: int | None = -1, **fields: Any) -> Record:
    """A chain record; its parent is the record before it unless told otherwise."""
    above = n - 1 if parent == -1 else parent
    return {
        "parentUuid": uuid(above) if above else None,
        "isSidechain": False,
        "cwd": "/home/bo/fox",
        "sessionId": SESSION,
        "gitBranch": "main",
        "uuid": uuid(n),
        "timestamp": f"2026-08-01T10:{n // 60:02d}:{n % 60:02d}.000Z",
        "type": kind,
        **fields,
    }


def user(n: int, content: Any, parent: int | None = -1, **fields: Any) -> Record:
    return base(n, "user", parent, message={"role": "user", "content": content}, **fields)


def answer(n: int, *blocks: Any, id: str | None = None, parent: int | None = -1, **fields: Any) -> Record:
    blocks_ = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
    message = {"id": id or f"msg_{n}", "role": "assistant", "model": "claude-fox-1", "content": blocks_}
    return base(n, "assistant", parent, **{"message": message, "requestId": "req_1", **fields})


def tool_use(id: str, command: str = "ls", name: str = "Bash") -> Record:
    return {"type": "tool_use", "id": id, "name": name, "input": {"command": command}}


def result(n: int, call: str, content: Any, **fields: Any) -> Record:
    return user(n, [{"type": "tool_result", "tool_use_id": call, "content": content, **fields}])


def lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write records (or raw bytes) to a session file."""

    def write(*records: Any, name: str = f"{SESSION}.jsonl") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(r if isinstance(r, bytes) else lines(r) for r in records))
        return path

    return write


def parse(path: Path, parser: ClaudeCodeParser = PARSER) -> list[Event]:
    events = list(parser.parse(path))
    check(events)
    return events


def check(events: list[Event]) -> None:
    """What holds for every stream of events."""
    assert isinstance(events[-1], Checkpoint)
    assert sum(isinstance(event, Checkpoint) for event in events) == 1
    json.dumps(events[-1].state)
    introduced = set()
    for event in events:
        if isinstance(event, Session):
            introduced.add(event.id)
        elif isinstance(event, Message):
            assert event.session_id in introduced
            assert event.text or event.tool_calls or event.tool_results
            (event.text + "".join(r.text for r in event.tool_results)).encode()
    assert len(introduced) <= 1


def messages(events: list[Event]) -> list[Message]:
    return [event for event in events if isinstance(event, Message)]


def session(events: list[Event]) -> Session:
    return [event for event in events if isinstance(event, Session)][-1]


def said(events: list[Event]) -> list[tuple[str, str]]:
    return [(m.role, m.text or "".join(r.text for r in m.tool_results)) for m in messages(events)]


def texts(events: list[Event], role: str) -> list[str]:
    return [text for who, text in said(events) if who == role]


def everything(events: list[Event]) -> str:
    return "\n".join(
        f"{m.text} {' '.join(str(c.arguments) for c in m.tool_calls)} {' '.join(r.text for r in m.tool_results)}"
        for m in messages(events)
    )


def skipped(events: list[Event]) -> list[str]:
    return [event.reason for event in events if isinstance(event, Skipped)]


# -- the plugin -------------------------------------------------------------------------------------------


def test_the_plugin_provides_a_parser_with_all_abilities() -> None:
    (provider,) = sesame_register_parsers()
    parser = provider.create({"thinking": True, "line_limit": 5000})
    assert provider.name == "claude-code"
    assert isinstance(parser, TailParser)
    assert isinstance(parser, Resumer)
    assert isinstance(parser, Expiring)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"thinkin": True}, "'thinking'"), ({"thinking": 1}, "true or false"), ({"line_limit": 0}, "positive")],
)
def test_a_wrong_option_is_refused_with_what_would_be_right(options: Record, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        create(options)


def test_sessions_lie_under_the_config_directory(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(PARSER.default_roots()) == [home / ".claude" / "projects"]
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "other"))
    assert list(PARSER.default_roots()) == [home / "other" / "projects"]


@pytest.mark.parametrize(
    ("content", "days"),
    [
        (None, 30),
        ('{"cleanupPeriodDays": 99}', 99),
        ('{"cleanupPeriodDays": 0}', 30),
        ('{"cleanupPeriodDays": "soon"}', 30),
        ('{"cleanupPeriodDays": true}', 30),
        ("{}", 30),
        ("[]", 30),
        ("{broken", 30),
        ("\xff", 30),
    ],
)
def test_files_expire_as_the_settings_say(home: Path, content: str | None, days: int) -> None:
    if content is not None:
        (home / ".claude").mkdir()
        (home / ".claude" / "settings.json").write_bytes(content.encode("latin-1"))
    assert PARSER.expires_after_days() == days


def test_a_session_is_resumed_by_its_id_and_a_subagent_by_its_parents(tmp_path: Path) -> None:
    main = Session(id="abc", agent="claude-code", kind="interactive", parent_id="original")
    sub = Session(id="abc/a1", agent="claude-code", kind="subagent", parent_id="abc")
    assert list(PARSER.resume_command(main, tmp_path)) == ["claude", "--resume", "abc"]
    assert list(PARSER.resume_command(sub, tmp_path)) == ["claude", "--resume", "abc"]


class TestConformance(ParserConformance):
    name = "claude-code"

    @pytest.fixture
    def session_file(self, write: Callable[..., Path]) -> Path:
        exchanges = [(user(n, f"ask {n}"), answer(n + 1, f"say {n}"), custom_title(f"T{n}")) for n in range(1, 20, 2)]
        return write(*(record for exchange in exchanges for record in exchange))


# -- which files ------------------------------------------------------------------------------------------

MATCHING = {
    "a prompt": lines(user(1, "hi")),
    "a summary first": lines({"type": "summary", "summary": "Foxes", "leafUuid": uuid(1)}),
    "a snapshot first": lines({"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}),
    "an unknown record first": lines({"type": "new-thing"}, {"type": "mode", "sessionId": "s"}),
    "a damaged line first": b'{"type":"us' + b"\n" + lines(user(1, "hi")),
    "byte order mark and NULs": b"\xef\xbb\xbf" + b"\0" * 9 + lines(user(1, "hi")),
    "no session id": lines({"type": "user", "message": {"content": "hi"}, "timestamp": "2026-01-01T00:00:00Z"}),
    "a long first line": lines(user(1, "x" * 100_000)),
    "a long first line without ids": lines({"type": "user", "message": {"content": "x" * 100_000}}),
    "a long summary": lines({"type": "summary", "summary": "x" * 100_000}),
}
OTHERS = {
    "pi": lines({"type": "session", "id": "s", "version": 3, "cwd": "/p"}, user(1, "hi")),
    "codex": lines({"timestamp": "t", "type": "session_meta", "payload": {"id": "s"}}),
    "a long codex line": lines({"timestamp": "t", "type": "session_meta", "payload": {"x": "y" * 100_000}}),
    "copilot": lines({"type": "session.start", "data": {"sessionId": "s"}, "id": "1"}),
    "qwen": lines(base(1, "user", message={"role": "user", "parts": [{"text": "hi"}]})),
    "gemini": lines({"sessionId": "s", "projectHash": "h", "startTime": "t"}),
    "numbers": b"1\n2\n3\n",
    "odd types": lines({"type": ["user"]}, {"type": None}, [1], "user"),
    "no JSON": b"hello\nworld\n",
    "blank lines": b"\n\n",
}


@pytest.mark.parametrize("kind", MATCHING)
def test_a_transcript_is_recognised_whatever_its_name(kind: str, write: Callable[..., Path]) -> None:
    assert PARSER.matches(write(MATCHING[kind], name="conversation.jsonl"))


@pytest.mark.parametrize("kind", OTHERS)
def test_other_files_are_not_taken_for_transcripts(kind: str, write: Callable[..., Path]) -> None:
    assert not PARSER.matches(write(OTHERS[kind]))


@pytest.mark.parametrize(
    "name",
    [
        "x/subagents/workflows/wf/journal.jsonl",
        "history.jsonl",
        f"{SESSION}/tool-results/out.jsonl",
        "memory/notes.jsonl",
        "session.json",
    ],
)
def test_side_files_are_not_transcripts(name: str, write: Callable[..., Path]) -> None:
    assert not PARSER.matches(write(user(1, "hi"), name=name))


def test_an_empty_file_named_like_a_session_is_an_empty_session(write: Callable[..., Path]) -> None:
    path = write()
    assert PARSER.matches(path)
    events = parse(path)
    assert session(events).id == SESSION
    assert messages(events) == []
    assert not PARSER.matches(write(name="notes.jsonl"))
    assert PARSER.parse_tail(path, Checkpoint(offset=0, line=0, state={"facts": {}})) is None


def test_a_file_without_messages_is_no_session(write: Callable[..., Path]) -> None:
    stub = write({"type": "teleported-from", "sessionId": SESSION}, MATCHING["a snapshot first"])
    assert [type(event) for event in parse(stub)] == [Checkpoint]
    titled = write(MATCHING["a snapshot first"], {"type": "custom-title", "customTitle": "T", "sessionId": SESSION})
    assert session(parse(titled)).title == "T"


def test_a_file_that_cannot_be_read_raises_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="missing"):
        list(PARSER.parse(tmp_path / "missing.jsonl"))


# -- the pitfalls, by the names of their inputs in the shared corpus ---------------------------------------


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
    monkeypatch.setattr("sesame_parser_claude_code.transcript.PATIENCE", 2000)
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


def test_14_a_subagent_without_ids_is_told_by_its_place(write: Callable[..., Path]) -> None:
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


def queued(n: int, prompt: Any, **fields: Any) -> Record:
    return base(n, "attachment", attachment={"type": "queued_command", "prompt": prompt, **fields})


def enqueue(text: Any) -> Record:
    stamp = "2026-08-01T10:00:02.000Z"
    return {
        "type": "queue-operation",
        "operation": "enqueue",
        "timestamp": stamp,
        "sessionId": SESSION,
        "content": text,
    }


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


def test_19_a_queued_prompt_that_nothing_else_tells_is_told(write: Callable[..., Path]) -> None:
    rest = [answer(n, f"a{n}") for n in range(2, 300)]
    events = parse(write(enqueue("lost"), enqueue("typed"), user(1, "typed"), enqueue('{"task_id":"b1"}'), *rest))
    assert texts(events, "user") == ["typed", "lost"]
    # It does not wait for the end of the file.
    assert messages(events)[-1].role == "assistant"
    assert messages(events)[1].source_type != "queue-operation"


def test_19_a_queued_prompt_is_told_once_across_a_checkpoint(write: Callable[..., Path]) -> None:
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


def ai_title(text: str) -> Record:
    return {"type": "ai-title", "aiTitle": text, "sessionId": SESSION}


def custom_title(text: str) -> Record:
    return {"type": "custom-title", "customTitle": text, "sessionId": SESSION}


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
    assert [type(event) for event in parse(write(foreign))] == [Checkpoint]
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
    assert skipped(events) == ["oversized"]
    assert peak < 16_000_000


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


# -- who speaks -------------------------------------------------------------------------------------------

COMMAND = (
    "<command-name>/model</command-name>\n   <command-message>model</command-message>\n"
    "<command-args>opus</command-args>"
)
CONTINUED = "This session is being continued from a previous conversation that ran out of context."
NOTIFICATION = "<task-notification>\n<task-id>b1</task-id>\n</task-notification>\n"
SPEAKERS: list[tuple[str, list[tuple[str, str, str]]]] = [
    ("plain words", [("user", "message", "plain words")]),
    ("  \n ", []),
    (COMMAND, [("user", "command", "/model opus")]),
    ("<command-message>r</command-message>\n<command-name>r</command-name>", [("user", "command", "/r")]),
    (COMMAND + " why did this fail?", [("user", "message", COMMAND + " why did this fail?")]),
    ("<bash-input>ls -l</bash-input>", [("system", "bash-input", "ls -l")]),
    ("<bash-stdout>a.py</bash-stdout><bash-stderr></bash-stderr>", [("system", "bash-stdout", "a.py")]),
    ("<bash-stdout></bash-stdout><bash-stderr>no</bash-stderr>", [("system", "bash-stderr", "no")]),
    (
        "<local-command-stdout>Set model to \x1b[1mopus\x1b[22m</local-command-stdout>",
        [("system", "local-command-stdout", "Set model to opus")],
    ),
    ("<local-command-stdout></local-command-stdout>", []),
    ("<local-command-caveat>Caveat: …</local-command-caveat>", []),
    ("Caveat: The messages below were generated by the user while running local commands. DO NOT …", []),
    ("Caveat: mind the gap", [("user", "message", "Caveat: mind the gap")]),
    ("<local-command-caveat>Caveat</local-command-caveat>\n" + COMMAND, [("user", "command", "/model opus")]),
    ("[Request interrupted by user for tool use]", []),
    ("[Request interrupted by user] I saw", [("user", "message", "[Request interrupted by user] I saw")]),
    ("[Image: source: /tmp/a.png]", [("system", "meta", "[Image: source: /tmp/a.png]")]),
    ("<system-reminder>\nToday.\n</system-reminder>\nrun the tests", [("user", "message", "run the tests")]),
    ("<system-reminder>Today.</system-reminder>", []),
    ("<ide_selection>x</ide_selection><ide_opened_file>y</ide_opened_file>why?", [("user", "message", "why?")]),
    (
        NOTIFICATION + "Read the output file to retrieve the result: /x",
        [("system", "task-notification", "<task-id>b1</task-id>")],
    ),
    (
        "<task-notification>x</task-notification> what is this?",
        [("user", "message", "<task-notification>x</task-notification> what is this?")],
    ),
    ('<teammate-message teammate_id="lead">take 7</teammate-message>', [("system", "teammate-message", "take 7")]),
    ("what does <system-reminder> mean?", [("user", "message", "what does <system-reminder> mean?")]),
    ("<div>fix this</div>", [("user", "message", "<div>fix this</div>")]),
    ("<system-reminder>never closed", [("user", "message", "<system-reminder>never closed")]),
    ("Base directory for this skill: /x\n\n# X", [("system", "meta", "Base directory for this skill: /x\n\n# X")]),
    ("Stop hook feedback:\nno", [("system", "hook", "Stop hook feedback:\nno")]),
    (CONTINUED, [("summary", "compaction", CONTINUED)]),
]


@pytest.mark.parametrize(("text", "parts"), SPEAKERS)
def test_injected_text_is_told_from_what_a_person_typed(text: str, parts: list[tuple[str, str, str]]) -> None:
    assert classify(text) == parts


@pytest.mark.parametrize(
    ("fields", "source_type"),
    [
        ({"isMeta": True}, "meta"),
        ({"origin": {"kind": "task-notification"}}, "task-notification"),
        ({"promptSource": "system"}, "system"),
        ({"isSidechain": True}, "sidechain"),
    ],
)
def test_the_records_fields_tell_that_no_person_typed_it(
    fields: Record, source_type: str, write: Callable[..., Path]
) -> None:
    (message,) = messages(parse(write(user(1, "words", **fields))))
    assert (message.role, message.source_type) == ("system", source_type)


def test_one_record_may_hold_a_result_a_prompt_and_injected_text(write: Callable[..., Path]) -> None:
    blocks = [
        {"type": "tool_result", "tool_use_id": "t", "content": "out"},
        {"type": "text", "text": "no, the other fox"},
        {"type": "text", "text": "<task-notification>bg</task-notification>"},
    ]
    events = parse(write(user(1, blocks)))
    assert said(events) == [("tool", "out"), ("user", "no, the other fox"), ("system", "bg")]
    assert len({m.origin_id for m in messages(events)}) == 3


def test_system_records_are_told_when_they_say_something(write: Callable[..., Path]) -> None:
    events = parse(
        write(
            base(1, "system", subtype="local_command", content=COMMAND),
            base(2, "system", subtype="away_summary", content="While you were away: tests pass"),
            base(3, "system", subtype="api_error", error={"message": "Connection error."}),
            base(4, "system", subtype="api_error", error=None),
            base(5, "system", subtype="turn_duration", durationMs=5),
            base(6, "system", subtype="informational", content="Remote Control disconnected"),
            answer(7, "API Error: closed", isApiErrorMessage=True, message={
                "id": "x", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: closed"}]
            }),
        )
    )  # fmt: skip
    assert [(m.role, m.source_type, m.is_error) for m in messages(events)] == [
        ("user", "command", False),
        ("system", "away_summary", False),
        ("system", "api_error", True),
        ("system", "api_error", True),
    ]
    assert session(events).model is None


# -- what else is found -----------------------------------------------------------------------------------


def test_facts_of_the_session(write: Callable[..., Path]) -> None:
    events = parse(
        write(
            user(1, "hi", entrypoint="cli"),
            answer(2, "yo", gitBranch="feature"),
            answer(3, "yo yo", gitBranch="HEAD"),
            {"type": "pr-link", "prNumber": 7, "prUrl": "https://git.example/bo/fox/pull/7", "prRepository": "bo/fox"},
            {"type": "pr-link", "prNumber": 7, "prUrl": "https://git.example/bo/fox/pull/7", "prRepository": "bo/fox"},
            {"type": "tag", "tag": "hunt"},
            {"type": "tag", "tag": ""},
            {"type": "agent-name", "agentName": "fox-hunter"},
            {"type": "frame-link", "title": "Map", "frameUrl": "https://frame.example/1", "path": "/x"},
        )
    )
    about = session(events)
    assert (about.agent, about.kind, about.git_branch, about.model) == (
        "claude-code",
        "interactive",
        "feature",
        "claude-fox-1",
    )
    assert about.repository == "git.example/bo/fox"
    assert [(m.source_type, m.text) for m in messages(events) if m.role == "metadata"] == [
        ("pr-link", "bo/fox#7 https://git.example/bo/fox/pull/7"),
        ("tag", "hunt"),
        ("agent-name", "fox-hunter"),
        ("frame-link", "Map https://frame.example/1"),
    ]


def test_the_first_word_about_a_session_tells_its_directory(write: Callable[..., Path]) -> None:
    events = parse(write(ai_title("Foxes"), enqueue("early"), user(1, "hi")))
    assert isinstance(events[0], Session)
    assert events[0].cwd == "/home/bo/fox"
    assert said(events)[0] == ("metadata", "Foxes")


@pytest.mark.parametrize(
    ("entrypoints", "kind"),
    [
        ((None,), "interactive"),
        (("sdk-cli",), "headless"),
        (("sdk-ts", "cli"), "interactive"),
        (("cli", "sdk-py"), "interactive"),
    ],
)
def test_a_session_nobody_typed_into_is_headless(
    entrypoints: tuple[str | None, ...], kind: str, write: Callable[..., Path]
) -> None:
    records = [user(n, "hi", entrypoint=entrypoint) for n, entrypoint in enumerate(entrypoints, 1)]
    assert session(parse(write(*records))).kind == kind


def test_the_session_id_is_the_first_records_or_the_files_name(write: Callable[..., Path]) -> None:
    second = {**user(2, "b"), "sessionId": "other"}
    assert session(parse(write(user(1, "a"), second, name="conversation.jsonl"))).id == SESSION
    nameless = user(1, "a")
    del nameless["sessionId"]
    assert session(parse(write(nameless, name="conversation.jsonl"))).id == "conversation"


def test_thinking_is_found_only_when_asked_for(write: Callable[..., Path]) -> None:
    thought = {"type": "thinking", "thinking": "hmm, foxes", "signature": "c2ln"}
    empty = {"type": "thinking", "thinking": "", "signature": "c2ln"}
    path = write(answer(1, thought, id="A"), answer(2, empty, id="A"), answer(3, "Foxes.", id="A"))
    assert said(parse(path)) == [("assistant", "Foxes.")]
    assert said(parse(path, ClaudeCodeParser(thinking=True))) == [("assistant", "hmm, foxes\n\nFoxes.")]


def test_a_servers_tool_answers_within_the_reply(write: Callable[..., Path]) -> None:
    call = {"type": "server_tool_use", "id": "s1", "name": "advisor", "input": {"q": "x"}}
    reply = {"type": "advisor_tool_result", "tool_use_id": "s1", "content": {"type": "r", "text": "looks fine"}}
    (message,) = messages(parse(write(answer(1, call, id="A"), answer(2, reply, id="A"))))
    assert message.tool_calls[0].name == "advisor"
    assert (message.tool_results[0].name, message.tool_results[0].text) == ("advisor", "looks fine")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("out", "out"),
        (None, ""),
        ([{"type": "text", "text": "a"}, {"type": "image", "source": {"data": "AAAA"}}, "b"], "a\nb"),
        ([{"type": "tool_reference", "tool_name": "TaskCreate"}], "TaskCreate"),
        ([{"type": "web_search_result", "title": "Foxes", "url": "https://f.example"}], "Foxes\nhttps://f.example"),
        ({"type": "text", "text": "loose"}, "loose"),
        (7, ""),
    ],
)
def test_a_tools_answer_has_many_shapes(content: Any, text: str, write: Callable[..., Path]) -> None:
    (message,) = messages(parse(write(result(1, "t", content))))
    assert message.role == "tool"
    assert message.tool_results[0].text == text


def test_attachments_hooks_and_progress_are_not_indexed(write: Callable[..., Path]) -> None:
    kinds = ["file", "directory", "nested_memory", "hook_success", "skill_listing", "diagnostics", "not_yet_invented"]
    attachments = [base(n, "attachment", attachment={"type": k, "content": "noise"}) for n, k in enumerate(kinds, 2)]
    events = parse(write(user(1, "hi"), *attachments, base(20, "progress", data={"type": "x", "output": "noise"})))
    assert said(events) == [("user", "hi")]


# -- growing files ----------------------------------------------------------------------------------------


def roundtrip(checkpoint: Checkpoint) -> Checkpoint:
    """A checkpoint as it comes back from an index."""
    state = json.loads(json.dumps(checkpoint.state))
    return Checkpoint(offset=checkpoint.offset, line=checkpoint.line, state=state)


def atoms(events: list[Event]) -> list[tuple[Any, ...]]:
    """All that is said, block by block, so that it does not matter where a reply was cut."""
    found: list[tuple[Any, ...]] = []
    for m in messages(events):
        found += [(m.role, text) for text in m.text.split("\n\n") if text]
        found += [("call", call.id, call.name, str(call.arguments)) for call in m.tool_calls]
        found += [("result", r.call_id, r.name, r.command, r.text, r.is_error) for r in m.tool_results]
    return sorted(found)


def facts(events: list[Event]) -> dict[str, Any]:
    known: dict[str, Any] = {}
    for event in events:
        if isinstance(event, Session):
            known |= {
                name: getattr(event, name)
                for name in ("id", "kind", "parent_id", "cwd", "title", "summary", "git_branch", "model", "abandoned")
                if getattr(event, name) is not None
            }
    return known


RICH = [
    {"type": "summary", "summary": "Old title", "leafUuid": uuid(2)},
    user(1, "one", parent=None),
    answer(2, "first", id="A"),
    answer(3, tool_use("t1", "grep fox"), id="A"),
    result(4, "t1", "out1"),
    answer(5, tool_use("t2", "ls"), id="A"),
    enqueue("midturn"),
    result(6, "t2", "out2"),
    queued(7, "midturn"),
    answer(8, "done", id="B"),
    ai_title("AI title"),
    user(9, "dead"),
    answer(10, "dead answer", id="C"),
    user(11, "live", parent=8),
    base(12, "system", None, subtype="compact_boundary"),
    user(13, "This session is being continued", isCompactSummary=True),
    custom_title("Mine"),
    answer(14, "live answer", id="D", gitBranch="other"),
    custom_title("Mine"),
    {"type": "last-prompt", "lastPrompt": "live", "leafUuid": uuid(14), "sessionId": SESSION},
]


@pytest.mark.parametrize("cut", range(1, len(RICH)))
def test_a_file_read_in_two_parts_says_the_same(cut: int, write: Callable[..., Path]) -> None:
    whole = parse(write(*RICH))
    path = write(*RICH[:cut])
    first = parse(path)
    assert isinstance(first[-1], Checkpoint)
    write(*RICH)
    second = list(PARSER.parse_tail(path, roundtrip(first[-1])) or ())
    check(second)
    assert atoms(first) + atoms(second) != []
    assert sorted(atoms(first) + atoms(second)) == atoms(whole)
    assert facts(first) | facts(second) == facts(whole)
    assert sum(m.is_new for m in messages(first + second)) == len(messages(whole))
    assert isinstance(second[-1], Checkpoint)
    assert second[-1].offset == whole[-1].offset  # type: ignore[union-attr]


def test_a_checkpoint_stays_small(write: Callable[..., Path]) -> None:
    records: list[Record] = []
    for n in range(1, 4000, 4):
        records += [
            user(n, f"prompt {n}"),
            answer(n + 1, f"answer {n}", tool_use(f"t{n}", "echo " * 1000)),
            queued(n + 2, f"queued {n}"),
            ai_title(f"title {n}"),
        ]
    checkpoint = parse(write(*records))[-1]
    assert isinstance(checkpoint, Checkpoint)
    assert len(json.dumps(checkpoint.state)) < 100_000


# -- any shape at all -------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
FIELDS = sorted({field for record in RICH for field in record} | {"forkedFrom", "origin", "entrypoint", "isMeta"})


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_record_of_any_shape_stops_the_parser_or_harms_its_neighbours(
    data: st.DataObject, write: Callable[..., Path]
) -> None:
    record = json.loads(json.dumps(data.draw(st.sampled_from(RICH))))
    target = record
    if isinstance(record.get("message"), dict) and data.draw(st.booleans()):
        target = record["message"]
        content = target.get("content")
        if isinstance(content, list) and data.draw(st.booleans()):
            target = content[0]
    target[data.draw(st.sampled_from([*FIELDS, *target]))] = data.draw(JSON)
    record["uuid"] = data.draw(st.just("odd") | JSON)
    events = parse(write(user(90, "neighbour above"), record, user(91, "neighbour below")))
    assert "neighbour above" in everything(events)
    assert "neighbour below" in everything(events)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_damaged_bytes_stop_the_parser_or_harm_other_lines(data: st.DataObject, write: Callable[..., Path]) -> None:
    line = bytearray(lines(data.draw(st.sampled_from(RICH))).rstrip())
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(line)))
        line[start : start + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=8)).replace(b"\n", b"")
    path = write(user(90, "line above"), bytes(line) + b"\n", user(91, "line below"))
    events = parse(path)
    assert PARSER.matches(path)
    assert "line above" in everything(events)
    assert "line below" in everything(events)


# -- the shared corpus ------------------------------------------------------------------------------------


def pitfall(shared: Path, name: str) -> list[Path]:
    return sorted((shared / "corpus" / "claude-code-synthetic" / "pitfalls" / name).rglob("*.jsonl"))


@pytest.mark.parametrize(
    ("name", "needles"),
    [
        ("01-truncated-splice", ["alphaneedle", "betaneedle", "gammaneedle"]),
        ("02-missing-newline", ["alphaneedle", "betaneedle", "gammaneedle"]),
        ("04-bad-line-mid-file", ["alphaneedle", "betaneedle"]),
        ("05-unicode-line-separators", ["end needle"]),
        ("06-lone-surrogate-and-nul-escape", ["here needle"]),
        ("07-one-message-many-lines-interleaved", ["zetaneedle", "etaneedle out", "thetaneedle"]),
        ("09-no-requestId", ["dupneedle"]),
        ("12-background-fork-copy", ["alphaneedle", "onlyinforkneedle"]),
        ("14-subagents-layout", ["needlesub", "subanswer"]),
        ("19-queued-command", ["midturnneedle", "blockneedle", "nouuidneedle", "bgneedle"]),
        ("20-rewind-dead-branch", ["deadneedle", "liveneedle"]),
        ("23-compaction", ["sumneedle", "afterneedle"]),
        ("24-titles", ["real first prompt", "AI two", "Mine"]),
        ("27-odd-shapes", ["ok", "nots needle"]),
        ("29-huge-lines", ["imgneedle", "tailneedle"]),
        ("30-crlf-bom-no-final-newline", ["alphaneedle", "betaneedle"]),
        ("32-old-1x-shape", ["oldneedle", "inline sidechain"]),
    ],
)
def test_the_shared_pitfalls_say_what_is_expected(shared: Path, name: str, needles: list[str]) -> None:
    files = [path for path in pitfall(shared, name) if path.name != "journal.jsonl"]
    assert files
    assert all(PARSER.matches(path) for path in files)
    found = "\n".join(everything(parse(path)) for path in files)
    assert [needle for needle in needles if needle not in found] == []
    if name == "20-rewind-dead-branch":
        events = parse(files[0])
        abandoned = session(events).abandoned or ()
        assert [m.text for m in messages(events) if m.segment in abandoned] == ["deadneedle", "dead answer"]
    if name in ("09-no-requestId", "19-queued-command"):
        assert found.count(needles[0]) == 1


def test_the_shared_record_types_are_all_read(shared: Path) -> None:
    events = parse(shared / "corpus" / "claude-code-synthetic" / "all_types.jsonl")
    assert skipped(events) == []
    found = everything(events)
    for needle in ("off-by-one", "I'll list the files.", "looks fine", "and hide the bash lines", "queued as blocks"):
        assert needle in found
    assert "While you were away" in found
    assert "[Request interrupted" not in found
    assert "Caveat" not in found
    assert texts(events, "user").count("now run the tests") == 1


def test_every_shared_session_is_recognised_and_no_other_agents(shared: Path) -> None:
    claude = [*(shared / "eval/corpus/claude").rglob("*.jsonl"), *(shared / "corpus/claude-code").rglob("*.jsonl")]
    others = [
        path
        for place in ("eval/corpus/codex", "eval/corpus/copilot", "eval/corpus/pi", "corpus/pi", "corpus/pi-synthetic")
        for path in (shared / place).rglob("*.jsonl")
    ]
    assert len(claude) > 700
    assert len(others) > 80
    assert [path for path in claude if not PARSER.matches(path)] == []
    assert [path for path in others if PARSER.matches(path)] == []


def test_shared_sessions_are_read_without_loss(shared: Path) -> None:
    for path in sorted((shared / "corpus/claude-code").rglob("*.jsonl"))[:30]:
        events = parse(path)
        assert messages(events)
        assert session(events).cwd
        assert [reason for reason in skipped(events) if reason != "oversized"] == []


@pytest.mark.parametrize("name", ["a", "b"])
def test_the_shared_growing_files_say_the_same_in_parts(shared: Path, name: str, tmp_path: Path) -> None:
    steps = sorted((shared / "corpus/claude-code-growing" / name).glob("*.jsonl"))
    assert len(steps) > 4
    path = tmp_path / f"{SESSION}.jsonl"
    before, events, checkpoint = b"", list[Event](), None
    for step in steps:
        content = step.read_bytes()
        grew = content.startswith(before)
        path.write_bytes(content)
        if checkpoint is None or not grew:
            events = parse(path)
        else:
            tail = list(PARSER.parse_tail(path, roundtrip(checkpoint)) or ())
            check(tail)
            events += tail
        assert isinstance(events[-1], Checkpoint)
        checkpoint, before = events[-1], content
        assert sorted(atoms(events)) == atoms(parse(path))
        assert facts(events) == facts(parse(path))
