"""Calls of tools with their outputs, failures, exit codes and changed files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .records import (
    Record,
    answer,
    call,
    calls,
    completed,
    event,
    everything,
    item,
    messages,
    meta,
    model_user,
    output,
    parse,
    patch_call,
    prompt,
    results,
    session,
)

HEAD = "Chunk ID: 1a2b3c\nWall time: 0.0512 seconds\nProcess exited with code 0\nOriginal token count: 7\nOutput:\n"

# -- commands ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "name", "command"),
    [
        (call("c", "shell", command=["bash", "-lc", "ls den"]), "shell", "ls den"),
        (call("c", "shell", command=["/bin/zsh", "-lc", "ls den"]), "shell", "ls den"),
        (call("c", "shell", command=["powershell.exe", "-NoProfile", "-Command", "dir"]), "shell", "dir"),
        (call("c", "shell", command=["ls", "den"]), "shell", "ls den"),
        (call("c", "shell", command="ls den"), "shell", "ls den"),
        (call("c", "container.exec", command=["ls"]), "shell", "ls"),
        (call("c", "shell_command", command="ls den"), "shell", "ls den"),
        (call("c", "exec_command", cmd="ls den"), "exec_command", "ls den"),
        (item("custom_tool_call", call_id="c", name="shell", input='{"command":["ls"]}'), "shell", "ls"),
        (item("local_shell_call", call_id="c", action={"type": "exec", "command": ["ls", "-a"]}), "shell", "ls -a"),
        (item("local_shell_call", id="c", action={"type": "exec", "command": ["bash", "-c", "ls"]}), "shell", "ls"),
    ],
)
def test_a_command_of_each_version_is_read_as_typed(
    record: Record, name: str, command: str, write: Callable[..., Path]
) -> None:
    events = parse(write(meta(), prompt("ask"), record, output("c", f"{HEAD}out")))
    assert [(tool, arguments["command"]) for tool, arguments in calls(events)] == [(name, command)]
    (result,) = (r for m in messages(events) for r in m.tool_results)
    assert (result.call_id, result.command, result.text, result.is_error) == ("c", command, "out", False)


def test_settings_of_a_command_are_left_out_and_its_reason_is_kept(write: Callable[..., Path]) -> None:
    record = call(
        "c",
        "exec_command",
        cmd="rm den",
        workdir="/w",
        justification="clean up?",
        yield_time_ms=1,
        prefix_rule=["rm"],
        sandbox_permissions="require_escalated",
    )
    assert calls(parse(write(meta(), prompt("ask"), record))) == [
        ("exec_command", {"command": "rm den", "justification": "clean up?"})
    ]


def test_a_directory_in_which_a_command_ran_is_one_of_the_sessions(write: Callable[..., Path]) -> None:
    places = ["/home/bo/fox", "/home/bo/fox/den", "/srv/zoo", "/srv/zoo/cats", "relative", ""]
    records = [call(f"c{n}", "exec_command", cmd="ls", workdir=place) for n, place in enumerate(places)]
    events = parse(write(meta(), prompt("ask"), records))
    assert session(events).places == tuple(places[:4])
    assert "workdir" not in everything(events)


def test_a_patch_that_was_applied_says_nothing_that_its_call_does_not(write: Callable[..., Path]) -> None:
    text = "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nM den.py\nA b.py\n"
    events = parse(write(meta(), prompt("ask"), patch_call("c", PATCH), output("c", text)))
    assert results(events) == []
    events = parse(write(meta(), prompt("ask"), patch_call("c", PATCH), output("c", f"{text}a warning\n")))
    assert results(events) == [("apply_patch", "a warning", False)]


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}den\nfox\n",
        f"Command: /bin/zsh -lc 'ls\n den'\n{HEAD}den\nfox\n",
        "Exit code: 0\nWall time: 0 seconds\nOutput:\nden\nfox\n",
        "Wall time: 0.016 seconds\nProcess exited with code 0\nOutput:\nden\nfox\n",
        "Exit code: 0\nWall time: 1.5 seconds\nTotal output lines: 2\nOutput:\nden\nfox",
        "Wall time: 0.0 seconds\nOutput:\nExit code: 0\nWall time: 0 seconds\nOutput:\nden\nfox\n",
        '{"output":"den\\nfox\\n","metadata":{"exit_code":0,"duration_seconds":0.0}}',
        {"content": "den\nfox", "success": True},
        {"type": "input_text", "text": "den\nfox\n"},
        [{"type": "input_text", "text": "Wall time: 0.1 seconds\nOutput:"}, {"type": "input_text", "text": "den\nfox"}],
        [{"type": "input_text", "text": "Script completed\nWall time 0.3 seconds\nOutput:\n"}, {"text": "den\nfox"}],
        "den\nfox",
    ],
)
def test_the_head_of_an_output_is_left_out(text: Any, write: Callable[..., Path]) -> None:
    events = parse(write(meta(), prompt("ask"), call("c", "exec_command", cmd="ls"), output("c", text)))
    assert results(events) == [("exec_command", "den\nfox", False)]


def test_an_output_that_only_talks_of_exit_codes_stays_whole(write: Callable[..., Path]) -> None:
    for text in ("it says\nExit code: 3\nOutput:\nhere", "Build failed: see log"):
        events = parse(write(meta(), prompt("ask"), call("c", "exec_command", cmd="ls"), output("c", HEAD + text)))
        assert results(events) == [("exec_command", text, False)]


FAILURES = {
    "a process of a unified exec": "Chunk ID: 1\nWall time: 0 seconds\nProcess exited with code 3\nOutput:\nno den",
    "a shell command": "Exit code: 3\nWall time: 0 seconds\nOutput:\nno den",
    "an old shell": '{"output":"no den","metadata":{"exit_code":3,"duration_seconds":0.0}}',
}
REFUSALS = [
    "unsupported call: shell",
    "unsupported custom tool call: apply_patch",
    "apply_patch verification failed: no such line",
    "failed to parse function arguments: duplicate field",
    "exec_command failed for `/bin/zsh -lc 'ls'`: CreateProcess",
    "write_stdin failed: stdin is closed",
    "resources/list failed: unknown MCP server 'x'",
    "collab spawn failed: agent thread limit reached",
    "aborted by user after 3.1s",
]


@pytest.mark.parametrize("kind", FAILURES)
def test_a_command_that_failed_says_its_exit_code(kind: str, write: Callable[..., Path]) -> None:
    events = parse(write(meta(), prompt("ask"), call("c", "shell", command="ls"), output("c", FAILURES[kind])))
    assert results(events) == [("shell", "exit code 3\nno den", True)]


@pytest.mark.parametrize("text", REFUSALS)
def test_a_call_that_codex_refused_failed(text: str, write: Callable[..., Path]) -> None:
    events = parse(write(meta(), prompt("ask"), call("c", "shell", command="ls"), output("c", text)))
    assert results(events) == [("shell", text, True)]


def test_an_output_of_the_oldest_versions_that_was_no_success_failed(write: Callable[..., Path]) -> None:
    events = parse(write(meta(), prompt("a"), call("c", "x"), output("c", {"content": "no", "success": False})))
    assert results(events) == [("x", "no", True)]


@pytest.mark.parametrize(
    "report",
    [
        completed("CommandExecution", id="c", command=["ls"], status="failed", exit_code=3),
        completed("CommandExecution", id="c", command=["ls"], status="completed", exit_code=3),
        completed("CommandExecution", id="c", command=["ls"], status="declined"),
        event("exec_command_end", call_id="c", command=["ls"], exit_code=3, stdout="no den", stderr=""),
        completed(
            "McpToolCall", id="c", server="s", tool="t", status="failed", result={"isError": True, "content": []}
        ),
        event("mcp_tool_call_end", call_id="c", invocation={"server": "s", "tool": "t"}, result={"Err": "no den"}),
        event(
            "mcp_tool_call_end",
            call_id="c",
            invocation={"server": "s", "tool": "t"},
            result={"Ok": {"content": [], "isError": True}},
        ),
        event("patch_apply_end", call_id="c", success=False, stdout="", stderr="no den", changes={}),
        completed("FileChange", id="c", changes={"a": {"type": "add", "content": "x"}}, status="failed"),
    ],
)
def test_an_event_says_that_a_call_failed_whose_output_does_not(report: Record, write: Callable[..., Path]) -> None:
    events = parse(write(meta(), prompt("ask"), call("c", "x", a=1), report, output("c", "no den")))
    assert results(events) == [("x", "no den", True)]
    assert len(calls(events)) == 1


def test_outputs_of_parallel_calls_find_their_calls_in_any_order(write: Callable[..., Path]) -> None:
    made = [call(f"c{n}", "exec_command", cmd=f"echo {n}") for n in range(4)]
    given = [output(f"c{n}", f"{HEAD}out {n}") for n in (2, 0, 3, 1)]
    events = parse(write(meta(), prompt("ask"), made, given, answer("done", 9)))
    found = [(r.command, r.text) for m in messages(events) for r in m.tool_results]
    assert found == [(f"echo {n}", f"out {n}") for n in (2, 0, 3, 1)]


def test_a_call_of_an_interrupted_turn_has_no_output(write: Callable[..., Path]) -> None:
    events = parse(
        write(meta(), prompt("ask"), call("c", "shell", command="sleep 9"), event("turn_aborted", reason="interrupted"))
    )
    assert calls(events) == [("shell", {"command": "sleep 9"})]
    assert results(events) == []


def test_an_output_whose_call_is_lost_is_kept(write: Callable[..., Path]) -> None:
    assert results(parse(write(meta(), prompt("ask"), output("gone", f"{HEAD}out")))) == [("", "out", False)]


def test_a_call_and_an_output_that_are_written_twice_are_read_once(write: Callable[..., Path]) -> None:
    made, given = call("c", "exec_command", cmd="ls"), output("c", f"{HEAD}out")
    events = parse(write(meta(), prompt("ask"), made, given, {**made, "timestamp": "x"}, {**given, "ordinal": 3}))
    assert len(calls(events)) == len(results(events)) == 1


def test_malformed_arguments_are_kept_as_they_are(write: Callable[..., Path]) -> None:
    made = item("function_call", name="lookup", arguments='{"query": "fox', call_id="c")
    assert calls(parse(write(meta(), prompt("ask"), made))) == [("lookup", {"arguments": '{"query": "fox'})]
    made = item("function_call", name="exec_command", arguments='{"cmd": "ls fo', call_id="c")
    assert '{"cmd": "ls fo' in everything(parse(write(meta(), prompt("ask"), made)))


def test_waiting_for_a_process_is_no_call_and_its_output_belongs_to_the_command(write: Callable[..., Path]) -> None:
    running = "Chunk ID: 1\nWall time: 1 seconds\nProcess running with session ID 42\nOutput:\nfirst"
    events = parse(
        write(
            meta(),
            prompt("ask"),
            call("c1", "exec_command", cmd="make den"),
            output("c1", running),
            call("c2", "write_stdin", session_id=42, chars="", yield_time_ms=1000),
            output("c2", f"{HEAD}second"),
            call("c3", "write_stdin", session_id=42, chars="yes\n"),
            output("c3", f"{HEAD}third"),
        )
    )
    assert calls(events) == [("exec_command", {"command": "make den"}), ("write_stdin", {"chars": "yes\n"})]
    found = [(r.text, r.command) for m in messages(events) for r in m.tool_results]
    assert found == [("first", "make den"), ("second", "make den"), ("third", "make den")]


def test_a_command_that_a_person_ran_is_read_once_in_either_form(write: Callable[..., Path]) -> None:
    body = "<command>\necho capybara\n</command>\n<result>\nExit code: 2\nDuration: 0.1 seconds\nOutput:\nno\n</result>"
    told = model_user(f"<user_shell_command>\n{body}\n</user_shell_command>")
    shown = completed(
        "CommandExecution",
        id="9",
        command=["/bin/bash", "-lc", "echo capybara"],
        source="user_shell",
        exit_code=2,
        aggregated_output="no\n",
        status="failed",
    )
    for records in ([told], [shown], [shown, told]):
        events = parse(write(meta(), prompt("ask"), records))
        assert calls(events) == [("shell", {"command": "echo capybara"})]
        assert results(events) == [("shell", "exit code 2\nno", True)]
        assert messages(events)[-1].role == "system"


# -- files ------------------------------------------------------------------------------------------------

PATCH = """*** Begin Patch
*** Update File: den.py
@@ def dig():
-    fox()
+    vixen()
*** Add File: docs/fox.md
+# Fox
+
+It digs.
*** Delete File: old.py
*** Update File: a.py
*** Move to: b.py
@@
-x
+y
*** End Patch"""
EDITS = [
    {"path": "den.py", "patch": "@@ def dig():\n-    fox()\n+    vixen()\n"},
    {"path": "docs/fox.md", "content": "# Fox\n\nIt digs."},
    {"path": "old.py", "action": "delete"},
    {"path": "a.py", "patch": "@@\n-x\n+y\n"},
    {"path": "b.py"},
]


@pytest.mark.parametrize(
    "record",
    [
        patch_call("c", PATCH),
        call("c", "apply_patch", input=PATCH),
        call("c", "apply_patch", patch=PATCH),
        call("c", "shell", command=["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"]),
        call("c", "exec_command", cmd=f'apply_patch <<"EOF"\n{PATCH}\nEOF\n'),
    ],
)
def test_a_patch_names_the_files_that_it_changes_however_it_is_applied(
    record: Record, write: Callable[..., Path]
) -> None:
    events = parse(write(meta(), prompt("ask"), record, output("c", "Success.")))
    assert calls(events) == [("apply_patch", {"edits": EDITS})]
    assert results(events) == [("apply_patch", "Success.", False)]


def test_the_rest_of_a_command_with_a_patch_is_kept(write: Callable[..., Path]) -> None:
    patch = "*** Begin Patch\n*** Delete File: a.py\n*** End Patch"
    record = call("c", "exec_command", cmd=f"cd den && apply_patch <<'P'\n{patch}\nP\ngit status")
    ((name, arguments),) = calls(parse(write(meta(), prompt("ask"), record)))
    assert (name, arguments) == (
        "apply_patch",
        {"path": "a.py", "action": "delete", "command": "cd den &&\ngit status"},
    )


def test_a_damaged_patch_is_kept_as_it_is(write: Callable[..., Path]) -> None:
    events = parse(write(meta(), prompt("ask"), patch_call("c", "*** Begin Patch\nnonsense")))
    assert calls(events) == [("apply_patch", {"patch": "*** Begin Patch\nnonsense"})]


def test_changes_are_read_once_when_the_model_called_for_them(write: Callable[..., Path]) -> None:
    changes = {"/w/a.py": {"type": "update", "unified_diff": "@@\n-x\n+ocelot\n", "move_path": None}}
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+ocelot\n*** End Patch"
    for report in (
        completed("FileChange", id="c", changes=changes, status="completed", stdout="Success", stderr=""),
        event("patch_apply_end", call_id="c", success=True, changes=changes, stdout="Success", stderr=""),
    ):
        events = parse(write(meta(), prompt("ask"), patch_call("c", patch), report, output("c", "Success")))
        assert everything(events).count("ocelot") == 1


def test_changes_that_no_call_has_are_read_from_the_event(write: Callable[..., Path]) -> None:
    changes = {
        "/w/a.py": {"type": "update", "unified_diff": "@@\n-x\n+ocelot\n", "move_path": "/w/b.py"},
        "/w/c.py": {"type": "add", "content": "new"},
        "/w/d.py": {"type": "delete", "content": "old"},
    }
    events = parse(write(meta(), prompt("ask"), completed("FileChange", id="f", changes=changes, status="completed")))
    assert calls(events) == [
        (
            "apply_patch",
            {
                "edits": [
                    {"path": "/w/a.py", "patch": "@@\n-x\n+ocelot\n"},
                    {"path": "/w/b.py"},
                    {"path": "/w/c.py", "content": "new"},
                    {"path": "/w/d.py", "action": "delete"},
                ]
            },
        )
    ]


# -- other tools ------------------------------------------------------------------------------------------


def test_a_tool_of_a_server_has_the_servers_name(write: Callable[..., Path]) -> None:
    made = item("function_call", name="lookup", namespace="mcp__zoo", arguments='{"query":"fox"}', call_id="c")
    report = completed("McpToolCall", id="c", server="zoo", tool="lookup", arguments={"query": "fox"}, result={})
    events = parse(write(meta(), prompt("ask"), made, report, output("c", "one fox")))
    assert calls(events) == [("mcp__zoo__lookup", {"query": "fox"})]
    assert results(events) == [("mcp__zoo__lookup", "one fox", False)]
    for fields in ({"name": "lookup", "namespace": "mcp__zoo__"}, {"name": "mcp__zoo__lookup"}):
        assert [
            name
            for name, _ in calls(
                parse(
                    write(meta(), prompt("ask"), {**made, "payload": {**made["payload"], "namespace": None, **fields}})
                )
            )
        ] == ["mcp__zoo__lookup"]


def test_a_call_of_a_server_that_only_an_event_has_is_read_from_it(write: Callable[..., Path]) -> None:
    content = [{"type": "text", "text": "one fox"}]
    invocation = {"server": "zoo", "tool": "lookup", "arguments": {"query": "fox"}}
    for report in (
        completed("McpToolCall", id="c", **invocation, status="completed", result={"content": content}),
        event("mcp_tool_call_end", call_id="c", invocation=invocation, result={"Ok": {"content": content}}),
    ):
        events = parse(write(meta(), prompt("ask"), report))
        assert calls(events) == [("mcp__zoo__lookup", {"query": "fox"})]
        assert results(events) == [("mcp__zoo__lookup", "one fox", False)]


def test_a_web_search_is_read_once(write: Callable[..., Path]) -> None:
    action = {"type": "search", "query": "fox dens"}
    called = item("web_search_call", id="w", status="completed", action=action)
    shown = completed("WebSearch", id="w", query="fox dens", action=action)
    ended = event("web_search_end", call_id="w", query="fox dens", action=action)
    for records in ([called], [shown], [shown, called], [called, ended]):
        assert calls(parse(write(meta(), prompt("ask"), records))) == [("web_search", {"query": "fox dens"})]


def test_a_plan_is_read_without_the_steps_that_it_repeats(write: Callable[..., Path]) -> None:
    first = [{"step": "dig", "status": "in_progress"}, {"step": "fence", "status": "pending"}]
    second = [{"step": "dig", "status": "completed"}, {"step": "fence", "status": "completed"}, {"step": "paint"}]
    events = parse(
        write(
            meta(),
            prompt("ask"),
            call("c1", "update_plan", plan=first),
            output("c1", "Plan updated"),
            call("c2", "update_plan", plan=second, explanation="more to do"),
            output("c2", "Plan updated"),
        )
    )
    assert calls(events) == [
        ("update_plan", {"plan": ["dig", "fence"]}),
        ("update_plan", {"explanation": "more to do", "plan": ["paint"]}),
    ]
    assert results(events) == []


def test_what_subagents_said_is_read_without_ids_and_escapes(write: Callable[..., Path]) -> None:
    status = {"status": {"019a-x": {"completed": 'the "fox"\nis here'}}, "timed_out": False}
    events = parse(
        write(
            meta(),
            prompt("ask"),
            call("c1", "spawn_agent", message="find it", fork_context=True),
            output("c1", '{"agent_id":"019a-x","nickname":"Ada"}'),
            call("c2", "wait_agent", targets=["019a-x"], timeout_ms=1000),
            output("c2", json.dumps(status)),
        )
    )
    assert calls(events) == [("spawn_agent", {"message": "find it"}), ("wait_agent", {"targets": ["019a-x"]})]
    assert results(events) == [("wait_agent", 'the "fox"\nis here', False)]


def test_the_calls_of_a_program_are_named_and_said_once(write: Callable[..., Path]) -> None:
    code = 'const r = await tools.exec_command({cmd: "sesame search fox"});\ntext(r.output);'
    made = item("custom_tool_call", call_id="c", name="exec", input=code)
    nested = [
        completed(
            "CommandExecution", id="n1", command=["bash", "-lc", "cat den"], aggregated_output="ocelot", exit_code=0
        ),
        completed("FileChange", id="n2", changes={"/w/a.py": {"type": "add", "content": "ocelot"}}, status="completed"),
    ]
    given = item(
        "custom_tool_call_output",
        call_id="c",
        output=[{"type": "input_text", "text": "Script completed\n"}, {"text": "ocelot"}],
    )
    events = parse(write(meta(), prompt("ask"), made, nested, given))
    assert [(c.name, c.via) for m in messages(events) for c in m.tool_calls] == [
        ("exec", None),
        ("shell", "exec"),
        ("apply_patch", "exec"),
    ]
    assert everything(events).count("ocelot") == 1
    assert [r.command for m in messages(events) for r in m.tool_results] == ["sesame search fox"]


def test_pictures_in_outputs_are_left_out(write: Callable[..., Path]) -> None:
    picture = [{"type": "input_image", "image_url": "data:image/png;base64,NOISE"}]
    events = parse(write(meta(), prompt("ask"), call("c", "view_image", path="/w/fox.png"), output("c", picture)))
    assert calls(events) == [("view_image", {"path": "/w/fox.png"})]
    assert "NOISE" not in everything(events)


# -- JSON in outputs and errors -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[{"type":"text","text":"a hit"},{"type":"text","text":"another"}]', "a hit\nanother"),
        (f'{HEAD}[{{"type":"text","text":"a hit"}}]', "a hit"),
        (f'{HEAD}{{"output":"Success. Updated it.\\n","metadata":{{"exit_code":0}}}}', "Success. Updated it."),
        ('Wall time: 0.1 seconds\nOutput:\n{"output":"no den","metadata":{"exit_code":2}}', "exit code 2\nno den"),
        ('[{"name":"a","text":"a list of a program"}]', '[{"name":"a","text":"a list of a program"}]'),
        ('[{"type":"image","data":"AAAA"}]', '[{"type":"image","data":"AAAA"}]'),
        ('[{"type":"text","text":"cut', '[{"type":"text","text":"cut'),
    ],
)
def test_an_output_that_is_the_json_of_a_tool_server_is_read_as_text(
    text: str, said: str, write: Callable[..., Path]
) -> None:
    events = parse(write(meta(), prompt("ask"), call("c", "exec_command", cmd="den"), output("c", text)))
    assert [result for _, result, _ in results(events)] == [said]


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ('{"error": {"message": "no such model", "type": "invalid_request_error", "code": "x"}}', "no such model"),
        (
            'unexpected status 400: {"error":{"message":"no den"}}, url: http://a',
            "unexpected status 400: no den, url: http://a",
        ),
        ('{"error": "no den"}', "no den"),
        ('{"error": {"code": 7}}', '{"error": {"code": 7}}'),
        ('{"error": {"message": "cut', '{"error": {"message": "cut'),
        ("a plain failure", "a plain failure"),
    ],
)
def test_an_error_that_is_the_json_of_a_provider_is_its_message(
    message: str, said: str, write: Callable[..., Path]
) -> None:
    events = parse(write(meta(), prompt("ask"), event("error", 3, message=message)))
    assert [one.text for one in messages(events) if one.source_type == "error"] == [said]
