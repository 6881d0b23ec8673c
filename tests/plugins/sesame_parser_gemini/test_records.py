"""What each record of a session says, and what is said twice in a file and once in the index."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from .writing import (
    CONTEXT,
    DOCUMENT,
    HEADER,
    LOG,
    SESSION,
    call,
    checkpoint,
    gemini,
    kept,
    listed,
    messages,
    responses,
    results,
    said,
    session,
    skipped,
    time,
    user,
)

Write = Callable[..., Path]


# -- whole sessions ---------------------------------------------------------------------------------------


def test_a_session_with_every_record_is_read_once() -> None:
    assert said(LOG) == [
        ("user", "why does the lampwick test fail?"),
        ("assistant", "I will run the tests."),
        ("assistant", "The wick was trimmed too short; it is fixed."),
        ("metadata", "Fix the lampwick test"),
        ("system", "Request cancelled."),
        ("assistant", "[API Error: quota of the harbour exceeded]"),
        ("user", "paint it crimson"),
        ("assistant", "Painted crimson."),
        ("user", "paint it teal"),
        ("assistant", "Painted teal."),
        ("user", "ask the generalist about the reef"),
        ("assistant", "The reef is shallow, it says."),
        ("summary", "Keep the lighthouse lit; the wick is trimmed."),
        ("user", "explain @lamp.py"),
        ("assistant", "It shines."),
    ]
    assert results(LOG) == [
        ("run_shell_command", "2 failed, 3 passed in the lampwick suite\nExit Code: 1", True),
        ("read_file", "File not found: /home/ann/lighthouse/missing.py", True),
        ("write_file", "Successfully overwrote file: /home/ann/lighthouse/lamp.py.", False),
        ("invoke_agent", "Subagent 'generalist' finished.\nResult:\nthe reef is shallow", False),
        ("read_many_files", "Content from @lamp.py:\n\ndef shine(): return 'bioluminescence'", False),
    ]
    found = session(LOG)
    assert (found.id, found.agent, found.kind, found.cwd) == (SESSION, "gemini", "interactive", "/home/ann/lighthouse")
    assert (found.title, found.model) == ("Fix the lampwick test", "gemini-3-pro")
    assert found.summary == "Keep the lighthouse lit; the wick is trimmed."
    assert found.created == datetime(2026, 3, 2, 10, tzinfo=UTC)
    assert skipped(LOG) == []


def test_a_session_of_0_24_is_one_json_object_without_context_and_acknowledgement() -> None:
    assert said(DOCUMENT) == [
        ("user", "is the buoy moored?"),
        ("assistant", "It is moored."),
        ("user", "thanks, tie the dinghy too"),
        ("metadata", "Moor the buoy"),
    ]
    assert results(DOCUMENT) == [
        ("run_shell_command", "cat: buoy.txt: No such file or directory\nExit Code: 1", True),
        ("run_shell_command", "moored", False),
    ]
    assert session(DOCUMENT).cwd == "/home/ann/harbour"


def test_thoughts_are_read_on_request() -> None:
    assert not [text for _, text in said(LOG) if "narwhal" in text]
    assert [text for _, text in said(LOG, thinking=True) if "narwhal" in text] == [
        "Considering lamps: ponder the narwhal"
    ]


def test_every_message_has_an_identity_of_its_own() -> None:
    for path in (LOG, DOCUMENT):
        origins = [message.origin_id for message in messages(path) if message.role != "metadata"]
        assert len(set(origins)) == len(origins)


# -- a log of patches -------------------------------------------------------------------------------------


def test_a_message_that_is_written_again_with_its_calls_and_tokens_is_yielded_once(write: Write) -> None:
    run = call("c1", "run_shell_command", {"command": "make"}, "Output: built\nProcess Group PGID: 1")
    path = write(
        user("u", 1, "build it"),
        gemini("g", 2, "Building."),
        gemini("g", 2, "Building.", tokens={"total": 3}),
        gemini("g", 2, "Building.", toolCalls=[{**run, "result": None, "status": "executing"}]),
        gemini("g", 2, "Building.", toolCalls=[run]),
        gemini("g", 2, "Building.", toolCalls=[run], tokens={"total": 9}),
    )
    assert said(path) == [("user", "build it"), ("assistant", "Building.")]
    assert [c.name for message in messages(path) for c in message.tool_calls] == ["run_shell_command"]
    assert results(path) == [("run_shell_command", "built", False)]
    assert sum(message.is_new for message in messages(path) if message.role == "assistant") == 1


@pytest.mark.parametrize("first", ["The ans", "Another wording", "  The answer is 42.  "])
def test_of_a_text_that_is_written_again_the_last_one_counts(write: Write, first: str) -> None:
    path = write(user("u", 1, "ask"), gemini("g", 2, first), user("v", 3, "next"), gemini("g", 2, "The answer is 42."))
    assert [text.strip() for role, text in said(path) if role == "assistant"] == ["The answer is 42."]


def test_a_text_that_was_replaced_and_comes_back_counts(write: Write) -> None:
    path = write(gemini("g", 1, "one"), gemini("g", 1, "two"), gemini("g", 1, "one"))
    assert said(path) == [("assistant", "one")]


def test_an_empty_later_version_does_not_remove_a_text(write: Write) -> None:
    assert said(write(gemini("g", 1, "said"), gemini("g", 1, ""))) == [("assistant", "said")]


def test_a_list_of_all_messages_adds_what_was_not_said_and_removes_nothing(write: Write) -> None:
    first, second = user("u", 1, "moor the buoy"), gemini("g", 2, "Moored.")
    path = write(first, second, listed(first, user("w", 3, "and the dinghy")), listed(first))
    assert said(path) == [("user", "moor the buoy"), ("assistant", "Moored."), ("user", "and the dinghy")]
    assert kept(path) == [text for _, text in said(path)]


def test_a_file_with_only_a_list_of_messages_has_them(write: Write) -> None:
    path = write(listed(user("c", 0, CONTEXT), user("u", 1, "moor it"), gemini("g", 2, [{"text": "Moored."}])))
    assert said(path) == [("user", "moor it"), ("assistant", "Moored.")]


def test_after_a_resume_an_answer_and_its_result_may_have_the_same_id(write: Write) -> None:
    run = call("c", "run_shell_command", {"command": "ls"}, "Output: kelp.txt")
    path = write(
        user("u", 1, "list"),
        gemini("g", 2, "Listing.", toolCalls=[run]),
        listed(
            user("u", 1, "list"),
            gemini(
                "g", 2, [{"text": "Listing."}, {"functionCall": {"id": "c", "name": run["name"], "args": run["args"]}}]
            ),
            user("g", 2, *responses(run)),
        ),
        user("v", 3, "thanks"),
    )
    assert said(path) == [("user", "list"), ("assistant", "Listing."), ("user", "thanks")]
    assert results(path) == [("run_shell_command", "kelp.txt", False)]


def test_the_result_that_follows_as_a_user_record_is_not_read_twice_and_is_not_a_prompt(write: Write) -> None:
    run = call("c", "glob", {"pattern": "*"}, "kelp.txt")
    path = write(gemini("g", 1, toolCalls=[run]), user("r", 2, *responses(run)))
    assert results(path) == [("glob", "kelp.txt", False)]
    assert not [role for role, _ in said(path) if role == "user"]


def test_a_result_that_only_a_user_record_has_is_read(write: Write) -> None:
    run = call("c", "glob", {"pattern": "*"}, "kelp.txt")
    path = write(
        gemini("g", 1, toolCalls=[call("c", "glob", {"pattern": "*"}, status="executing")]),
        user("r", 2, *responses(run)),
    )
    assert results(path) == [("glob", "kelp.txt", False)]


def test_masked_outputs_and_shortened_texts_do_not_replace_the_whole_ones(write: Write) -> None:
    run = call("c", "run_shell_command", {"command": "ls"}, "Output: kelp.txt")
    masked = call(
        "c", "run_shell_command", {"command": "ls"}, "<tool_output_masked>\nOutput masked\n</tool_output_masked>"
    )
    path = write(
        gemini("g", 1, toolCalls=[run]), listed(gemini("g", 1, toolCalls=[masked]), user("r", 2, *responses(masked)))
    )
    assert results(path) == [("run_shell_command", "kelp.txt", False)]


def test_masking_stores_the_results_of_all_calls_with_each_and_each_has_its_own(write: Write) -> None:
    one, two = call("c1", "glob", {}, "kelp"), call("c2", "glob", {}, "squid")
    both = responses(one, two)
    path = write(gemini("g", 1, toolCalls=[{**one, "result": both}, {**two, "result": both}]))
    assert results(path) == [("glob", "kelp", False), ("glob", "squid", False)]


def test_a_prompt_that_a_list_repeats_under_another_id_is_said_once_but_a_new_one_twice(write: Write) -> None:
    path = write(user("u", 1, "continue"), listed(user("ctx", 1, CONTEXT, "continue")), user("v", 3, "continue"))
    assert said(path) == [("user", "continue"), ("user", "continue")]


def test_a_header_in_the_middle_of_the_file_starts_no_other_session(write: Write) -> None:
    path = write(user("u", 1, "before"), {**HEADER, "startTime": time(500)}, user("v", 501, "after"))
    assert said(path) == [("user", "before"), ("user", "after")]
    assert session(path).created == datetime(2026, 3, 2, 10, tzinfo=UTC)
    assert {message.session_id for message in messages(path)} == {SESSION}


def test_a_list_over_the_limit_of_a_record_repeats_nothing_and_loses_nothing(write: Write) -> None:
    texts = [f"prompt {n} " + "kelp " * 40_000 for n in range(8)]
    prompts = [user(f"u{n}", n, text) for n, text in enumerate(texts)]
    path = write(*prompts, listed(*prompts))
    assert [text for _, text in said(path)] == [text.strip() for text in texts]
    assert skipped(path) == []


def test_messages_that_only_a_list_over_the_limit_has_are_read(write: Write) -> None:
    prompts = [user(f"u{n}", n, f"prompt {n} " + 'kelp "ü" \\ {[ ' * 9_000) for n in range(20)]
    endless = user("long", 50, "head " + "kelp " * 400_000 + "tail")
    before, after = user("a", 1, "before"), user("b", 900, "after")
    path = write(before, b"", b"  ", listed(before, *prompts, endless), b"\0", after, listed(*prompts, after))
    found = [text for _, text in said(path)]
    assert found[0] == "before"
    assert [text.split(" kelp")[0] for text in found[1:-2]] == [f"prompt {n}" for n in range(20)]
    assert found[-2].startswith("head kelp")
    assert found[-2].endswith("tail")
    assert found[-1] == "after"
    assert skipped(path) == ["shortened"]


def test_a_list_over_the_limit_that_is_not_written_to_its_end_waits_for_the_rest(write: Write) -> None:
    prompts = [user(f"u{n}", n, f"prompt {n} " + "kelp " * 9_000) for n in range(30)]
    path = write(prompts[0], listed(*prompts))
    whole = path.read_bytes()
    path.write_bytes(whole[:-3000])
    assert checkpoint(path).offset < len(whole) - 1_000_000
    path.write_bytes(whole)
    assert len(said(path)) == 30


def test_a_list_over_the_limit_in_a_damaged_record_keeps_its_messages(write: Write) -> None:
    prompts = [user(f"u{n}", n, f"prompt {n} " + "kelp " * 9_000) for n in range(30)]
    line = json.dumps(listed(*prompts)).encode()
    path = write(line[:-2] + b' {"id": "x"', user("v", 99, "after"))
    assert len(said(path)) == 31
    assert skipped(path) == ["damaged"]


# -- rewinding --------------------------------------------------------------------------------------------


def test_a_rewind_abandons_the_message_and_all_after_it() -> None:
    assert [text for text in kept(LOG) if "crimson" in text] == []
    assert "paint it teal" in kept(LOG)


def test_a_rewind_to_an_unknown_id_abandons_everything(write: Write) -> None:
    path = write(user("u", 1, "a"), gemini("g", 2, "b"), {"$rewindTo": "nowhere"}, user("v", 3, "c"))
    assert kept(path) == ["c"]


def test_a_rewound_message_that_a_list_has_again_is_not_abandoned(write: Write) -> None:
    path = write(user("u", 1, "a"), user("v", 2, "b"), {"$rewindTo": "v"}, listed(user("u", 1, "a"), user("v", 2, "b")))
    assert kept(path) == ["a", "b"]


def test_a_rewind_after_a_compression_keeps_what_the_summary_replaced(write: Write) -> None:
    snapshot = user("s", 3, "<state_snapshot>moored</state_snapshot>")
    path = write(
        user("u", 1, "a"), user("v", 2, "b"), listed(snapshot, user("v", 2, "b")), user("w", 4, "c"), {"$rewindTo": "v"}
    )
    assert kept(path) == ["a", "moored"]


# -- who speaks -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parts",
    [
        (CONTEXT,),
        ("\n<loaded_context>\n# Rules\n</loaded_context>",),
        ("<hook_context>build 7 is red</hook_context>",),
        ("This is the Gemini CLI. We are setting up the context for our chat.\nToday is Monday.",),
        ("Here is the user's editor context as a JSON object. This is for your information only.\n```json\n{}\n```",),
        ("Here is a summary of changes in the user's editor context, in JSON format.\n{}",),
        ("<session_context>\ncut off",),
    ],
)
def test_context_that_the_program_adds_is_not_read(write: Write, parts: tuple[str, ...]) -> None:
    assert said(write(user("u", 1, *parts))) == []
    assert said(write(user("u", 1, *parts, "the prompt"))) == [("user", "the prompt")]


def test_context_and_prompt_in_one_text_are_told_apart(write: Write) -> None:
    path = write(user("u", 1, f"{CONTEXT}\n\nmoor it\n\n<hook_context>red</hook_context>"))
    assert said(path) == [("user", "moor it")]


def test_a_prompt_that_quotes_context_stays_whole(write: Write) -> None:
    text = "what does <session_context> mean, and </hook_context> in line 4?"
    assert said(write(user("u", 1, text))) == [("user", text)]


def test_what_was_typed_counts_and_not_the_files_that_it_names(write: Write) -> None:
    files = (
        "\n--- Content from referenced files ---",
        "\nContent from @a.py:\n",
        "x = 'kelp'",
        "\n--- End of content ---",
    )
    for more in ({}, {"displayContent": "explain @a.py"}, {"displayContent": [{"text": "explain @a.py"}]}):
        path = write(user("u", 1, "explain @a.py", *files, **more))
        assert said(path) == [("user", "explain @a.py")]
        assert results(path) == [("read_many_files", "Content from @a.py:\n\nx = 'kelp'", False)]


def test_a_shell_command_of_the_user_is_a_call_with_its_output(write: Write) -> None:
    text = (
        "I ran the following shell command:\n```sh\ngit log\n```\n\n"
        "This produced the following result:\n```\nfirst kelp\n```"
    )
    path = write(user("u", 1, text))
    (message,) = messages(path)
    assert (message.role, message.source_type) == ("system", "bash")
    assert message.tool_calls[0].arguments == {"command": "git log"}
    assert results(path) == [("run_shell_command", "first kelp", False)]


def test_a_shell_command_of_the_user_without_output_is_a_call(write: Write) -> None:
    text = (
        "I ran the following shell command:\n```sh\ntouch kelp\n```\n\nThis produced the following result:\n```\n\n```"
    )
    (message,) = messages(write(user("u", 1, text)))
    assert message.tool_calls[0].arguments == {"command": "touch kelp"}


@pytest.mark.parametrize(
    ("text", "source_type"),
    [
        ("/deploy staging", "command"),
        ("/git:commit", "command"),
        ("/home/ann/kelp.py fails to load", "message"),
        ("?", "message"),
        ("/ is the root", "message"),
    ],
)
def test_a_slash_command_is_a_command_and_a_path_is_not(write: Write, text: str, source_type: str) -> None:
    (message,) = messages(write(user("u", 1, text)))
    assert (message.role, message.text, message.source_type) == ("user", text, source_type)


def test_the_program_continuing_by_itself_is_no_prompt(write: Write) -> None:
    path = write(user("u", 1, "Please continue."), user("v", 2, "System: Please continue."))
    assert {role for role, _ in said(path)} == {"system"}


def test_a_hint_while_the_agent_works_is_what_the_user_typed(write: Write) -> None:
    path = write(user("u", 1, "User hints:\n<user_input>\n- use kelp\n</user_input>\n\nTreat it as a hint."))
    assert said(path) == [("user", "use kelp")]


def test_a_snapshot_after_a_scratchpad_is_the_summary(write: Write) -> None:
    text = "<scratchpad>\nhmm\n</scratchpad>\n<state_snapshot>\n<goal>\nmoor it\n</goal>\n</state_snapshot>"
    path = write(listed(user("s", 1, text), gemini("a", 1, "Got it. Thanks for the additional context!")))
    assert said(path) == [("summary", "moor it")]
    assert session(path).summary == "moor it"


def test_notices_about_updates_are_not_read_but_warnings_are(write: Write) -> None:
    path = write(
        {"id": "i", "timestamp": time(1), "type": "info", "content": "Gemini CLI update available! 0.60.0 → 0.61.0"},
        {"id": "j", "timestamp": time(2), "type": "warning", "content": "The harbour is closed."},
        {"id": "k", "timestamp": time(3), "type": "info", "content": ""},
    )
    assert said(path) == [("system", "The harbour is closed.")]


# -- calls and results ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "text", "failed"),
    [
        (
            "<untrusted_context>\nOutput: kelp\nExit Code: 3\nProcess Group PGID: 9\n</untrusted_context>",
            "kelp\nExit Code: 3",
            True,
        ),
        ("<untrusted_context>\nOutput: kelp\nProcess Group PGID: 9\n</untrusted_context>", "kelp", False),
        ("Output: (empty)\nProcess Group PGID: 9", "", False),
        (
            "Command: ls\\nDirectory: /tmp\\nOutput: kelp\\nExit Code: 1\\nProcess Group PGID: 9",
            "kelp\nExit Code: 1",
            True,
        ),
        ("Output: (empty)\nExit Code: 127", "Exit Code: 127", True),
        ("a line\nOutput: kelp\nProcess Group PGID: 9", "a line\nOutput: kelp", False),
        ("Output: prints Exit Code: 3\nand goes on\nProcess Group PGID: 9", "prints Exit Code: 3\nand goes on", False),
        ("Output: kelp\nSignal: 9\nProcess Group PGID: 9", "kelp\nSignal: 9", True),
        ("Output: kelp\nSignal: SIGTERM", "kelp\nSignal: SIGTERM", True),
        (
            "Command: cat <<E\nOutput: x\nE\nDirectory: (root)\nStdout: kelp\nStderr: (empty)\n"
            "Error: (none)\nExit Code: 0\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 1",
            "kelp",
            False,
        ),
        (
            "Command was cancelled by user before it could complete. Below is the output:\nkelp",
            "Command was cancelled by user before it could complete. Below is the output:\nkelp",
            True,
        ),
        (
            "Command moved to background (PID: 7). Output hidden.",
            "Command moved to background (PID: 7). Output hidden.",
            False,
        ),
        (
            "Output: spawn failed\nError: ENOENT no such shell\nProcess Group PGID: 1",
            "spawn failed\nError: ENOENT no such shell",
            True,
        ),
    ],
)
def test_a_shell_says_success_and_the_output_says_what_happened(
    write: Write, output: str, text: str, failed: bool
) -> None:
    path = write(gemini("g", 1, toolCalls=[call("c", "run_shell_command", {"command": "x"}, output)]))
    assert results(path) == ([("run_shell_command", text, failed)] if text else [])


@pytest.mark.parametrize(
    ("made", "text", "failed"),
    [
        (call("c", "mcp_kelp_find", {}, error="no such kelp", status="error"), "no such kelp", True),
        (call("c", "mcp_kelp_find", {}, "[Operation Cancelled]", status="cancelled"), "[Operation Cancelled]", True),
        (call("c", "kelp", {}, status="error", resultDisplay="Tool not found"), "Tool not found", True),
        (call("c", "kelp", {}, status="cancelled"), "cancelled", True),
        (call("c", "kelp", {}, result="as a string"), "as a string", False),
        (call("c", "kelp", {}, result=[{"text": "as"}, "parts"]), "as\nparts", False),
        (
            call("c", "kelp", {}, status="success", resultDisplay={"fileDiff": "+kelp", "newContent": "squid"}),
            "+kelp",
            False,
        ),
        (call("c", "kelp", {}, [{"type": "text", "text": "kelp"}]), "kelp", False),
        (call("c", "kelp", {}, {"found": ["kelp"]}), '{"found":["kelp"]}', False),
        (call("c", "kelp", {}, "found\n\n<hook_context>red</hook_context>"), "found", False),
        (call("c", "replace", {}, "Modified. Here is the updated code:\nkelp = 1"), "Modified.", False),
    ],
)
def test_the_result_of_a_tool_is_its_text_and_whether_it_failed(
    write: Write, made: object, text: str, failed: bool
) -> None:
    ((_, found, is_error),) = results(write(gemini("g", 1, toolCalls=[made])))
    assert (found, is_error) == (text, failed)


def test_descriptions_of_tools_progress_and_whole_files_are_never_text() -> None:
    whole = repr(messages(LOG))
    for noise in (
        "This tool reads things",
        "churning",
        "old whole file",
        "new whole file",
        "wombat",
        "untrusted_context",
        "PGID",
    ):
        assert noise not in whole


@pytest.mark.parametrize("content", ["moor it", ["moor it"], {"text": "moor it"}, [{"text": "moor it"}, {"text": ""}]])
def test_texts_come_as_strings_and_as_parts(write: Write, content: object) -> None:
    path = write(
        {"type": "user", "content": content}, gemini("g", 2, content), {"id": 7, "type": "info", "content": content}
    )
    assert said(path) == [("user", "moor it"), ("assistant", "moor it"), ("system", "moor it")]


def test_a_prompt_about_the_mark_of_files_stays_whole(write: Write) -> None:
    text = "why do prompts have\n--- Content from referenced files ---\nin them?"
    assert said(write(user("u", 1, text))) == [("user", text)]


def test_an_image_in_a_prompt_is_left_out(write: Write) -> None:
    path = write(user("u", 1, "what is this?", {"inlineData": {"mimeType": "image/png", "data": "QUJD" * 9000}}))
    assert said(path) == [("user", "what is this?")]


# -- damage -----------------------------------------------------------------------------------------------


def test_a_file_whose_header_is_damaged_is_named_after_the_file(write: Write) -> None:
    path = write(b'{"sessionId":"3f0c', user("u", 1, "moor it"), header=None)
    assert said(path) == [("user", "moor it")]
    assert session(path).id == path.stem
    assert skipped(path) == ["damaged"]


@pytest.mark.parametrize(
    "record",
    [
        {"id": "x", "type": "user"},
        {"id": "x", "type": "user", "content": 5},
        {"id": "x", "type": "gemini", "content": None, "toolCalls": [None, 5, {"name": 7}], "thoughts": "no"},
        {"id": "x", "type": "gemini", "toolCalls": [{"name": "glob", "args": [1], "result": "text"}]},
        {"id": "", "type": "user", "content": [None, 5, {"text": 7}, {"functionResponse": "no"}]},
        {"$set": {"messages": "none"}},
        {"$set": {"messages": [None, 5, {}]}},
        {"$set": None},
        {"$rewindTo": 5},
    ],
)
def test_records_of_any_shape_harm_no_neighbour(write: Write, record: object) -> None:
    path = write(user("u", 1, "before"), record, user("v", 2, "after"))
    assert said(path) == [("user", "before"), ("user", "after")]


def test_a_message_of_an_unknown_type_is_counted(write: Write) -> None:
    assert skipped(write({"id": "x", "timestamp": time(1), "type": "telepathy", "content": "kelp"})) == ["unknown type"]


def test_a_session_that_was_killed_in_mid_turn_has_its_prompt(write: Write) -> None:
    path = write(
        user("u", 1, "never answered"),
        gemini("g", 2, toolCalls=[call("c", "glob", {"pattern": "*"}, status="executing")]),
    )
    assert said(path) == [("user", "never answered")]
    assert results(path) == []


def _half_written(path: Path, part: float) -> Path:
    whole = DOCUMENT.read_bytes()
    path.write_bytes(whole[: int(len(whole) * part)])
    os.utime(path, (1, 1))
    return path


@pytest.mark.parametrize("part", [0.3, 0.6, 0.9, 0.99])
def test_of_a_half_written_json_object_the_complete_messages_are_read(tmp_path: Path, part: float) -> None:
    path = _half_written(tmp_path / DOCUMENT.name, part)
    assert skipped(path) == ["damaged"]
    assert said(path) == said(DOCUMENT)[: len(said(path))]
    assert session(path).id == session(DOCUMENT).id
    assert part < 0.6 or said(path)


def test_what_follows_a_json_object_is_counted_as_damaged(tmp_path: Path) -> None:
    path = tmp_path / DOCUMENT.name
    path.write_bytes(DOCUMENT.read_bytes() + b'"of a longer one"]}')
    os.utime(path, (1, 1))
    assert said(path) == said(DOCUMENT)
    assert skipped(path) == ["damaged"]


def test_a_json_object_of_many_megabytes_is_read_piece_by_piece(tmp_path: Path) -> None:
    long = "head " + 'kelp \\" ünï ' * 200_000 + " tail"
    messages_ = [
        *(
            {"id": f"m{n}", "timestamp": time(n), "type": "user", "content": f'prompt {n} with {{"brackets": [}}'}
            for n in range(2000)
        ),
        {"id": "long", "timestamp": time(3000), "type": "user", "content": long},
        None,
        {"id": "z", "timestamp": time(3001), "type": "gemini", "content": "The end.", "model": "gemini-3-pro"},
    ]
    path = tmp_path / "session-2026-03-02T10-00-aaaaaaaa.json"
    value = {"messages": messages_, "directories": ["/home/ann/reef"], **HEADER, "summary": "Long one"}
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + " " * (5 << 20), encoding="utf-8")
    found = said(path)
    assert found[:2] == [("user", 'prompt 0 with {"brackets": [}'), ("user", 'prompt 1 with {"brackets": [}')]
    assert len(found) == 2003
    assert found[2000][1].startswith("head kelp")
    assert found[2000][1].endswith(" tail")
    assert found[-2:] == [("assistant", "The end."), ("metadata", "Long one")]
    assert (session(path).id, session(path).cwd) == (SESSION, "/home/ann/reef")
    assert skipped(path) == ["shortened"]


def test_a_json_session_on_one_line_under_the_name_of_a_log_is_read(tmp_path: Path) -> None:
    path = tmp_path / "session-2025-11-05T08-00-9a8b7c6d.jsonl"
    path.write_text(json.dumps(json.loads(DOCUMENT.read_bytes())))
    assert [text for text in said(path) if text[0] != "metadata"] == said(DOCUMENT)[:3]


def test_a_json_session_and_its_continuation_have_the_same_identities(tmp_path: Path, write: Write) -> None:
    value = json.loads(DOCUMENT.read_bytes())
    header = {key: value[key] for key in ("sessionId", "projectHash", "startTime", "lastUpdated", "kind")}
    path = write(*value["messages"], user("n", 9, "go on"), header=header, name=f"{DOCUMENT.name}l")
    shutil.copy(DOCUMENT, path.with_suffix(".json"))
    old = {m.origin_id for m in messages(path.with_suffix(".json")) if m.origin_id}
    assert old < {m.origin_id for m in messages(path)}


# -- frames of subagents and of servers of tools ------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "output", "text"),
    [
        (
            "invoke_agent",
            "Subagent 'generalist' finished.\nTermination Reason: GOAL\nResult:\nthe reef is shallow",
            "the reef is shallow",
        ),
        (
            "invoke_agent",
            "Subagent 'generalist' finished.\nTermination Reason: TIMEOUT\nResult:\nnothing",
            "Subagent 'generalist' finished.\nTermination Reason: TIMEOUT\nResult:\nnothing",
        ),
        ("read_file", "Subagent notes about the reef", "Subagent notes about the reef"),
        (
            "mcp_demo_lookup",
            "MCP tool 'lookup' reported tool error for function call: "
            '{"name":"lookup","args":{"query":"kelp with response: x"}} with response: '
            '[{"functionResponse":{"name":"lookup","response":{"content":[{"type":"text","text":"error: no kelp"}]}}}]',
            "error: no kelp",
        ),
        (
            "mcp_demo_lookup",
            "MCP tool 'lookup' reported tool error for function call: {} with response: "
            '[{"functionResponse":{"response":{"error":{"content":[{"type":"text","text":"no kelp"}]}}}}]',
            "no kelp",
        ),
        (
            "mcp_demo_lookup",
            "MCP tool 'lookup' reported tool error for function call: {} with response: [{cut",
            "MCP tool 'lookup' reported tool error for function call: {} with response: [{cut",
        ),
    ],
)
def test_an_output_comes_without_the_frame_of_a_subagent_or_a_server(
    write: Write, name: str, output: str, text: str
) -> None:
    path = write(user("u", 1, "look"), gemini("g", 2, "", toolCalls=[call("c", name, {}, output)]))
    assert [said for _, said, _ in results(path)] == [text]


@pytest.mark.parametrize(
    "why",
    ["exceeded the time limit", "exceeded the maximum number of turns", "stopped calling tools without finishing"],
)
def test_the_warning_to_a_subagent_that_does_not_finish_is_no_text(write: Write, why: str) -> None:
    warning = (
        f"You have {why}. You have one final chance to complete the task with a short grace period. You MUST call "
        "`complete_task` immediately with your best answer."
    )
    path = write(user("u", 1, "look"), user("v", 2, warning), gemini("g", 3, "a shallow reef"))
    assert said(path) == [("user", "look"), ("assistant", "a shallow reef")]
