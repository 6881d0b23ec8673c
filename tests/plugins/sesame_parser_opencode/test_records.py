"""What each record says, in each layout that has it; most tests are named after a trap of the format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sesame_core import ParseError

from .making import START, JsonTree, Layout, NewDatabase, OldDatabase, OldestTree, Reading, answered, asked, text, tool

# -- speakers ---------------------------------------------------------------------------------------------


def test_a_prompt_and_its_answer_are_read(layout: Layout) -> None:
    reading = Reading(layout.write("ses_1", [asked("mend the zebra"), answered("mended")], title="A zebra"))
    assert (reading.said("user"), reading.said("assistant")) == (["mend the zebra"], ["mended"])
    session = reading.session
    assert (session.id, session.agent, session.kind, session.title) == ("ses_1", "opencode", "interactive", "A zebra")
    assert (session.cwd, session.model) == ("/w/app", "m1")
    assert [round(m.timestamp.timestamp() * 1000) for m in reading.messages if m.timestamp] == [START, START + 1]
    assert reading.skipped == []


def test_text_that_the_program_pasted_is_not_a_prompt(old: OldDatabase) -> None:
    said = (
        {"role": "user"},
        [text("look at @a.py"), text("Called the Read tool", synthetic=True), text("x", ignored=True)],
    )
    assert Reading(old.write("ses_1", [said])).said("user") == ["look at @a.py"]


def test_the_argument_of_opencode_run_loses_its_quotes_and_others_keep_theirs(layout: Layout) -> None:
    prompts = ['"mend the zebra"', '"a" or "b"', '"one"', 'say "hi"']
    reading = Reading(layout.write("ses_1", [asked(one) for one in prompts]))
    assert reading.said("user") == ["mend the zebra", *prompts[1:]]


def test_of_an_attached_file_the_name_is_read_and_its_data_is_not(layout: Layout) -> None:
    image = {"type": "file", "mime": "image/png", "filename": "dot.png", "url": "data:image/png;base64,AAAA"}
    reading = Reading(layout.write("ses_1", [({"role": "user"}, [text("what is this"), image])]))
    assert reading.said("user") == ["what is this\n[file: dot.png]"]


def test_thoughts_are_read_only_if_wanted(layout: Layout) -> None:
    path = layout.write("ses_1", [asked("why"), answered({"type": "reasoning", "text": "ponder"}, "because")])
    assert Reading(path).said("assistant") == ["because"]
    reading = Reading(path, thinking=True)
    assert [(m.source_type, m.text) for m in reading.messages[1:]] == [("thinking", "ponder"), ("message", "because")]


def test_a_command_of_the_person_is_not_the_agents(old: OldDatabase) -> None:
    ran = {"role": "user", "id": "msg_a"}, [text("The following tool was executed by the user", synthetic=True)]
    answer = answered(tool("bash", {"command": "echo zebra"}, "zebra\n"), id="msg_b", parentID="msg_a")
    reading = Reading(old.write("ses_1", [asked("hello"), ran, answer, answered("hi")]))
    assert [(m.role, m.source_type) for m in reading.messages] == [
        ("user", "message"), ("system", "bash-input"), ("tool", "message"), ("assistant", "message"),
    ]  # fmt: skip


def test_a_command_of_the_person_in_the_oldest_layout_has_no_parent(tmp_path: Path) -> None:
    ran = {"role": "user"}, [text("The following tool was executed by the user", synthetic=True)]
    reading = Reading(OldestTree(tmp_path).write("ses_1", [ran, answered(tool("bash", {"command": "ls"}, "a"))]))
    assert [m.role for m in reading.messages] == ["system", "tool"]
    assert reading.session.cwd == "/w/app"


def test_a_shell_message_of_version_2_is_the_persons(new: NewDatabase) -> None:
    path = new.write("ses_1", [])
    new.say("ses_1", 1, "shell", {"command": "echo zebra; exit 2", "output": "zebra\n", "exit": 2})
    reading = Reading(path)
    assert [(m.role, m.source_type) for m in reading.messages] == [("system", "bash-input"), ("tool", "message")]
    assert reading.results[0].is_error


# -- tools ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "is_error", "said"),
    [
        (tool("bash", {"command": "ls"}, "a", metadata={"exit": 0, "output": "a"}), False, "a"),
        (tool("bash", {"command": "ls"}, "no", metadata={"exit": 3}), True, "no\n\nexit code 3"),
        (tool("bash", {"command": "ls"}, "slow", metadata={}), False, "slow"),
        (tool("read", {"filePath": "/a"}, status="error", error="File not found: /a"), True, "File not found: /a"),
        (tool("demo_lookup", {"query": "x"}, status="error", error="bad"), True, "bad"),
    ],
)
def test_a_call_has_its_output_and_its_failure(
    layout: Layout, part: dict[str, object], is_error: bool, said: str
) -> None:
    reading = Reading(layout.write("ses_1", [asked("go on now"), answered(part)]))
    (call,), (result,) = reading.calls, reading.results
    assert (result.call_id, result.name) == (call.id, call.name)
    assert (result.is_error, result.text) == (is_error, said)


def test_a_call_of_an_unknown_tool_is_a_failure_under_its_own_name(layout: Layout) -> None:
    part = tool("invalid", {"tool": "nosuchtool", "error": "no such tool"}, "The arguments are invalid: no such tool")
    reading = Reading(layout.write("ses_1", [asked("go on now"), answered(part)]))
    assert [(call.name, dict(call.arguments)) for call in reading.calls] == [("nosuchtool", {})]
    assert [(one.name, one.is_error, one.text) for one in reading.results] == [("nosuchtool", True, "no such tool")]


@pytest.mark.parametrize("status", ["running", "pending", "streaming"])
def test_a_call_of_a_killed_program_has_no_result(layout: Layout, status: str) -> None:
    reading = Reading(layout.write("ses_1", [asked("go"), answered(tool("bash", {"command": "sleep"}, status=status))]))
    assert (len(reading.calls), reading.results) == (1, [])


def test_output_is_not_read_twice(old: OldDatabase) -> None:
    metadata = {"output": "zebra", "exit": 0, "diff": "zebra", "filediff": {"patch": "zebra"}}
    reading = Reading(old.write("ses_1", [answered(tool("bash", {"command": "ls"}, "zebra", metadata=metadata))]))
    old.db.execute("INSERT INTO event VALUES ('e', 'zebra')")
    assert str(reading.messages).count("zebra") == 1


def test_text_after_a_call_comes_after_it(layout: Layout) -> None:
    parts = ["first", tool("bash", {"command": "ls"}, "a"), "then"]
    reading = Reading(layout.write("ses_1", [asked("go"), answered(*parts)]))
    assert [(m.role, m.text, m.is_new) for m in reading.messages] == [
        ("user", "go", True), ("assistant", "first", True), ("tool", "", False), ("assistant", "then", False),
    ]  # fmt: skip


def test_the_files_of_a_patch_are_named_once(old: OldDatabase) -> None:
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z\n*** End Patch"
    changed = {"type": "patch", "hash": "h", "files": ["src/a.py", "b.py", "/w/app/made.txt"]}
    reading = Reading(old.write("ses_1", [answered(tool("apply_patch", {"patchText": patch}, "ok"), changed)]))
    files = [[edit["path"] for edit in call.arguments["edits"]] for call in reading.calls]
    assert files == [["src/a.py", "b.py"], ["/w/app/made.txt"]]


# -- compaction, failures, noise --------------------------------------------------------------------------


def test_a_compaction_is_a_summary_and_its_marker_is_nothing(layout: Layout) -> None:
    marker = {"role": "user"}, [{"type": "compaction", "auto": True}]
    messages = [asked("mend the zebra"), marker, answered("so far: zebras", summary=True, mode="compaction")]
    reading = Reading(layout.write("ses_1", messages))
    assert (reading.said("summary"), reading.session.summary) == (["so far: zebras"], "so far: zebras")


def test_a_summary_of_changes_is_not_a_compaction(old: OldDatabase) -> None:
    reading = Reading(
        old.write("ses_1", [asked("go", summary={"diffs": []}), answered("yes", summary={"title": None})])
    )
    assert (reading.said("summary"), reading.said("assistant")) == ([], ["yes"])


def test_why_an_answer_failed_is_read(layout: Layout) -> None:
    error = {"name": "APIError", "data": {"message": "overloaded zebra", "statusCode": 529, "responseBody": "{...}"}}
    reading = Reading(layout.write("ses_1", [asked("go"), answered(error=error)]))
    (message,) = [m for m in reading.messages if m.is_error]
    assert (message.role, message.text, message.source_type) == ("system", "overloaded zebra", "APIError")


def test_steps_snapshots_and_attempts_say_nothing(old: OldDatabase) -> None:
    noise = [
        {"type": kind, "snapshot": "zebra"} for kind in ("step-start", "step-finish", "snapshot", "retry", "agent")
    ]
    reading = Reading(old.write("ses_1", [answered("yes", *noise)]))
    assert (len(reading.messages), reading.skipped) == (1, [])


def test_reminders_switches_and_pauses_of_version_2_say_nothing(new: NewDatabase) -> None:
    path = new.write("ses_1", [asked("go")])
    for n, kind in enumerate(("synthetic", "system", "agent-switched", "model-switched", "idle")):
        new.say("ses_1", 10 + n, kind, {"text": "SYSTEM", "outcome": "x"})
    new.say("ses_1", 20, "location-switched", {"directory": "/w/other"})
    reading = Reading(path)
    assert (len(reading.messages), reading.skipped) == (1, [])
    assert reading.session.directories == ("/w/other",)


# -- trees ------------------------------------------------------------------------------------------------


def test_a_subagent_is_a_session_below_its_parent_and_its_task_is_the_agents(layout: Layout) -> None:
    layout.write("ses_a", [asked("delegate")])
    layout.write("ses_b", [asked("delegate more")], parent_id="ses_a")
    task = "You are a subagent spawned by another session.\n" if isinstance(layout, NewDatabase) else ""
    reading = Reading(
        layout.write("ses_c", [asked(f"{task}find zebras")], parent_id="ses_b", title="look (@x subagent)")
    )
    session = reading.session
    assert (session.id, session.parent_id, session.kind) == ("ses_a/ses_b/ses_c", "ses_a/ses_b", "subagent")
    assert [(m.role, m.source_type, m.text) for m in reading.messages] == [("system", "sidechain", "find zebras")]


@pytest.mark.parametrize(
    ("stored", "title"),
    [
        ("Look for zebras (@general subagent)", "Look for zebras"),
        ("Explore the (old) stable (@my-zebra.expert subagent)", "Explore the (old) stable"),
        ("Write to @ann (the subagent)", "Write to @ann (the subagent)"),
        ("(@general subagent)", None),
        ("Child session - 2026-11-28T19:46:38.000Z (@general subagent)", None),
    ],
)
def test_what_opencode_adds_to_the_title_of_a_subagent_is_not_part_of_it(
    layout: Layout, stored: str, title: str | None
) -> None:
    layout.write("ses_a", [asked("delegate")])
    assert Reading(layout.write("ses_b", [asked("find")], parent_id="ses_a", title=stored)).session.title == title
    assert (
        Reading(layout.write("ses_c", [asked("find")], title="Ask (@x subagent)")).session.title == "Ask (@x subagent)"
    )


def test_sessions_that_are_their_own_ancestors_are_read(layout: Layout) -> None:
    layout.write("ses_a", [asked("hello there")], parent_id="ses_b")
    assert Reading(layout.write("ses_b", [asked("hello")], parent_id="ses_a")).session.id == "ses_a/ses_b"
    assert Reading(layout.write("ses_c", [asked("hello")], parent_id="ses_c")).session.id == "ses_c"


def test_a_fork_repeats_its_source_under_other_ids_with_the_same_origins(layout: Layout) -> None:
    messages = [asked("mend the zebra"), answered("mended", tool("bash", {"command": "ls"}, "a"))]
    one = Reading(layout.write("ses_1", messages))
    two = Reading(layout.write("ses_2", [*messages, asked("go on in the fork")], title="A zebra (fork #1)"))
    origins = [message.origin_id for message in one.messages]
    assert [message.origin_id for message in two.messages][: len(origins)] == origins
    assert len(set(origins)) == len(origins)


def test_a_fork_of_version_2_knows_its_source(new: NewDatabase) -> None:
    new.write("ses_1", [asked("mend the zebra")])
    assert Reading(new.write("ses_2", [asked("mend the zebra")], fork_session_id="ses_1")).session.parent_id == "ses_1"


@pytest.mark.parametrize("kind", [JsonTree, OldDatabase, NewDatabase])
def test_undone_messages_are_off_the_active_branch(kind: type[Layout], tmp_path: Path) -> None:
    layout = kind(tmp_path)
    messages = [asked("keep it"), answered("kept"), asked("regret it"), answered("regretted")]
    reading = Reading(layout.write("ses_1", messages, revert={"messageID": "msg_ses_1_002"}))
    assert [m.segment for m in reading.messages] == [0, 0, 1, 1]
    assert reading.session.abandoned == (1,)
    layout.close()


def test_an_answer_may_be_undone_in_part(old: OldDatabase) -> None:
    revert = {"messageID": "msg_ses_1_001", "partID": "prt_msg_ses_1_001_001"}
    reading = Reading(old.write("ses_1", [asked("go"), answered("kept", "undone"), asked("next")], revert=revert))
    assert [(m.text, m.segment) for m in reading.messages] == [("go", 0), ("kept", 0), ("undone", 1), ("next", 1)]


# -- titles -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["New", "Child"])
def test_a_placeholder_is_not_a_title(layout: Layout, kind: str) -> None:
    path = layout.write("ses_1", [asked("go")], title=f"{kind} session - 2026-11-28T20:05:39.437Z")
    assert Reading(path).session.title is None


def test_a_session_of_version_2_may_have_no_title(new: NewDatabase) -> None:
    assert Reading(new.write("ses_1", [asked("go")], title=None)).session.title is None


# -- damage -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", ["", "{", "[]", "null", '"x"', '{"a":' * 5000, "\0"])
def test_a_damaged_row_affects_no_other(old: OldDatabase, data: str) -> None:
    path = old.write("ses_1", [asked("one", "two"), answered("three")])
    old.db.execute("UPDATE part SET data = ? WHERE id = 'prt_msg_ses_1_000_000'", (data,))
    reading = Reading(path)
    assert (reading.said("user"), reading.said("assistant"), reading.lost) == (["two"], ["three"], ["damaged"])


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\0\0\0", b'{"role": 7}', b"\xff\xfe"])
def test_a_half_written_message_affects_no_other(tmp_path: Path, content: bytes) -> None:
    tree = JsonTree(tmp_path)
    path = tree.write("ses_1", [asked("one"), asked("two")])
    (tree.place / "storage" / "message" / "ses_1" / "msg_ses_1_000.json").write_bytes(content)
    reading = Reading(path)
    assert reading.said("user") == ["two"]
    assert len(reading.lost) == 1


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}"])
def test_a_half_written_session_is_an_error_and_not_an_empty_one(tmp_path: Path, content: bytes) -> None:
    path = JsonTree(tmp_path).write("ses_1", [asked("one")])
    path.write_bytes(content)
    with pytest.raises(ParseError, match="session's file"):
        Reading(path)


def test_a_part_of_an_unknown_type_is_counted_and_one_without_a_type_is_lost(old: OldDatabase) -> None:
    reading = Reading(old.write("ses_1", [answered("yes", {"type": "hologram"}, {"kind": "x"})]))
    assert (reading.said("assistant"), reading.skipped, reading.lost) == (
        ["yes"], ["unknown part: hologram", "no type"], ["no type"],
    )  # fmt: skip


def test_a_row_over_the_limit_keeps_the_beginning_of_its_text(old: OldDatabase) -> None:
    long = "zebra " * 2_000_000
    output = tool("bash", {"command": "cat all"}, long)
    image = {"type": "file", "filename": "big.png", "url": f"data:;base64,{'A' * 9_000_000}"}
    reading = Reading(old.write("ses_1", [asked("go", long), answered(output, image)]))
    (said,) = reading.said("user")
    assert said.startswith("go\n\nzebra zebra")
    assert abs(len(said) - (1 << 20)) < 10
    assert (reading.calls[0].arguments["command"], len(reading.results[0].text)) == ("cat all", 1 << 20)
    assert "[file: big.png]" in reading.said("assistant")
    assert set(reading.skipped) == {"shortened"}


def test_bytes_that_are_not_text_are_read_as_such(old: OldDatabase) -> None:
    path = old.write("ses_1", [asked("one")])
    old.db.execute("UPDATE part SET data = CAST(? AS TEXT)", (b'{"type":"text","text":"z\xff\xfebra"}',))
    assert Reading(path).said("user") == ["z\ufffd\ufffdbra"]


def test_the_id_of_a_session_is_not_the_name_of_its_file(tmp_path: Path) -> None:
    tree = JsonTree(tmp_path)
    path = tree.write("ses_other", [])
    tree.write("plain", [asked("hello there")]).rename(path)
    assert Reading(path).session.id == "plain"
    assert Reading(path).said("user") == ["hello there"]


def test_parts_that_are_in_no_directory_of_a_message_are_found(tmp_path: Path) -> None:
    tree = JsonTree(tmp_path)
    path = tree.write("ses_1", [asked()])
    loose = {"type": "text", "text": "loose zebra", "messageID": "msg_ses_1_000", "id": "prt_1"}
    (tree.place / "storage" / "part").mkdir()
    (tree.place / "storage" / "part" / "prt_1.json").write_text(json.dumps(loose))
    assert Reading(path).said("user") == ["loose zebra"]


@pytest.mark.parametrize("id", ["../../secret", "..", "/etc"])
def test_an_id_is_never_a_way_out_of_the_tree(tmp_path: Path, id: str) -> None:
    tree = JsonTree(tmp_path)
    path = tree.write("ses_1", [])
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "id": id}))
    secret = tree.place / "storage" / "secret"
    secret.mkdir(exist_ok=True)
    (secret / "msg_x.json").write_text(json.dumps({"role": "user", "id": "msg_x"}))
    assert Reading(path).messages == []
