"""Which sessions a source leaves out."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from sesame_core.config.patterns import can_match, is_excluded

FILE = Path("/home/ada/.claude/projects/-home-ada-loom/0f3c.jsonl")
CWD = "/home/ada/clients/acme/loom"


@pytest.mark.parametrize(
    "pattern",
    [
        CWD,
        "/home/ada/clients",
        "/home/ada/clients/",
        "/home/ada/clients/*",
        "*/clients/acme",
        "*acme*",
        "acme",
        "ac?e",
        "[a-c]cme",
        "loo*",
        str(FILE),
        str(FILE.parent),
        "-home-ada-loom",
        "0f3c.jsonl",
        "*.jsonl",
    ],
)
def test_a_pattern_that_fits_a_path_a_directory_above_it_or_a_name_in_it_excludes(pattern: str) -> None:
    assert is_excluded((pattern,), FILE, CWD)
    assert is_excluded(["nothing", pattern], FILE, CWD)
    assert can_match(pattern)


@pytest.mark.parametrize(
    "pattern", ["/home/ada/client", "cme", "/clients", "loom/", "ACME", "/home/ada/clients/acm", "[d-z]cme"]
)
def test_a_pattern_that_fits_only_a_piece_of_a_name_does_not_exclude(pattern: str) -> None:
    excluded = is_excluded((pattern,), Path("/sessions/x.jsonl"), "/home/ada/clients/acme/looms")
    assert not excluded


@pytest.mark.parametrize("pattern", ["/", "//", "/*", "/w/[client]", "[client]", "/w/[client]/"])
def test_a_name_with_brackets_and_the_root_match_as_they_are(pattern: str) -> None:
    assert is_excluded([pattern], None, "/w/[client]/[id].ts")
    assert can_match(pattern)


@pytest.mark.parametrize("pattern", ["/w/[client", "/w/[cl]", "/w/client", "/w/[client]/[id]"])
def test_a_name_with_brackets_is_no_other_one(pattern: str) -> None:
    assert not is_excluded([pattern], None, "/w/[client]/[id].ts")


def test_a_tilde_is_the_home_directory(home: Path) -> None:
    assert is_excluded(["~/private"], None, str(home / "private/diary"))
    assert is_excluded(["~/priv*"], home / "private/x.jsonl", None)
    assert not is_excluded(["~/private"], Path("/elsewhere/private/x.jsonl"), "/private")


def test_names_in_composed_and_decomposed_form_are_the_same() -> None:
    name = "Übung"
    decomposed = unicodedata.normalize("NFD", name)
    assert decomposed != name
    assert is_excluded([name], None, f"/home/{decomposed}/x")
    assert is_excluded([decomposed], None, f"/home/{name}/x")


def test_a_session_without_directory_is_judged_by_its_file_alone() -> None:
    for cwd in (None, ""):
        assert not is_excluded(["acme", "", "."], FILE, cwd)
        assert is_excluded(["*.jsonl"], FILE, cwd)


def test_no_pattern_excludes_nothing() -> None:
    assert not is_excluded((), FILE, CWD)


@pytest.mark.parametrize("pattern", ["clients/acme", "", "./x"])
def test_a_pattern_that_can_fit_no_absolute_path_is_known(pattern: str) -> None:
    assert not can_match(pattern)
    assert not is_excluded([pattern], FILE, CWD)
