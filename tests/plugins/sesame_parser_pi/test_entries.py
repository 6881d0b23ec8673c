"""The pi parser, on files of every version of the format and on everything that went wrong with such files."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from sesame_core import Session
from sesame_parser_pi.parser import PiParser

from .reading import DATA, HEADER, Write, message, own, read

# -- what each kind of entry says -------------------------------------------------------------------------


def test_only_what_a_person_typed_is_said_by_the_user() -> None:
    assert own("every-entry.jsonl").said("user") == ["make the beacon blink", "what is in this picture?"]


def test_an_assistant_speaks_in_blocks_or_in_a_string_and_fails_in_a_message() -> None:
    reading = own("every-entry.jsonl")
    assert reading.said("assistant") == [
        "I will edit the beacon.",
        "a plain string answer",
        "529: overloaded lantern",
        "half an answ\nRequest was aborted",
    ]
    spoken = [m for m in reading.messages if m.role == "assistant"]
    assert [m.is_error for m in spoken] == [False, False, True, True]
    assert [m.source_type for m in spoken] == ["message", "message", "error", "message"]


def test_edits_of_pi_arrive_intact() -> None:
    call = own("every-entry.jsonl").of("message")[1].tool_calls[0]
    assert (call.id, call.name) == ("call-1", "edit")
    assert call.arguments == {
        "path": "beacon.py",
        "edits": [{"oldText": "steady()", "newText": "blink()"}, {"oldText": "a", "newText": "b"}],
    }


def test_a_tool_result_carries_name_command_and_failure() -> None:
    edit, bash, codemode = (m.tool_results[0] for m in own("every-entry.jsonl").messages if m.role == "tool")
    assert (edit.call_id, edit.name, edit.text, edit.is_error) == (
        "call-1",
        "edit",
        "Replaced 2 blocks.",
        False,
    )
    assert (bash.name, bash.command, bash.is_error) == ("bash", "make beacon", True)
    assert (codemode.name, codemode.command) == ("codemode", "")


def test_nested_calls_name_the_tool_that_made_them() -> None:
    codemode = [m for m in own("every-entry.jsonl").messages if m.role == "tool"][2]
    assert [(c.name, c.via, c.arguments) for c in codemode.tool_calls] == [
        ("bash", "codemode", {"command": "ls lamps"}),
        ("read", "codemode", {}),
    ]


def test_nested_calls_stand_in_the_details_of_codemode_and_of_no_other_tool(one: Any) -> None:
    calls = [{"id": "x/1", "name": "bash", "args": '{"command":"ls"}'}, {"id": "x/2", "name": "w", "args": '{"cut'}]
    made = one(
        message("toolResult", 1, toolName="codemode", toolCallId="x", details={"calls": calls}),
        message("toolResult", 2, toolName="phone", toolCallId="y", details={"calls": calls}),
    )
    assert [[(c.name, dict(c.arguments)) for c in m.tool_calls] for m in made] == [
        [("bash", {"command": "ls"}), ("w", {"arguments": '{"cut'})],
        [],
    ]


@pytest.mark.parametrize(
    "odd", [None, 7, "x", [], {"calls": None}, {"calls": {"a": 1}}, {"calls": [None, 1, {"name": 4}, {}]}]
)
def test_odd_nested_calls_are_ignored(one: Any, odd: object) -> None:
    (result,) = one(message("toolResult", toolName="codemode", content="kept", nestedCalls=odd, details=odd))
    assert (result.tool_calls, result.tool_results[0].text) == ((), "kept")


def test_a_shell_command_of_the_user_is_a_call_with_its_output() -> None:
    listing, failing = own("every-entry.jsonl").of("bash")
    assert listing.role == "system"
    assert listing.tool_calls[0].arguments == {"command": "ls -la"}
    result = listing.tool_results[0]
    assert (result.text, result.command, result.is_error) == ("total 0\n", "ls -la", False)
    assert result.call_id == listing.tool_calls[0].id != ""
    assert failing.tool_results[0].is_error


def test_a_shell_command_kept_from_the_model_is_private_unless_asked_for() -> None:
    path = DATA / "every-entry.jsonl"
    assert "hunter2" not in repr(read(path).messages)
    assert "hunter2" in repr(read(path, excluded_bash=True).messages)


def test_thoughts_are_left_out_unless_asked_for() -> None:
    path = DATA / "every-entry.jsonl"
    assert "blinking needs a timer" not in repr(read(path).messages)
    answer, without = read(path, thinking=True).messages, read(path).messages
    assert [m.text for m in answer if m.source_type == "thinking"] == ["blinking needs a timer"]
    assert [m for m in answer if m.source_type != "thinking"] == without
    origins = [m.origin_id for m in answer]
    assert len(origins) == len(set(origins))


def test_injected_text_is_the_systems_and_named_by_its_source() -> None:
    reading = own("every-entry.jsonl")
    assert [(m.source_type, m.text) for m in reading.messages if m.role == "system" and m.text] == [
        ("old-hook", "a hook said this"),
        ("custom", "a nameless hook said this"),
        ("narrator", "meanwhile, at the harbour"),
        ("tide-table", "high tide at noon"),
    ]


def test_a_skill_that_was_invoked_is_distinguished_from_what_the_person_typed(one: Any) -> None:
    body = '<skill name="tides" location="/s/tides/SKILL.md">\nReferences are relative to /s.\n\nRead it.\n</skill>'
    skill, typed, skill_alone, bare, quoted = one(
        message("user", 1, content=f"{body}\n\nwhen is high tide?"),
        message("user", 2, content=[{"type": "text", "text": body}]),
        message("user", 3, content=f"what does {body} mean?"),
    )
    assert (skill.role, skill.source_type, skill.text, skill.is_new) == ("system", "skill", body, False)
    assert (typed.role, typed.text) == ("user", "/skill:tides when is high tide?")
    assert (skill_alone.text, bare.text) == (body, "/skill:tides")
    assert (quoted.role, quoted.text) == ("user", f"what does {body} mean?")
    assert skill.origin_id != typed.origin_id


def test_summaries_are_reported_and_the_last_compaction_sums_up_the_session() -> None:
    reading = own("every-entry.jsonl")
    assert [(m.source_type, m.text) for m in reading.messages if m.role == "summary"] == [
        ("compaction", "summary kept in a message"),
        ("compaction", "Goal: a beacon that blinks"),
        ("branch_summary", "Tried a steady light first"),
    ]
    assert reading.session.summary == "Goal: a beacon that blinks"


def test_a_branch_summary_sums_up_a_session_without_compaction(write: Write) -> None:
    assert read(write({"type": "branch_summary", "summary": "left"})).session.summary == "left"


def test_a_title_is_reported_once_and_cleared_by_an_empty_one() -> None:
    reading = own("every-entry.jsonl")
    assert [(m.role, m.text) for m in reading.of("title")] == [("metadata", "Blinking beacon project")]
    assert reading.session.title == ""


def test_the_latest_title_wins(write: Write) -> None:
    reading = read(write(*({"type": "session_info", "name": name} for name in ("one", "two", "one"))))
    assert reading.session.title == "one"
    assert [m.text for m in reading.of("title")] == ["one", "two", "one"]


def test_a_session_that_was_never_named_has_no_title() -> None:
    assert own("branched.jsonl").session.title is None


def test_a_label_is_reported_once_per_target() -> None:
    (label,) = own("every-entry.jsonl").of("label")
    assert (label.role, label.text) == ("metadata", "checkpoint one")


def test_a_label_is_reported_again_when_it_changed(one: Any) -> None:
    labels = [("a", "x"), ("b", "x"), ("a", "x"), ("a", "y"), ("a", None), ("a", "y")]
    made = one(*({"type": "label", "targetId": target, "label": label} for target, label in labels))
    assert [m.text for m in made] == ["x", "x", "y", "y"]


def test_the_last_model_is_the_sessions() -> None:
    assert own("every-entry.jsonl").session.model == "lamp-2"


@pytest.mark.parametrize(
    "hidden",
    [
        "boilerplate",
        "never indexed",
        "c2ln",
        "iVBORw0KGgo",
        "+blink()",
        "cache_warm",
        "from_the_future",
    ],
)
def test_prompts_payloads_details_signatures_and_images_are_never_reported(hidden: str) -> None:
    reading = read(DATA / "every-entry.jsonl", thinking=True, excluded_bash=True)
    assert hidden in (DATA / "every-entry.jsonl").read_text(encoding="utf-8")
    assert hidden not in repr(reading.messages) + repr(reading.session)


def test_unknown_entry_types_are_counted_as_nothing() -> None:
    assert own("every-entry.jsonl").skipped == []


def test_the_header_describes_the_session() -> None:
    session = next(PiParser().parse(DATA / "every-entry.jsonl"))
    assert session == Session(
        id="0199aaaa-0000-7000-8000-000000000001",
        agent="pi",
        kind="interactive",
        cwd="/home/ann/lighthouse",
        created=datetime(2026, 3, 4, 5, 6, tzinfo=UTC),
    )


def test_a_file_with_nothing_but_a_header_is_an_empty_session(write: Write) -> None:
    reading = read(write())
    assert (reading.session.id, reading.session.abandoned, reading.messages) == (HEADER["id"], (), [])


# -- versions of the format -------------------------------------------------------------------------------


def test_version_1_has_no_entry_ids_but_origins() -> None:
    reading = own("version-1.jsonl")
    assert [(m.role, m.text) for m in reading.messages] == [
        ("user", "fire the kiln"),
        ("assistant", "It is firing."),
        ("tool", ""),
        ("summary", "The kiln was fired."),
        ("user", "undated words"),
    ]
    assert {m.entry_id for m in reading.messages} == {None}
    assert [m.origin_id for m in reading.messages] == [
        "2025-11-02T10:00:01.000Z:1762077601000:user",
        "2025-11-02T10:00:02.000Z:1762077602000:assistant",
        "2025-11-02T10:00:03.000Z:1762077603000:toolResult",
        "2025-11-02T10:00:04.000Z::compaction",
        None,
    ]
    assert reading.messages[2].tool_results[0].command == "kiln --fire"
    assert reading.session.abandoned == ()
    assert (reading.session.model, reading.session.summary) == ("lamp-0", "The kiln was fired.")


def test_version_1_branched_from_is_the_parent() -> None:
    assert own("version-1.jsonl").session.parent_id == "5e1f0000-aaaa-4bbb-8ccc-000000000000"


def test_version_2_hook_messages_are_the_systems() -> None:
    assert [(m.role, m.source_type, m.text) for m in own("version-2.jsonl").messages] == [
        ("system", "listener", "the hook of version 2"),
        ("user", "message", "glaze the bowl"),
    ]
