"""Lines that say what went wrong: which they are, and which are the same."""

from __future__ import annotations

import pytest

from sesame_core.questions.errors import asked_lines, error_line, telling
from sesame_core.questions.wanted import Level, Wanted

SAME = [
    (
        "src/app.ts(12,3): error TS2304: Cannot find name 'x'.",
        "lib/other/b.ts(7,99): error TS2304: Cannot find name 'x'.",
    ),
    ("fatal: 'main' is already used by worktree at '/home/a'", "fatal: 'main' is already used by worktree at 'D:\\b'"),
    (
        "error: listen EADDRINUSE: address already in use :::3000",
        "error: listen EADDRINUSE: address already in use :::81",
    ),
    ("panic: open /tmp/a1b2c3d4e5: no such file", "panic: open /var/x/ffee99aa01: no such file"),
    ("[10:02:11] Error: timeout of 3000ms exceeded", "\x1b[31mError: timeout of 500ms exceeded\x1b[0m"),
    ("\x1b]8;;https://example.org/e1\x1b\\error[E1]\x1b]8;;\x1b\\: no zebra", "\x1b[38:5:9merror[E1]\x1b[m: no zebra"),
    ("a.py:3:1: F401 `os` imported but unused", "/x/b.py:88:5: F401 `os` imported but unused"),
    ("ModuleNotFoundError: No module named 'yaml'", "E   ModuleNotFoundError: No module named 'yaml'"),
]
OTHER = [
    ("ModuleNotFoundError: No module named 'yaml'", "ModuleNotFoundError: No module named 'requests'"),
    ("error TS2304: Cannot find name 'x'.", "error TS2345: Argument of type 'x' is not assignable."),
    ("undefined: parseConfig", "undefined: writeReport"),
    ("fatal: not a git repository", "the repository has tests"),
]


@pytest.mark.parametrize(("asked", "line"), SAME)
def test_an_error_is_the_same_with_other_numbers_paths_and_times(asked: str, line: str) -> None:
    found = Wanted(asked_lines(asked)).find(f"something else\n{line}\nand more")
    assert found is not None
    assert found[0] is Level.SAME


@pytest.mark.parametrize(("asked", "line"), OTHER)
def test_an_error_with_another_name_is_not_the_same(asked: str, line: str) -> None:
    found = Wanted(asked_lines(asked)).find(line)
    assert found is None or found[0] is not Level.SAME


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'id'", "KeyError: 'id'"),
        (
            "npm ERR! code ELIFECYCLE\nnpm ERR! missing script: buidl\nnpm ERR! A complete log",
            "npm ERR! missing script: buidl",
        ),
        ("Exit code 1\n[lint] $ ruff check\na.py:1:1: F401 unused\n[lint] ERROR task failed", "a.py:1:1: F401 unused"),
        (
            '$ bun test\nTypeError: x is not a function\nerror: script "test" exited with code 1',
            "TypeError: x is not a function",
        ),
        ("make: *** [all] Error 2\ncc: fatal error: no input files", "cc: fatal error: no input files"),
    ],
)
def test_the_line_that_says_most_is_chosen_of_many(text: str, line: str) -> None:
    assert asked_lines(text)[0].text == line
    found = telling(text)
    assert found is not None
    assert found.text == line


def test_a_text_without_an_error_is_looked_for_as_it_is() -> None:
    assert [line.text for line in asked_lines("quite strange behaviour")] == ["quite strange behaviour"]
    assert telling("14 passed in 2 s\nok  pkg (cached)") is None
    assert asked_lines(" \n\n") == []


def test_line_feeds_that_are_written_as_in_json_separate_lines() -> None:
    found = Wanted(asked_lines("[FORMAT] Code is not formatted.")).find(
        "validation failed:\\n\\n[FORMAT] Code is not formatted.\\nRun it"
    )
    assert found is not None
    assert found[2].text == "[FORMAT] Code is not formatted."


def test_a_name_and_a_code_stay_in_the_key() -> None:
    assert error_line("x/y.ts:3:1 - error TS2769: No overload of f2").words == (
        "error",
        "ts2769",
        "no",
        "overload",
        "of",
        "f2",
    )


def test_long_lines_take_linear_time() -> None:
    wanted = Wanted(asked_lines("error: boom happened here"))
    for text in ("error " * 200_000, "a/" * 200_000, "1:" * 200_000, "E" * 500_000, "error: boom\n" * 50_000):
        wanted.find(text)
        asked_lines(text[:100_000])
