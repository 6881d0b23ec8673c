"""A session belongs to every directory that it was in, under each of its names, on every backend."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Filters, QueryError, Sesame, Session
from sesame_core.indexing.session_facts import learn
from sesame_core.types.transcript import DIRECTORIES

from ..support.transcripts import Claude, found, write

IDS = [f"{n}{n}{n}{n}{n}{n}{n}{n}-1111-4111-8111-111111111111" for n in range(1, 7)]
LINKED, REAL, WINDOWS, MOVED, TREE, OTHER = IDS


@pytest.fixture
def places(home: Path) -> Path:
    """Six sessions about cherries: in a directory and behind a link to it, of Windows, moved, in a worktree."""
    (home / "real" / "app" / "src").mkdir(parents=True)
    (home / "link").symlink_to(home / "real")
    main = home / "main"
    main.mkdir()
    for command in ("init -q", "commit -q --allow-empty -m first", "worktree add -q ../tree"):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *command.split()],
            cwd=main,
            check=True,
            capture_output=True,
        )
    where = {
        LINKED: [home / "link" / "app" / "src"],
        REAL: [home / "real" / "app"],
        WINDOWS: ["C:\\Users\\Ann\\Api"],
        MOVED: [home / "old", home / "new"],
        TREE: [home / "tree" / "src"],
        OTHER: [home / "other"],
    }
    for session, directories in where.items():
        claude = Claude(session, cwd=str(directories[0]))
        records = [{**claude.user(f"cherry {place}"), "cwd": str(place)} for place in directories]
        write(claude.path, *records)
    with Sesame() as sesame:
        assert sesame.index().added == 6
    return home


CASES = [
    ("~/real/app", {LINKED, REAL}),
    ("~/link/app", {LINKED, REAL}),
    ("~/link", {LINKED, REAL}),
    ("~/real/app/src", {LINKED}),
    ("~/real/../real/app/", {LINKED, REAL}),
    ("~/old", {MOVED}),
    ("~/new", {MOVED}),
    ("~/main", {TREE}),
    ("~/main/src", {TREE}),
    ("~/tree", {TREE}),
    (r"C:\Users\Ann\Api", {WINDOWS}),
    ("c:/users/ann", {WINDOWS}),
    ("/mnt/c/Users/Ann/Api", {WINDOWS}),
    ("~/ne", set()),
]


@pytest.mark.parametrize(("directory", "expected"), CASES)
def test_a_session_is_found_by_every_name_of_every_directory(
    directory: str, expected: set[str], places: Path, cli: Callable[..., Any]
) -> None:
    found_by = [
        cli("search", "cherry", "--cwd", directory, "--json").json["results"],
        cli("search", f'cherry cwd:"{directory}"', "--json").json["results"],
        cli("sessions", "--cwd", directory, "--json").json["sessions"],
        cli("search", "cherry", "--in", directory, "--json").json["results"],
        cli("search", f'cherry in:"{directory}"', "--json").json["results"],
        cli("sessions", "--in", directory, "--json").json["sessions"],
    ]
    assert [{one["sessionId"] for one in each} for each in found_by] == [expected] * 6
    without = cli("search", f'cherry NOT cwd:"{directory}"', "--json", "-n", 9).json["results"]
    assert {one["sessionId"] for one in without} == set(IDS) - expected
    with Sesame() as sesame:
        filters = Filters(cwd=directory.replace("~", str(places)).rstrip("/").replace("/real/..", ""))
        assert set(found(sesame.search("cherry", filters))) == expected


@pytest.mark.parametrize(("present", "expected"), [("main", {TREE}), ("tree", {TREE}), ("link/app", {LINKED, REAL})])
def test_here_are_all_checkouts_under_all_their_names(
    present: str, expected: set[str], places: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(places / present)
    for command in (
        ("search", "cherry", "--here"),
        ("search", "cherry is:here"),
        ("search", "cherry", "--cwd", "."),
        ("search", "cherry in:here"),
        ("search", "cherry", "--in", "."),
    ):
        assert {one["sessionId"] for one in cli(*command, "--json").json["results"]} == expected


def test_the_directories_of_a_session_are_in_its_json(places: Path, cli: Callable[..., Any]) -> None:
    shown = cli("show", MOVED, "--json").json
    assert (shown["cwd"], shown["directories"]) == (str(places / "old"), [str(places / "new")])
    assert cli("show", OTHER, "--json").json["directories"] == []


def test_facts_that_a_parser_finds_late_add_directories() -> None:
    session = Session(id="s", agent="xyz")
    learn(session, Session(id="s", agent="xyz", cwd="/a"))
    learn(session, Session(id="s", agent="xyz", directories=("/b", "/a", "")))
    assert (session.cwd, session.directories) == ("/a", ("/b",))
    learn(session, Session(id="s", agent="xyz", cwd="/c"))
    assert (session.cwd, session.places) == ("/c", ("/c", "/a", "/b"))
    learn(session, Session(id="s", agent="xyz", directories=tuple(f"/{n}" for n in range(999))))
    assert len(session.directories) == DIRECTORIES


def test_no_directory_is_still_an_error(places: Path) -> None:
    from sesame_core.query.fields import gathered

    assert gathered({"cwd": ""}) == Filters()
    with pytest.raises(QueryError):
        gathered({"cwd": " "})
