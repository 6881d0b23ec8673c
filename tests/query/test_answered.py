"""Which queries another command answers better: few, and never one in words."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from sesame_core.query.answered import RUNNING, better
from sesame_core.search.engine import ERRORS, PROGRAMS

FIX = [
    "error: no such table: users",
    "fatal: 'main' is already used by worktree at '/x'",
    "ModuleNotFoundError: No module named 'yaml'",
    "src/a.ts(3,1): error TS2304: Cannot find name 'x'.",
    "error[E0433]: failed to resolve: use of undeclared crate",
    "bash: foo: command not found",
    "panic: runtime error: index out of range",
    "npm ERR! missing script: buidl",
    "Traceback (most recent call last):\n  File x\nKeyError: 'id'",
    "java.lang.NullPointerException: Cannot invoke x on null",
]
HOW = [
    "go test ./...",
    "cargo test",
    "npm run build",
    "mise run test:ci",
    "pytest -q tests/a.py",
    "make -C docs/",
    "bun run lint:fix",
]
NEITHER = [
    "go test failures",
    "error handling in the parser",
    "error: typo",
    "why does cargo test hang",
    "cargo test hangs on CI",
    "make it faster",
    "make changes to the docs",
    "npm run build is slow",
    "go away",
    "panic button in the header",
    "fatal flaw of the design",
    "note: the error page is missing",
    "the error: message is wrong in the dialog",
    "exception for admins: no limit",
    "pytest",
    "invalid theme crash startup error handling",
    "decision: use errors as values",
]


@pytest.mark.parametrize("text", FIX)
def test_an_error_is_for_fix(text: str) -> None:
    assert (better(text) or "").endswith("sesame fix ERROR")
    assert any(mark in text for mark in ERRORS), "the engine does not ask"


@pytest.mark.parametrize("text", HOW)
def test_a_command_is_for_how(text: str) -> None:
    assert better(text) == f"A command: for how it was run: sesame how {text}"
    assert text.split()[0] in PROGRAMS.split(), "the engine does not ask"


@pytest.mark.parametrize("text", NEITHER)
def test_a_query_in_words_has_no_hint(text: str) -> None:
    assert better(text) is None


def test_the_engine_knows_the_programs() -> None:
    assert set(PROGRAMS.split()) == RUNNING.keys()


def test_no_labelled_query_is_taken_for_an_error_or_a_command() -> None:
    file = Path(os.environ.get("SESAME_SHARED", "/nowhere")) / "eval" / "queries-dev.jsonl"
    if not file.exists():
        pytest.skip("the labelled queries are not here")
    queries = [json.loads(line)["query"] for line in file.read_text(encoding="utf-8").splitlines()]
    assert [query for query in queries if better(query)] == []
