"""Outputs of Gemini CLI's own tools, in the words of 0.24.0 to 0.61.0, without what it adds for the model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .writing import HEADER, call, gemini, results, said, session, user

Write = Callable[..., Path]

DONE = "Subagent '{}' finished.\nTermination Reason: GOAL\nResult:\n"
DISCOVERED = "\n\n--- Newly Discovered Project Context ---\n{}\n--- End Project Context ---"
CUT = (
    "\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines 1-2 of 90 total lines.\nAction: To read "
    "more of the file, you can use the '{}' parameters in a subsequent 'read_file' call. For example, to read the next "
    "section of the file, use start_line: 3.\n\n--- FILE CONTENT (truncated) ---\n"
)


def output(write: Write, name: str, said: str) -> str | None:
    """Return what the index has of a tool's output; None if nothing."""
    path = write(user("u", 1, "look"), gemini("g", 2, "", toolCalls=[call("c", name, {"path": "x"}, said)]))
    found = results(path)
    assert len(found) <= 1
    return found[0][1] if found else None


@pytest.mark.parametrize(
    ("agent", "answer", "text"),
    [
        ("generalist", {"response": "The reef is shallow.\n\n## Depth\n\nTwo fathoms."}, None),
        (
            "codebase_investigator",
            {
                "SummaryOfFindings": "The wick is too short.",
                "ExplorationTrace": ["read lamp.py", "ran it"],
                "RelevantLocations": [
                    {"FilePath": "src/lamp.py", "Reasoning": "trims", "KeySymbols": ["trim", "burn"]}
                ],
            },
            "The wick is too short.\nread lamp.py\nran it\nsrc/lamp.py\ntrims\ntrim\nburn",
        ),
        (
            "cli_help",
            {"answer": "Use /compress.", "sources": ["docs/commands.md", ""]},
            "Use /compress.\ndocs/commands.md",
        ),
        ("counter", {"depth": 2, "shallow": True}, "2"),
        ("lister", ["kelp", "squid"], "kelp\nsquid"),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_a_subagent_that_answers_with_json_is_read_as_text(
    write: Write, agent: str, answer: object, text: str | None, indent: int | None
) -> None:
    expected = text or "The reef is shallow.\n\n## Depth\n\nTwo fathoms."
    assert output(write, "invoke_agent", DONE.format(agent) + json.dumps(answer, indent=indent)) == expected


@pytest.mark.parametrize("answer", ["the reef is shallow", "[reef] is shallow", "{cut", "{}", '{"found": false}', "7"])
def test_another_answer_of_a_subagent_stays_as_it_is(write: Write, answer: str) -> None:
    assert output(write, "invoke_agent", DONE.format("generalist") + answer) == answer


def test_json_that_is_no_answer_of_a_subagent_stays_json(write: Write) -> None:
    assert output(write, "mcp_demo_lookup", '{"response": "kelp"}') == '{"response": "kelp"}'


@pytest.mark.parametrize(
    ("name", "said", "text"),
    [
        ("read_file", "wick = 1\n", "wick = 1"),
        ("list_directory", "Directory listing for /reef/lamp:\n[DIR] src", "[DIR] src"),
        ("write_file", "Successfully overwrote file: /reef/lamp.py.", "Successfully overwrote file: /reef/lamp.py."),
        ("replace", "Successfully modified file: /reef/a (1 replacements). Here is the updated code:\nb", None),
        ("read_file", CUT.format("start_line' and 'end_line") + "wick = 1", "wick = 1"),
    ],
)
def test_instructions_of_a_directory_below_an_output_are_not_read(
    write: Write, name: str, said: str, text: str | None
) -> None:
    rules = "--- Context from: /reef/GEMINI.md ---\nThe wombat rule.\n--- End of Context from: /reef/GEMINI.md ---"
    expected = text or "Successfully modified file: /reef/a (1 replacements)."
    assert output(write, name, said + DISCOVERED.format(rules)) == expected


@pytest.mark.parametrize(
    ("name", "said", "text"),
    [
        ("read_file", CUT.format("start_line' and 'end_line") + "wick = 1\nburn = 2", "wick = 1\nburn = 2"),
        ("read_file", CUT.format("offset' and 'limit").lstrip() + "wick = 1", "wick = 1"),
        (
            "grep_search",
            'Found 2 matches for pattern "wi\\"ck" in path "src" (filter: "*.py"):\n---\n'
            "File: lamp.py\nL3: wick = 1\n---\nFile: oil.py\nL9- oil\n---",
            "File: lamp.py\nL3: wick = 1\n---\nFile: oil.py\nL9- oil",
        ),
        (
            "search_file_content",
            'Found 1 match for pattern "wick" across 2 workspace directories:\n---\nFile: lamp.py\nL3: wick = 1\n---',
            "File: lamp.py\nL3: wick = 1",
        ),
        (
            "grep_search",
            'Found 2 files with matches for pattern "wick" in the workspace directory:\nlamp.py\noil.py',
            "lamp.py\noil.py",
        ),
        (
            "glob",
            'Found 2 file(s) matching "**/*.py" within /reef, sorted by modification time (newest first):\n/reef/a.py',
            "/reef/a.py",
        ),
        (
            "glob",
            'Found 3 file(s) matching "*" across 2 workspace directories (1 additional files were ignored), '
            "sorted by modification time (newest first):\n/reef/a.py\n/reef/b.py",
            "/reef/a.py\n/reef/b.py",
        ),
        ("list_directory", "Directory listing for /reef:\n[DIR] src\na.py (9 bytes)", "[DIR] src\na.py (9 bytes)"),
        ("google_web_search", 'Web search results for "wick":\n\nTrim it.\n\nSources:', "Trim it.\n\nSources:"),
    ],
)
def test_the_heading_of_an_output_repeats_the_call_and_is_not_read(
    write: Write, name: str, said: str, text: str
) -> None:
    assert output(write, name, said) == text


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("grep_search", 'No matches found for pattern "wick" in path "src".'),
        ("glob", 'No files found matching pattern "*.py" within /reef'),
        ("list_directory", "Directory listing for /reef:\n"),
        ("list_directory", "Directory /reef is empty."),
        ("read_file", 'Notes\nFound 2 matches for pattern "wick" in path "src":\n---\nFile: a'),
        ("read_file", "the heading --- Newly Discovered Project Context ---\nis documented here"),
        ("read_file", "wick\n--- End Project Context ---"),
        ("run_shell_command", 'Found 2 matches for pattern "wick" in path "src":\n---\nFile: a'),
        ("mcp_demo_lookup", "Directory listing for /reef:\na.py"),
    ],
)
def test_an_output_that_only_looks_like_a_heading_stays(write: Write, name: str, said: str) -> None:
    assert output(write, name, said) == said.strip("\n")


@pytest.mark.parametrize(
    "said",
    [
        'Current topic: "Lamps"\nTopic summary: The wick is trimmed.\n\nStrategic Intent: light it',
        "Strategic Intent: light it",
    ],
)
def test_a_topic_repeats_its_call_and_is_not_read(write: Write, said: str) -> None:
    assert output(write, "update_topic", said) is None
    assert output(write, "read_file", said) == said


def test_a_list_of_tasks_repeats_its_call_and_is_not_read(write: Write) -> None:
    said = (
        "Successfully updated the todo list. The current list is now:\n1. [pending] trim the wick\n2. [completed] oil"
    )
    assert output(write, "write_todos", said) is None
    assert output(write, "write_todos", "Successfully cleared the todo list.") == "Successfully cleared the todo list."
    assert output(write, "read_file", said) == said


@pytest.mark.parametrize(
    "summary", ['{\n  "response": "Perfect! Now let me prepare…', "Perfect! The reef is shallow, and…", '["kelp"', ""]
)
@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("look for the squid\nin the reef", "look for the squid"),
        ("\n## Task\n\nlook", "Task"),
        ("look " * 60, f"{'look ' * 23}look…"),
        ("#\n", None),
    ],
)
def test_a_subagent_is_named_after_its_task_and_not_after_its_answer(
    write: Write, summary: str, task: str, name: str | None
) -> None:
    header = {**HEADER, "kind": "subagent"}
    path = write(user("u", 1, task), gemini("g", 2, "shallow"), {"$set": {"summary": summary}}, header=header)
    assert session(path).title == name
    assert [role for role, _ in said(path)] == ["system", "assistant"]
