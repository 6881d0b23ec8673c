"""What each type of event says, version by version, and what none of them says twice."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from .reading import AGENT, EVERY, FLAT, HISTORY, ID, Write, answer, done, event, line, prompt, read, request, start


def test_a_log_with_every_type_of_event_says_each_thing_once() -> None:
    reading = read(EVERY)
    assert reading.skipped == []
    assert reading.said("user") == ["why does the sail of the windmill stall in a crosswind?"]
    assert reading.said("assistant") == [
        "I look at the sail first.",
        "The pitch is reversed; I turn it.",
        "There are 48 wooden gears.",
        "The sail turns, with 48 gears.",
    ]
    assert [call.name for call in reading.calls] == [
        *("bash", "view", "granary-count", "edit", "apply_patch", "task", "grep", "shell", "task_complete")
    ]
    assert [(result.name, result.is_error) for result in reading.results] == [
        *(("view", True), ("bash", True), ("granary-count", False), ("edit", False), ("apply_patch", False)),
        *(("grep", False), ("task", False), ("shell", False), ("task_complete", False)),
    ]
    assert reading.said("summary") == ["The pitch of the sail was reversed, and is 12 now."]
    assert reading.said("metadata") == ["Sails in a crosswind"]
    assert [(message.source_type, message.text) for message in reading.messages if message.role == "system"] == [
        ("sidechain", "count the wooden gears and report"),
        ("bash", ""),
        ("skill", "milling"),
        ("autopilot", "continue"),
        ("error", "You have hit the miller's rate limit"),
    ]


def test_a_session_has_its_name_places_branch_repository_model_and_times() -> None:
    reading = read(EVERY)
    session = reading.session
    assert (session.id, session.agent, session.kind) == (EVERY.parent.name, "copilot", "interactive")
    assert session.places == ("/home/ann/windmill", "/home/ann/windmill-wt")
    assert (session.title, session.git_branch) == ("Sails in a crosswind", "crosswind")
    assert (session.repository, session.model) == ("github.com/ann/windmill", "gpt-5")
    assert session.summary == "The pitch of the sail was reversed, and is 12 now."
    assert session.created == datetime(2026, 10, 2, 9, tzinfo=UTC)
    assert reading.messages[1].timestamp == datetime(2026, 10, 2, 9, 0, 12, tzinfo=UTC)


def test_the_flat_layout_of_2025_is_read_with_its_older_events() -> None:
    reading = read(FLAT)
    assert reading.session.id == FLAT.stem
    assert (reading.session.cwd, reading.session.model) == ("/home/ann/bakery", "claude-sonnet-4.5")
    assert reading.said("user") == ["how hot is the oven for rye?"]
    assert [(call.name, call.arguments) for call in reading.calls] == [("shell", {"command": "./oven --probe"})]
    (result,) = reading.results
    assert (result.text, result.is_error, result.command) == ("probe is cold\nexit code 3", True, "./oven --probe")
    assert [message.text for message in reading.messages if message.session_id == f"{FLAT.stem}/t2"] == [
        "A baker says so, too."
    ]
    assert reading.said("assistant")[0] == "The probe is cold; rye wants 250 degrees."


def test_the_single_json_object_of_the_first_versions_is_read_as_it_was_shown() -> None:
    reading = read(HISTORY)
    assert reading.session.id == "0d0e0000-1111-4222-8333-444455556666"
    assert reading.said("user") == ["which well has the sweetest water?"]
    assert reading.said("assistant") == ["I taste them.", "The north well."]
    assert [(r.name, r.command, r.text, r.is_error) for r in reading.results] == [
        ("bash", "taste wells", "the north well is sweet", False)
    ]
    assert reading.messages[0].timestamp == datetime(2025, 10, 1, 7, 0, 5, tzinfo=UTC)


def test_the_first_versions_without_a_timeline_are_read_as_they_were_sent(tmp_path: Path) -> None:
    document = HISTORY.read_text(encoding="utf-8").replace('"timeline"', '"timelin"')
    (path := tmp_path / HISTORY.name).write_text(document, encoding="utf-8")
    reading = read(path)
    assert reading.said("user") == ["which well has the sweetest water?"]
    assert reading.said("assistant") == ["I taste them.", "The north well."]
    assert [(r.name, r.command, r.text) for r in reading.results] == [
        ("bash", "taste wells", "the north well is sweet")
    ]


# -- who speaks ---------------------------------------------------------------------------------------------


def test_the_prompt_is_what_was_typed_and_not_what_was_sent(write: Write) -> None:
    sent = "<current_datetime>2026-03-04</current_datetime>\n\ndim it\n\n<reminder>fog</reminder>"
    reading = read(write(prompt("dim it", transformedContent=sent)))
    assert [message.text for message in reading.messages] == ["dim it"]


def test_a_long_paste_is_read_from_the_file_that_the_prompt_names(write: Write, tmp_path: Path) -> None:
    tag = '<pasted_content file="/elsewhere/session-state/x/files/paste-{}.txt" size="94.1 KB" lines="2500" />'
    text = f"why? {tag.format(1)} and {tag.format(2)}"
    (files := tmp_path / "session-state" / ID / "files").mkdir(parents=True)
    (files / "paste-1.txt").write_bytes(b"an axolotl\n\0\xffof two" + b" x" * 200_000)
    (tmp_path / "session-state" / ID / "events.jsonl.secret").write_text("not pasted")
    reading = read(write(prompt(text), workspace=f"name: {text.replace(chr(34), chr(39))}\n"))
    (said,) = reading.said("user")
    assert said.startswith("why? an axolotl\nof two x")
    assert said.endswith(f" and {tag.format(2)}")
    assert len(said) < 270_000
    outside = tag.replace("/files/paste-{}.txt", "\\..\\events.jsonl.secret")
    for name in (outside, tag.format("\0"), tag.format("y" * 300)):
        assert read(write(prompt(name))).said("user") == [name.replace("\0", "")]


def test_the_name_of_a_session_that_starts_with_a_long_paste_is_no_title(write: Write) -> None:
    text = '<pasted_content file="/s/files/paste-1.txt" size="94.1 KB" lines="2500" /> why?'
    assert read(write(prompt(text), workspace=f"name: {text}\n")).session.title is None


@pytest.mark.parametrize(
    ("source", "role", "source_type"),
    [
        (None, "user", "message"),
        ("", "user", "message"),
        ("system", "system", "system"),
        ("command-review", "system", "command"),
        ("agent-0c0b", "system", "agent"),
    ],
)
def test_only_a_prompt_without_a_source_is_a_persons(write: Write, source: object, role: str, source_type: str) -> None:
    (message,) = read(write(prompt("dim it", source=source))).messages
    assert (message.role, message.source_type) == (role, source_type)


def test_the_text_of_a_skill_is_left_out_and_its_name_is_said_once(write: Write) -> None:
    reading = read(
        write(
            event("skill.invoked", 1, name="fog", content="Blow the horn.", trigger="user-invoked"),
            prompt("/fog dim it"),
            event("skill.invoked", 3, name="rain", content="Blow the horn."),
            prompt("Blow the horn.", 4, source="skill-rain"),
            answer("", 5, request("c1", "skill", skill="mist")),
            event("skill.invoked", 6, name="mist", content="Blow it twice.", trigger="agent-invoked"),
            event("skill.invoked", 7, name="mist", content="Blow it twice."),
            event("skill.invoked", 8, name="haze", content="Never blow it.", trigger="context-load"),
        )
    )
    assert [message.text for message in reading.messages if message.text] == ["/fog dim it", "rain"]
    assert [call.arguments for call in reading.calls] == [{"skill": "mist"}]


def test_the_prompt_of_a_subagent_is_not_the_persons(write: Write) -> None:
    reading = read(
        write(
            prompt("light the lamp"),
            answer("", 3, request("c1", "task", description="Find oil", prompt="find oil")),
            event("subagent.started", 4, agent=AGENT, toolCallId="c1", agentDisplayName="finder", model="small"),
            prompt("find oil", 5, agent=AGENT),
            answer("in the cellar", 6, agent=AGENT, model="small"),
            done("c1", "in the cellar", 7),
        )
    )
    assert reading.said("user") == ["light the lamp"]
    child = reading.sessions[f"{ID}/{AGENT}"]
    assert (child.kind, child.parent_id, child.title, child.model) == ("subagent", ID, "Find oil", "small")
    assert (child.cwd, child.repository) == ("/home/ann/lighthouse", "github.com/ann/lighthouse")
    assert [m.text for m in reading.messages if m.session_id == child.id] == ["find oil", "in the cellar"]
    assert reading.session.model is None


def test_a_subagent_of_a_subagent_has_that_one_as_its_parent(write: Write) -> None:
    reading = read(
        write(
            event("subagent.started", 2, agent="a1", toolCallId="c1", agentDisplayName="one"),
            event("subagent.started", 3, agent="a2", toolCallId="c2", agentDisplayName="two", parentId="a1"),
            answer("oil", 4, agent="a2"),
        )
    )
    assert reading.sessions[f"{ID}/a2"].parent_id == f"{ID}/a1"


def test_events_of_an_older_subagent_name_only_the_call_that_started_it(write: Write) -> None:
    reading = read(
        write(
            event("subagent.started", 2, toolCallId="c1", agentName="explore", agentDisplayName="explore"),
            answer("oil", 3, parentToolCallId="c1"),
        )
    )
    assert [message.session_id for message in reading.messages] == [f"{ID}/c1"]


#: The output of a shell that failed.
NO = "no\nexit code 3"

# -- tools --------------------------------------------------------------------------------------------------


def test_a_call_is_said_once_whichever_of_its_events_comes_first(write: Write) -> None:
    begun = event("tool.execution_start", 3, toolCallId="c1", toolName="bash", arguments={"command": "ls"})
    asked = answer("", 4, request("c1", "bash", command="ls"))
    for records in ((begun, asked), (asked, begun), (begun,), (asked,)):
        reading = read(write(*records, done("c1", "lamp.py")))
        assert [call.arguments for call in reading.calls] == [{"command": "ls"}]
        assert [(r.name, r.command, r.text) for r in reading.results] == [("bash", "ls", "lamp.py")]


@pytest.mark.parametrize(
    ("complete", "text", "is_error"),
    [
        (done("c1", "ok\n<shellId: 1 completed with exit code 0>", shellExecution={"exitCode": 0}), "ok", False),
        (done("c1", "no\n<shellId: 1 completed with exit code 3>", shellExecution={"exitCode": 3}), NO, True),
        (done("c1", "no", shellExecution={"exitCode": 3}), "no", True),
        (done("c1", "no\n<exited with exit code 3>"), NO, True),
        (done("c1", "no\n<command with shellId: abc exited with exit code 3>\n"), NO, True),
        (done("c1", "<exited with exit code -1>"), "exit code -1", True),
        (done("c1", "prints <exited with exit code 3> and more"), "prints <exited with exit code 3> and more", False),
        (done("c1", "", success=False, result=None, error={"message": "no tool 'x'"}), "no tool 'x'", True),
        (done("c1", "", success=False, result=None, error="refused"), "refused", True),
        (
            done("c1", "half\n<command with shellId: 7 is still running after 30 seconds. Use read_bash.>"),
            "half",
            False,
        ),
        (done("c1", "<command with id: 7 stopped>"), "", False),
        (done("c1", "half", success=False, error={"message": "then it broke"}), "half\nthen it broke", True),
        (done("c1", "", result="no\n<exited with exit code 3>"), NO, True),
        (done("c1", "", result={"contents": [{"type": "text", "text": "one"}, {"type": "image"}]}), "one", False),
        (done("c1", [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]), "one\ntwo", False),
    ],
)
def test_a_shell_that_failed_succeeded_as_a_call(
    write: Write, complete: dict[str, object], text: str, is_error: bool
) -> None:
    (result,) = read(write(answer("", 3, request("c1", "bash", command="x")), complete)).results
    assert (result.text, result.is_error) == (text, is_error)


def test_a_diff_that_repeats_an_edit_is_left_out_and_a_fuller_output_is_taken(write: Write) -> None:
    large = "Output too large to read at once (9 KB). Saved to: /tmp/x.txt\nConsider using tools like grep.\n\n"
    reading = read(
        write(
            done("c1", "updated", result={"content": "updated", "detailedContent": "\ndiff --git a/x b/x\n+lamp\n"}),
            done(
                "c2",
                "",
                6,
                result={"content": f"{large}Preview (first 3 chars):\n1\n2", "detailedContent": "1\n2\n3\n4"},
            ),
            done("c3", "", 7, result={"content": f"{large}Preview (first 3 chars):\n1\n2"}),
            done("c4", "", 8, result={"content": "wick", "detailedContent": "the wick is short"}),
        )
    )
    assert [result.text for result in reading.results] == [
        "updated",
        "Output too large to read at once (9 KB). Saved to: /tmp/x.txt\n1\n2",
        "Output too large to read at once (9 KB). Saved to: /tmp/x.txt\n1\n2",
        "the wick is short",
    ]


def test_results_come_in_any_order_and_a_call_without_one_was_interrupted(write: Write) -> None:
    reading = read(
        write(
            answer("", 3, request("c1", "bash", command="sleep 9"), request("c2", "view", path="/lamp")),
            done("c2", "a lamp", 4),
            event("abort", 5, reason="user initiated"),
        )
    )
    assert [(result.call_id, result.name) for result in reading.results] == [("c2", "view")]
    assert len(reading.calls) == 2


def test_a_persons_shell_command_is_found_as_a_shells(write: Write) -> None:
    asked = event("tool.user_requested", 3, toolCallId="u1", toolName="local_shell", arguments={"command": "git log"})
    reading = read(
        write(asked, done("u1", "fatal: no git\n", 4, isUserRequested=True, shellExecution={"exitCode": 128}))
    )
    assert [(call.name, call.arguments) for call in reading.calls] == [("shell", {"command": "git log"})]
    assert [(r.name, r.command, r.is_error) for r in reading.results] == [("shell", "git log", True)]
    assert [message.role for message in reading.messages] == ["system", "tool"]


def test_arguments_are_an_object_a_string_of_json_or_a_patch(write: Write) -> None:
    patch = "*** Begin Patch\n*** Update File: lamp.py\n*** Move to: light.py\n@@\n-a\n+b\n*** End Patch"
    calls = [
        {"toolCallId": "c1", "name": "view", "arguments": '{"path": "/lamp"}'},
        {"toolCallId": "c2", "name": "apply_patch", "arguments": patch},
        {"toolCallId": "c3", "name": "apply_patch", "arguments": {"patch": patch}},
        {"toolCallId": "c4", "name": "view", "arguments": None},
        {"toolCallId": "c5", "name": "view"},
        {"toolCallId": "c6", "name": None, "arguments": {}},
    ]
    edits = [{"path": "lamp.py"}, {"path": "light.py"}]
    assert [call.arguments for call in read(write(answer("", 3, *calls))).calls] == [
        *({"path": "/lamp"}, {"input": patch, "edits": edits}, {"patch": patch, "edits": edits}, {}, {})
    ]


def test_the_intent_that_the_program_shows_is_no_call(write: Write) -> None:
    reading = read(
        write(
            answer("", 3, request("c1", "report_intent", intent="Looking at lamps")),
            event("tool.execution_start", 4, toolCallId="c1", toolName="report_intent", arguments={"intent": "x"}),
            done("c1", "Intent logged"),
        )
    )
    assert reading.messages == []


# -- noise --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("system.message", {"role": "system", "content": "You are a keeper."}),
        ("model.messages_snapshot", {"messages": [{"role": "user", "content": "light"}]}),
        ("model.response", {"response": "light"}),
        ("session.shutdown", {"codeChanges": {"filesModified": ["/lamp"]}}),
        ("hook.start", {"input": {"toolName": "bash"}}),
        ("permission.requested", {"permissionRequest": {"command": "ls"}}),
        ("session.warning", {"message": "a warning"}),
        ("session.info", {"infoType": "rewind", "message": "Rewound the conversation."}),
        ("session.compaction_complete", {"success": False, "summaryContent": "half a summary"}),
        ("system.notification", {"content": "<system_notification>x</system_notification>"}),
        ("skill.context_delivered_ref", {"prefix": "<skill-context>"}),
        ("a.type.of.next.year", {"content": "unheard of"}),
        ("abort", {"reason": "user initiated"}),
    ],
)
def test_what_the_program_writes_for_itself_says_nothing(write: Write, kind: str, data: dict[str, object]) -> None:
    reading = read(write(event(kind, 2, **data)))
    assert (reading.messages, reading.skipped) == ([], [])


def test_a_snapshot_of_two_megabytes_is_no_loss_but_a_prompt_of_two_is_shortened(write: Write) -> None:
    long = "word " * 400_000
    reading = read(write(event("model.messages_snapshot", 2, messages=[long]), prompt(f"first {long} last", 3)))
    assert [(skipped.reason, skipped.line) for skipped in reading.skipped] == [("shortened", 3)]
    (message,) = reading.messages
    assert message.text.startswith("first word")
    assert message.text.endswith("word  last")


def test_a_binary_asset_of_two_megabytes_is_no_loss(write: Write) -> None:
    reading = read(write(event("session.binary_asset", 2, data="QUJD" * 500_000), prompt("after it", 3)))
    assert (reading.said("user"), reading.skipped) == (["after it"], [])


def test_thoughts_are_read_only_if_asked_for_and_encrypted_ones_never(write: Write) -> None:
    path = write(
        event("assistant.reasoning", 2, reasoningId="r", content="older thoughts"),
        answer("a lamp", 3, reasoningText="newer thoughts", reasoningOpaque="b3BhcXVl", encryptedContent="ZW5j"),
    )
    assert read(path).said("assistant") == ["a lamp"]
    assert read(path, thinking=True).said("assistant") == ["older thoughts", "newer thoughts", "a lamp"]


def test_an_answer_divided_at_its_thoughts_counts_once(write: Write) -> None:
    reading = read(write(*(answer(f"part {n}", n + 3, chunkIndex=n, chunkCount=2, apiCallId="x") for n in range(2))))
    assert [(message.text, message.is_new) for message in reading.messages] == [("part 0", True), ("part 1", False)]


def test_a_turn_that_failed_says_why(write: Write) -> None:
    reading = read(write(prompt("light"), event("session.error", 3, errorType="query", message="400 no oil")))
    (message,) = (message for message in reading.messages if message.role != "user")
    assert (message.role, message.text, message.is_error) == ("system", "400 no oil", True)


def test_the_summary_of_a_task_is_said_once(write: Write) -> None:
    told = event("session.task_complete", 5, summary="The lamp burns.")
    assert read(write(told)).said("assistant") == ["The lamp burns."]
    asked = answer("", 3, request("c1", "task_complete", summary="The lamp burns."))
    assert read(write(asked, told)).said("assistant") == []


def test_a_handoff_says_what_was_done_elsewhere(write: Write) -> None:
    reading = read(write(event("session.handoff", 2, summary="The wick was cut.", remoteSessionId="r")))
    assert reading.said("summary") == ["The wick was cut."]
    assert reading.session.summary == "The wick was cut."


# -- forks --------------------------------------------------------------------------------------------------


def test_a_fork_is_linked_by_an_english_sentence_and_its_events_keep_their_identity(
    write: Write, tmp_path: Path
) -> None:
    source, fork, fork_of_fork = (f"0f0{n}0000-1111-4222-8333-444455556666" for n in range(3))
    told = 'Forked from "a \\"quoted\\" name" ({}) as "new" ({}).'.replace("\\", "")
    said = (prompt("light the lamp"), answer("it burns"))
    first = event("session.info", 5, infoType="fork", message=told.format(source, fork))
    second = event("session.info", 6, infoType="fork", message=told.format(fork, fork_of_fork))
    into = event("session.info", 5, infoType="fork", message=f'Forked this session into "new" ({fork}).')
    readings = [
        read(write(*said, into, session=source)),
        read(write(*said, first, prompt("dim it", 7), session=fork)),
        read(write(*said, first, second, prompt("douse it", 8), session=fork_of_fork)),
    ]
    assert [reading.session.parent_id for reading in readings] == [None, source, fork]
    origins = [[message.origin_id for message in reading.messages[:2]] for reading in readings]
    assert origins[0] == origins[1] == origins[2]
    assert None not in origins[0]


def test_a_session_that_another_detached_has_it_as_its_parent(write: Write) -> None:
    header = start(detachedFromSpawningParentSessionId="0c0b0000-1111-4222-8333-444455556666")
    assert read(write(prompt("light"), header=header)).session.parent_id == "0c0b0000-1111-4222-8333-444455556666"


# -- names and places ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("workspace", "title"),
    [
        ("name: The lamp\nuser_named: false\n", "The lamp"),
        ("summary: The lamp\n", "The lamp"),
        ("name: light the\nuser_named: false\n", None),
        ("name: light the…\nuser_named: false\n", None),
        ("name: Light the lamp\nuser_named: true\n", "Light the lamp"),
        ("name: light the lamp (fork)\nuser_named: false\n", None),
        ("name: |-\n  light the lamp\n  and the stove\nuser_named: false\nbranch: x\n", None),
        ("name: |-\n  a lamp\n\n  and a stove\nuser_named: true\n", "a lamp and a stove"),
        ("name: >\n  a lamp\n  and a stove\n", "a lamp and a stove"),
        ('name: "a \\"lamp\\": lit # really"\n', 'a "lamp": lit # really'),
        ("name: 'Ann''s lamp'\n", "Ann's lamp"),
        ("name: a lamp # comment\n", "a lamp"),
        ("name: a plain lamp\n  on two lines\n", "a plain lamp on two lines"),
        ("name: null\n", None),
        ("name:\n", None),
        ("\0\n- [not yaml\n:\n", None),
    ],
)
def test_the_title_is_what_a_person_or_a_model_named_it_and_not_the_first_prompt(
    write: Write, workspace: str, title: str | None
) -> None:
    reading = read(write(prompt("light the lamp\nand the stove"), answer("lit"), workspace=workspace))
    assert reading.session.title == title
    assert reading.said("metadata") == ([title] if title else [])


def test_a_short_prompt_does_not_take_the_title_that_starts_with_it(write: Write) -> None:
    assert read(write(prompt("hi"), workspace="name: High lamps\n")).session.title == "High lamps"


def test_the_directory_is_the_last_context_and_else_the_file_next_to_the_log(write: Write) -> None:
    workspace = "cwd: /w/lamp\nbranch: dim\nrepository: ann/lamp\nhost_type: github\n"
    bare = {"type": "session.start", "data": {"sessionId": ID}, "id": "x", "timestamp": "2026-03-04T05:06:00Z"}
    session = read(write(prompt("light"), header=bare, workspace=workspace)).session
    assert (session.cwd, session.git_branch, session.repository) == ("/w/lamp", "dim", "github.com/ann/lamp")
    moved = event("session.context_changed", 3, cwd="/w/other", branch="bright")
    again = event("session.resume", 4, context={"cwd": "/w/third", "repository": "o/p/r", "hostType": "ado"})
    session = read(write(prompt("light"), moved, again, workspace=workspace)).session
    assert session.places == ("/home/ann/lighthouse", "/w/other", "/w/third")
    assert (session.git_branch, session.repository) == ("bright", "dev.azure.com/o/p/r")


def test_the_id_is_the_one_that_copilot_finds_whatever_the_log_says(write: Write, tmp_path: Path) -> None:
    path = write(prompt("light"), header=start("another-id"))
    assert read(path).session.id == ID
    assert read(write(prompt("light"), session="of-the-sdk")).session.id == "of-the-sdk"
    assert read(write(prompt("light"), session=ID.upper())).session.id == ID.upper()
    (copied := tmp_path / "a-copy.jsonl").write_bytes(path.read_bytes())
    assert read(copied).session.id == "another-id"
    copied.write_bytes(line(prompt("light")) + b"\n")
    assert read(copied).session.id == "a-copy"
