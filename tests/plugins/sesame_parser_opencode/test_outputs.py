"""Outputs of tools lose what OpenCode puts around them for the model, and nothing else."""

from __future__ import annotations

import pytest

from .making import Layout, Reading, answered, asked, tool

REMINDER = "\n\n<system-reminder>\nInstructions from: /w/app/AGENTS.md\nAlways use tabs.\n</system-reminder>"


def output(layout: Layout, name: str, text: str) -> list[str]:
    session = f"ses_{name}"
    reading = Reading(layout.write(session, [asked("go on now"), answered(tool(name, {"x": "y"}, text))]))
    assert len(reading.calls) == 1
    return [result.text for result in reading.results if result.text]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "task",
            '<task id="ses_9" state="completed">\n<task_result>\na zebra\nand more\n</task_result>\n</task>',
            "a zebra\nand more",
        ),
        ("task", '<task id="ses_9" state="error">\n<task_error>\nno zebra\n</task_error>\n</task>', "no zebra"),
        ("task", "a zebra\n\n<task_metadata>\nsession_id: ses_9\n</task_metadata>", "a zebra"),
        ("task", "a zebra", "a zebra"),
        ("subagent", '<subagent sessionID="ses_9" state="completed">\na zebra\n</subagent>', "a zebra"),
        ("subagent", "a <task> of a zebra", "a <task> of a zebra"),
    ],
)
def test_what_a_subagent_answered_comes_without_its_frame(layout: Layout, name: str, text: str, said: str) -> None:
    assert output(layout, name, text) == [said]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<file>\n00001| a: 1\n00002| \n00003|   2: b\n\n(End of file - total 3 lines)\n</file>", "a: 1\n\n  2: b"),
        (
            "<path>/w/a.yml</path>\n<type>file</type>\n<content>\n1: a: 1\n2: 80: b\n\n"
            "(End of file - total 2 lines)\n</content>",
            "a: 1\n80: b",
        ),
        ("<file>\n00101| a\n\n(File has more lines. Use 'offset' parameter to read beyond line 101)\n</file>", "a"),
        ("<path>/w</path>\n<type>directory</type>\n<entries>\na.py\n7: b\n\n(2 entries)\n</entries>", "a.py\n7: b"),
        (f"<file>\n00001| a\n\n(End of file - total 1 lines)\n</file>{REMINDER}", "a"),
        ("<file>\n00001| <file>\n00002| </file>\n\n(End of file - total 2 lines)\n</file>", "<file>\n</file>"),
        ("Image read successfully", "Image read successfully"),
        ("1: a line of something else", "1: a line of something else"),
    ],
)
def test_a_file_that_was_read_comes_without_numbers_frame_and_instructions(
    layout: Layout, text: str, said: str
) -> None:
    assert output(layout, "read", text) == [said]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("todowrite", '[\n  {\n    "content": "find the zebra",\n    "status": "pending"\n  }\n]', []),
        ("todowrite", "Error: no list", ["Error: no list"]),
        ("todoread", '[{"content": "find the zebra", "status": "done"}, {"id": "2"}]', ["find the zebra"]),
        ("todoread", "[]", []),
    ],
)
def test_a_list_of_tasks_is_not_json_and_not_said_twice(layout: Layout, name: str, text: str, said: list[str]) -> None:
    assert output(layout, name, text) == said


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "bash",
            "a\n\n<bash_metadata>\nterminated after 30000 ms\n</bash_metadata>",
            "a\n\nterminated after 30000 ms\n",
        ),
        (
            "edit",
            'Edit applied.\n\nLSP errors:\n<diagnostics file="/w/a.py">\nERROR [1:2] no zebra\n</diagnostics>',
            "Edit applied.\n\nLSP errors:\nERROR [1:2] no zebra\n",
        ),
        ("bash", f"grep finds{REMINDER}", f"grep finds{REMINDER}"),
        ("bash", "<file>\n00001| a\n</file>", "<file>\n00001| a\n</file>"),
    ],
)
def test_other_outputs_lose_only_the_marks_of_the_program(layout: Layout, name: str, text: str, said: str) -> None:
    assert [one.rstrip() for one in output(layout, name, text)] == [said.rstrip()]


def test_an_output_of_blank_lines_takes_no_longer_than_another(layout: Layout) -> None:
    blank = "\n" * 200_000
    assert output(layout, "read", f"<file>\n00001| a{blank}b\n</file>") == [f"a{blank}b"]
    assert output(layout, "task", f"a{blank}b") == [f"a{blank}b"]
