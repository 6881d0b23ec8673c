"""The default chunk formatter: the conformance kit, and what it writes for the tools agents really have."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sesame_core import Chunk, ConfigError, Message, ToolCall, ToolResult
from sesame_core.plugin.manager import PluginManager
from sesame_core.testing import FormatterConformance
from sesame_formatter_default.formatter import DefaultFormatter
from sesame_formatter_default.session_search import runs_session_search

#: 4 KiB that look like a screenshot.
PAYLOAD = "".join(random.Random(7).choices("ABCDEFGHIJKLMNOPabcdefghijklmnop0123456789+/", k=4096))


class TestConformance(FormatterConformance):
    name = "default"
    writes_edits = True


def call(name: str, arguments: Any, **fields: Any) -> Chunk:
    message = Message(
        session_id="s",
        role="assistant",
        tool_calls=(ToolCall(id="c", name=name, arguments=arguments, **fields),),
    )
    (chunk,) = DefaultFormatter().format(message)
    return chunk


def result(text: str, **fields: Any) -> list[Chunk]:
    answer = ToolResult(call_id="c", text=text, **fields)
    return DefaultFormatter().format(Message(session_id="s", role="tool", tool_results=(answer,)))


@pytest.mark.parametrize(
    ("role", "kind"),
    [
        ("user", "message"),
        ("assistant", "message"),
        ("system", "message"),
        ("tool", "message"),
        ("summary", "metadata"),
        ("metadata", "metadata"),
    ],
)
def test_titles_and_summaries_are_metadata_and_the_rest_are_messages(role: Any, kind: str) -> None:
    (chunk,) = DefaultFormatter().format(Message(session_id="s", role=role, text=" as it was said\n"))
    assert (chunk.kind, chunk.role, chunk.text) == (kind, role, " as it was said\n")


def test_a_failed_message_is_marked() -> None:
    (chunk,) = DefaultFormatter().format(Message(session_id="s", role="assistant", text="overloaded", is_error=True))
    assert chunk.is_error


@pytest.mark.parametrize(
    ("name", "arguments", "text", "paths"),
    [
        (
            "write",
            {"path": "src/config.ts", "content": "export const x = 1\nexport const y = 2"},
            "tool: write\npath: src/config.ts\ncontent:\nexport const x = 1\nexport const y = 2",
            ("src/config.ts",),
        ),
        (
            "Write",
            {"file_path": "/w/a.py", "content": "one line"},
            "tool: Write\npath: /w/a.py\ncontent:\none line",
            ("/w/a.py",),
        ),
        (
            "create_file",
            {"filename": "a.py", "content": "x"},
            "tool: create_file\npath: a.py\ncontent:\nx",
            ("a.py",),
        ),
        (
            "edit",
            {"path": "a.ts", "oldText": "const x = 1", "newText": "const x = 2"},
            "tool: edit\npath: a.ts\nold: const x = 1\nnew: const x = 2",
            ("a.ts",),
        ),
        (
            "edit",
            {
                "path": "@a.py",
                "edits": [{"oldText": "one", "newText": "two\nthree"}, {"oldText": "4", "newText": "5"}],
            },
            "tool: edit\npath: @a.py\nold: one\nnew:\ntwo\nthree\nold: 4\nnew: 5",
            ("a.py",),
        ),
        (
            "edit",
            {"path": "a.py", "edits": '[{"oldText": "one\\ntwo", "newText": "3"}]'},
            "tool: edit\npath: a.py\nold:\none\ntwo\nnew: 3",
            ("a.py",),
        ),
        (
            "MultiEdit",
            {"file_path": "a.py", "edits": [{"old_string": "x", "new_string": "y", "replace_all": True}]},
            "tool: MultiEdit\npath: a.py\nold: x\nnew: y",
            ("a.py",),
        ),
        (
            "multi_edit",
            {"edits": [{"path": "a.py", "old": "x", "new": "y"}, {"path": "b.py", "old": "z", "new": ""}]},
            "tool: multi_edit\npath: a.py\nold: x\nnew: y\npath: b.py\nold: z",
            ("a.py", "b.py"),
        ),
        (
            "bash",
            {"command": "npm test", "timeout": 120000, "run_in_background": False},
            "tool: bash\ncommand: npm test",
            (),
        ),
        (
            "Bash",
            {"command": "cd x\nmake", "description": "Build it"},
            "tool: Bash\ncommand:\ncd x\nmake\ndescription: Build it",
            (),
        ),
        (
            "replace",
            {"file_path": "/w/a.py", "instruction": "Rename it", "old_string": "x", "new_string": "y"},
            "tool: replace\npath: /w/a.py\nold: x\nnew: y\ninstruction: Rename it",
            ("/w/a.py",),
        ),
        ("read_file", {"absolute_path": "/w/a.py", "offset": 3}, "tool: read_file\npath: /w/a.py", ("/w/a.py",)),
        ("list_directory", {"dir_path": "/w"}, "tool: list_directory\npath: /w", ()),
        ("grep_search", {"pattern": "x", "dir_path": "/w"}, "tool: grep_search\npattern: x\npath: /w", ()),
        ("shell", {"command": ["git", "log", "-1"]}, "tool: shell\ncommand: git log -1", ()),
        (
            "Read",
            {"file_path": "/w/a.py", "offset": 10, "limit": 5},
            "tool: Read\npath: /w/a.py",
            ("/w/a.py",),
        ),
        (
            "NotebookEdit",
            {"notebook_path": "n.ipynb", "new_source": "print(1)", "cell_id": "c3"},
            "tool: NotebookEdit\npath: n.ipynb\nsource:\nprint(1)\ncell_id: c3",
            ("n.ipynb",),
        ),
        (
            "Grep",
            {"pattern": "def .*main", "path": "src", "output_mode": "content", "-n": True, "glob": "*.py"},
            "tool: Grep\npattern: def .*main\npath: src\nglob: *.py",
            (),
        ),
        ("Glob", {"pattern": "**/*.toml"}, "tool: Glob\npattern: **/*.toml", ()),
        (
            "codemode",
            {"code": "const a = 1\nreturn a"},
            "tool: codemode\ncode:\nconst a = 1\nreturn a",
            (),
        ),
        (
            "Task",
            {"description": "Look around", "prompt": "Find the\nparser", "subagent_type": "Explore"},
            "tool: Task\ndescription: Look around\nprompt:\nFind the\nparser\nsubagent_type: Explore",
            (),
        ),
        (
            "WebFetch",
            {"url": "https://example.org/a", "prompt": "What does it say?"},
            "tool: WebFetch\nurl: https://example.org/a\nprompt: What does it say?",
            (),
        ),
        ("WebSearch", {"query": "sqlite fts5"}, "tool: WebSearch\nquery: sqlite fts5", ()),
        (
            "mcp__github__create_issue",
            {
                "title": "It breaks",
                "body": "first\nsecond",
                "labels": ["bug", "p1"],
                "draft": False,
                "n": None,
            },
            "tool: mcp__github__create_issue\ntitle: It breaks\nbody:\nfirst\nsecond\n"
            "labels:\n  - bug\n  - p1\ndraft: false",
            (),
        ),
        (
            "TodoWrite",
            {
                "todos": [
                    {"content": "write tests", "status": "done"},
                    {"content": "run them", "tags": {"a": 1}},
                ]
            },
            "tool: TodoWrite\ntodos:\n  - content: write tests\n    status: done\n"
            "  - content: run them\n    tags:\n      a: 1",
            (),
        ),
        ("NobodyKnows", {"path": "https://example.org"}, "tool: NobodyKnows\npath: https://example.org", ()),
        ("NobodyKnows", {"filePath": "a/b.c"}, "tool: NobodyKnows\nfilePath: a/b.c", ("a/b.c",)),
        ("bash", '{"command": "ls"}', "tool: bash\ncommand: ls", ()),
        ("bash", '{"command": "l', 'tool: bash\narguments: {"command": "l', ()),
        ("EnterPlanMode", {}, "tool: EnterPlanMode", ()),
    ],
)
def test_a_tool_call_is_written_as(name: str, arguments: Any, text: str, paths: tuple[str, ...]) -> None:
    chunk = call(name, arguments)
    assert chunk.text == text
    assert chunk.paths == paths
    assert (chunk.kind, chunk.role, chunk.tool_name, chunk.call_id) == ("tool_call", "assistant", name, "c")


@pytest.mark.parametrize("old", ["old", "oldText", "old_text", "old_string", "oldString", "search"])
@pytest.mark.parametrize("new", ["new", "newText", "new_text", "new_string", "newString", "replace"])
def test_every_spelling_of_an_edit_reads_the_same(old: str, new: str) -> None:
    assert call("edit", {"path": "a", old: "x", new: "y"}).text == "tool: edit\npath: a\nold: x\nnew: y"


def test_a_nested_call_says_through_which_tool_it_came() -> None:
    assert call("read", {"path": "a"}, via="codemode").text == "tool: read\nvia: codemode\npath: a"


def test_a_known_tool_with_unknown_arguments_still_shows_them() -> None:
    assert call("write", {"target": "a.py", "lines": ["x", "y"]}).text == (
        "tool: write\ntarget: a.py\nlines:\n  - x\n  - y"
    )


def test_line_breaks_are_never_written_as_escapes() -> None:
    text = call("mcp__x__y", {"deep": {"list": [["a\nb"], {"c": 'say "d"\n\ttwice'}]}}).text
    assert "\\" not in text
    assert "a\nb" in text
    assert 'say "d"\n\ttwice' in text


def test_a_result_is_cut_in_the_middle_and_the_cut_is_counted() -> None:
    text = "".join(f"{number:07} " for number in range(10_000))
    (chunk,) = result(text, name="bash")
    head, note, tail = chunk.text.split("\n")
    assert chunk.cut == len(text) - 16_384
    assert note == f"[… {chunk.cut} characters left out …]"
    assert (len(head), len(tail)) == (12_288, 4_096)
    assert text.startswith(head)
    assert text.endswith(tail)


def test_a_result_of_just_the_limit_is_whole() -> None:
    (chunk,) = result("é " * 8_192)
    assert (chunk.text, chunk.cut) == ("é " * 8_192, 0)


def test_a_call_is_cut_at_its_own_limit_only() -> None:
    content = "word " * 13_000
    assert call("write", {"path": "a", "content": content}).cut == 0
    long = call("write", {"path": "a", "content": content * 2})
    assert long.cut > 0
    assert len(long.text) < 66_000


def test_what_people_say_is_never_cut() -> None:
    (chunk,) = DefaultFormatter().format(Message(session_id="s", role="user", text="word " * 100_000))
    assert len(chunk.text) == 500_000


def test_base64_payloads_are_dropped_from_calls_and_results() -> None:
    sent = call("mcp__browser__upload", {"name": "shot", "data": f"data:image/png;base64,{PAYLOAD}"})
    assert sent.text == "tool: mcp__browser__upload\nname: shot\ndata: data:image/png;base64,…"
    (answered,) = result(f"before {PAYLOAD} after {PAYLOAD}")
    assert answered.text == "before … after …"
    assert answered.cut == 2 * (len(PAYLOAD) - 1)


@pytest.mark.parametrize("text", ["-" * 3000, "=" * 3000, "a/b c" * 3000, "日本語" * 1000, "x" * 1024 + " y"])
def test_rules_and_long_plain_words_are_not_payload(text: str) -> None:
    (chunk,) = result(text)
    assert (chunk.text, chunk.cut) == (text, 0)


@pytest.mark.parametrize(
    "name",
    [
        "find_sessions",
        "list_sessions",
        "read_session",
        "sesame_search",
        "search_sessions",
        "query_session",
        "list_messages",
        "get_session",
        "mcp__sesame__search_sessions",
        "mcp__any_server__Get_Session",
        "sesame-search_sessions",
        "any-server-Get_Session",
        "session_store_sql",
        "mcp_sesame_search_sessions",
        "mcp_any_server_query_session",
        "sesame__list_messages",
        "sesame_search_sessions",
        "sesame_get_session",
    ],
)
def test_what_a_session_search_answers_is_not_indexed(name: str) -> None:
    assert result("another session's text", name=name) == []
    assert call(name, {"query": "redis"}).text == f"tool: {name}\nquery: redis"


def test_what_an_agent_is_told_about_another_session_is_not_indexed() -> None:
    told = Message(session_id="s", role="system", text="another session's text", source_type="sesame-reference")
    assert DefaultFormatter().format(told) == []
    told.source_type = "custom_message"
    assert len(DefaultFormatter().format(told)) == 1


@pytest.mark.parametrize(
    "name",
    ["search", "bash", "mcp__sesame", "mcp_other_research_sessions", "research_sessions", "find_sessions_table", ""],
)
def test_what_other_tools_answer_is_indexed(name: str) -> None:
    assert len(result("text", name=name)) == 1


@pytest.mark.parametrize(
    "command",
    [
        "sesame search redis",
        "/usr/local/bin/sesame show 1",
        "cd /w && sesame search 'a b' | head",
        "ls; sesame",
        "echo x | ~/bin/sesame search",
        "SESAME_DATA_DIR=/x sesame search y",
        "cd /w\n  sesame search y",
        "(sesame status)",
    ],
)
def test_a_shell_that_runs_sesame_is_a_session_search(command: str) -> None:
    assert result("another session's text", name="bash", command=command) == []


@pytest.mark.parametrize(
    "command",
    [
        "cd sesame && ls",
        "grep sesame *.md",
        "./sesame/run.sh",
        "sesame-lint .",
        "git commit -m 'sesame search'",
        "pip install sesame-search",
        "",
    ],
)
def test_a_shell_that_only_mentions_sesame_is_not(command: str) -> None:
    assert len(result("text", name="bash", command=command)) == 1


def test_odd_commands_are_judged_in_linear_time() -> None:
    start = time.process_time()
    for odd in (";" * 200_000, "\n" * 200_000, "a=1 " * 50_000, "/" * 200_000, "; a=b " * 50_000):
        runs_session_search(odd + " sesamé sesame_")
    assert time.process_time() - start < 2


def test_code_whose_nested_calls_only_searched_sessions_answers_nothing_new() -> None:
    searched = ToolCall(id="n", name="find_sessions", via="codemode")
    read = ToolCall(id="m", name="read", arguments={"path": "a"}, via="codemode")
    answer = ToolResult(call_id="c", name="codemode", text="what it printed")

    def kinds(*calls: ToolCall) -> list[str]:
        message = Message(session_id="s", role="tool", tool_calls=calls, tool_results=(answer,))
        return [chunk.kind for chunk in DefaultFormatter().format(message)]

    assert kinds(searched) == ["tool_call"]
    assert kinds(searched, read) == ["tool_call", "tool_call", "tool_result"]


def test_a_blank_result_makes_no_chunk() -> None:
    assert result(" \n") == []


@pytest.mark.parametrize("options", [{"result_limit": 0}, {"call_limit": "10"}, {"result_limit": True}])
def test_an_option_of_the_wrong_type_is_named(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        PluginManager().formatter("default", options)


def test_a_misspelt_option_is_answered_with_the_right_one() -> None:
    with pytest.raises(ConfigError, match="'result_limits'; did you mean 'result_limit'"):
        PluginManager().formatter("default", {"result_limits": 5})


def test_the_limits_are_options() -> None:
    formatter = PluginManager().formatter("default", {"result_limit": 8, "call_limit": 12})
    message = Message(
        session_id="s",
        role="assistant",
        tool_calls=(ToolCall(id="1", name="bash", arguments={"command": "ls"}),),
        tool_results=(ToolResult(call_id="1", text="0123456789"),),
    )
    asked, answered = formatter.format(message)
    assert answered.text == "012345\n[… 2 characters left out …]\n89"
    assert asked.text == "tool: bas\n[… 10 characters left out …]\n ls"


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(max_size=5) | st.sampled_from(["path", "edits", "old", "command", "code", "file_path"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(
    name=st.sampled_from(["edit", "bash", "write", "read", "grep", "codemode", "Task"]) | st.text(max_size=8),
    arguments=anything,
)
def test_no_arguments_are_too_odd(name: str, arguments: Any) -> None:
    chunk = call(name, arguments)
    assert chunk.text.startswith(f"tool: {name}")
    assert all(isinstance(path, str) and path for path in chunk.paths)


def test_a_plain_message_costs_microseconds() -> None:
    formatter = DefaultFormatter()
    message = Message(session_id="s", role="user", text="why does the build fail? " * 20)
    start = time.process_time()
    for _ in range(2_000):
        formatter.format(message)
    assert time.process_time() - start < 0.2  # 100 µs each; 2 µs on the machine this was written on
