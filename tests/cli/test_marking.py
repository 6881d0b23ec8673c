"""`sesame star`, `tag`, `rename` and `note`, as people type them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

BACKOFF = "d6bc0d35-ccec-43e4-a83f-b0efdb1ed801"
TITLE = "SQLite migration sets reconnectBackoff to zero"


@pytest.fixture
def run(indexed_sessions: Path, cli: Callable[..., Any]) -> Callable[..., Any]:
    return cli


def test_each_command_says_what_was_done_to_the_session(run: Any) -> None:
    named, renamed = f"{BACKOFF} (★ {TITLE})", f"{BACKOFF} (★ The storm)"
    assert run("star", "d6bc").out == f"starred: {named}\n"
    assert run("tag", "d6bc").out == f"no tags: {named}\n"
    assert run("note", "d6bc").out == f"no note: {named}\n"
    assert run("tag", "d6bc", "#nix", "a b", "NIX").out == f"tagged: {named} - nix, a b\n"
    assert run("rename", "d6bc", "The", "storm").out == f"renamed: {renamed}\n"
    assert run("note", "the storm", "ask", "Quagga").out == f"noted: {renamed} - ask Quagga\n"
    assert run("tag", "d6bc").out == f"tags: {renamed} - nix, a b\n"
    assert run("note", "d6bc").out == f"note: {renamed} - ask Quagga\n"
    assert run("tag", "d6bc", "--remove", "A B").out == f"tags removed: {renamed} - left: nix\n"
    assert run("tag", "d6bc", "--remove").out == f"tags removed: {renamed}\n"
    assert run("rename", "d6bc", "--remove").out == f"name removed: {named}\n"
    assert run("note", "d6bc", "--remove").out == f"note removed: {named}\n"
    assert run("star", "d6bc", "--remove").out == f"star removed: {BACKOFF} ({TITLE})\n"
    assert run("star", "d6bc", "--remove").code == 0


def test_several_sessions_are_starred_or_none(run: Any) -> None:
    assert run("star", "d6bc", "nobody").code == 1
    assert run("sessions", "--starred").out == "No sessions found\n\nNote: 9 sessions match without --starred\n"
    assert run("star", "d6bc", "01a1abe6").out.count("starred: ") == 2
    assert run("sessions", "--starred", "--json").json["total"] == 2
    assert run("search", "backoff", "--starred", "--json").json["total"] == 1


def test_lists_and_transcripts_show_marks(run: Any) -> None:
    run("star", "d6bc")
    run("tag", "d6bc", "nix")
    run("note", "d6bc", "first line\nsecond \x1b[31mline")
    for line in (("sessions", "--tag", "nix"), ("show", "d6bc")):
        out = run(*line).out
        assert f"(★ {TITLE})" in out
        assert "  tags: nix\n  note: first line second " in out
        assert "\x1b" not in out
    (one,) = run("sessions", "--starred", "--json").json["sessions"]
    assert (one["starred"], one["tags"], one["note"].split("\n")[0]) == (True, ["nix"], "first line")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (("tag", "d6bc", "--remove", "nix"), f"session {BACKOFF} has no tag 'nix': it has no tags"),
        (("tag", "d6bc", " # "), "' # ' is not a tag: use 1 to 60 characters"),
        (("rename", "d6bc"), "give the session a name, or take it away with --remove"),
        (("rename", "d6bc", "\x1b[0m \x07"), "'\\x1b[0m \\x07' is not a name: use 1 to 120 characters"),
        (("tag", "d6bc", "\x1b[0m#\x07"), "'\\x1b[0m#\\x07' is not a tag: use 1 to 60 characters"),
        (("note", "d6bc", "\x07"), "a note must have 1 to 8,000 characters, not 0"),
        (("rename", "d6bc", " "), "give the session a name, or take it away with --remove"),
        (("rename", "d6bc", "x", "--remove"), "give the session a name, or take it away with --remove"),
        (("note", "d6bc", " "), "give the session a note, or delete it with --remove"),
        (("note", "d6bc", "x", "--remove"), "give the session a note, or delete it with --remove"),
        (("note", "d6bc", "x" * 8001), "a note must have 1 to 8,000 characters, not 8,001"),
    ],
)
def test_what_cannot_be_a_mark_is_one_line_that_says_what_to_do(run: Any, line: tuple[str, ...], message: str) -> None:
    ran = run(*line)
    assert (ran.code, ran.out, ran.err) == (2, "", f"sesame: {message}\n")


def test_a_directory_that_cannot_be_written_is_named(run: Any, home: Path) -> None:
    (home / ".local/share/sesame/sessions-meta").write_text("a file")
    ran = run("star", "d6bc")
    assert ran.code == 1
    assert ran.err.startswith(f"sesame: cannot write to {home}/.local/share/sesame/sessions-meta: ")
    assert ran.err.count("\n") == 1


def test_an_empty_list_of_starred_sessions_names_the_switch_beside_other_marks(run: Any) -> None:
    run("tag", "d6bc", "nix")
    assert run("sessions", "--starred").out == "No sessions found\n\nNote: 9 sessions match without --starred\n"


@pytest.mark.parametrize(
    "line", [("--tag", "#nix"), ("--tag", " #Nix "), ("tag:#nix",), ('tag:"# nix"',), ("backoff", "tag:#nix")]
)
def test_a_tag_is_found_with_the_hash_before_it(run: Any, line: tuple[str, ...]) -> None:
    run("tag", "d6bc", "nix")
    assert run("search", *line, "--json").json["total"] == 1
