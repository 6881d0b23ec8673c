"""Private sessions stay private when a link or the file of the rules is not what it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sesame_core.sharing import rules

from ..support.transcripts import Claude, append, write
from .test_team_database import ONE, TWO, seen, text_of

pytestmark = pytest.mark.once


def said(session: str, cwd: Path, text: str) -> Path:
    made = Claude(session, str(cwd))
    return write(made.path, made.user(text))


@pytest.fixture
def places(home: Path) -> tuple[Path, Path]:
    """A directory, and a link that leads to it."""
    real, link = home / "vault", home / "link"
    real.mkdir()
    link.symlink_to(real)
    return real, link


@pytest.mark.parametrize("others", ["grow", "are new", "come with another rule"])
@pytest.mark.parametrize("change", ["is gone", "leads elsewhere"])
@pytest.mark.parametrize(("ruled", "worked"), [("link", "real"), ("real", "link")])
def test_what_was_private_by_a_link_stays_so_when_the_link_changes(
    ruled: str, worked: str, change: str, others: str, cli: Any, team: str, places: tuple[Path, Path]
) -> None:
    real, link = places
    named = {"real": real, "link": link}
    path = said(ONE, named[worked] / "plans", "a pelican")
    cli("share", str(named[ruled]), "private")
    cli("index", "--yes")
    assert seen(text_of(team), "pelican") == set()
    link.unlink()
    if change == "leads elsewhere":
        (real.parent / "open").mkdir()
        link.symlink_to(real.parent / "open")
    if others == "grow":
        append(path, Claude(ONE, str(named[worked] / "plans")).user("another pelican"))
    elif others == "are new" and worked == "real":
        said(TWO, real / "more", "a new pelican")
    elif others == "come with another rule":
        cli("share", "/home/bo/elsewhere", "private")
    assert cli("index").code == 0
    assert seen(text_of(team), "pelican") == set()


def test_a_link_that_leads_elsewhere_takes_its_rule_along(cli: Any, team: str, places: tuple[Path, Path]) -> None:
    real, link = places
    (real.parent / "open").mkdir()
    said(ONE, real.parent / "open", "a pelican")
    cli("share", str(link), "private")
    cli("index", "--yes")
    assert seen(text_of(team), "pelican") != set()
    link.unlink()
    link.symlink_to(real.parent / "open")
    assert cli("index").code == 0
    assert seen(text_of(team), "pelican") == set()


def test_a_former_name_of_a_rule_that_shares_shares_nothing(cli: Any, team: str, places: tuple[Path, Path]) -> None:
    real, link = places
    cli("share", "*", "private")
    cli("share", str(link), "shared")
    cli("index", "--yes")
    link.unlink()
    said(ONE, real, "a pelican")
    assert cli("index").code == 0
    assert seen(text_of(team), "pelican") == set()


@pytest.mark.parametrize("how", ["deleted", "a link to nothing"])
@pytest.mark.parametrize("command", [("index",), ("search", "otter"), ("share", "--dry-run")])
def test_rules_that_are_gone_send_nothing(how: str, command: tuple[str, ...], cli: Any, team: str, home: Path) -> None:
    said(ONE, home / "diary", "a pelican")
    cli("share", str(home / "diary"), "private")
    cli("index", "--yes")
    kept = home / "dotfiles"
    rules.file().rename(kept)
    if how == "a link to nothing":
        rules.file().symlink_to(home / "not" / "there")
    said(TWO, home / "work", "an otter")
    done = cli(*command)
    assert "sharing.json" in done.err + done.out
    assert seen(text_of(team), "pelican", "otter") == set()
    rules.file().unlink(missing_ok=True)
    kept.rename(rules.file())
    assert cli("index").code == 0
    assert seen(text_of(team), "pelican") == set()
    assert seen(text_of(team), "otter") != set()


def test_rules_are_made_anew_where_they_are_gone(cli: Any, team: str, home: Path) -> None:
    said(ONE, home / "diary", "a pelican")
    cli("share", str(home / "diary"), "private")
    cli("index", "--yes")
    rules.file().unlink()
    assert cli("index").code == 1
    assert cli("share", str(home / "diary"), "private").code == 0
    assert cli("index").code == 0
    assert seen(text_of(team), "pelican") == set()


@pytest.mark.parametrize("place", ["[client]", "a [b] c", "[!x]", "x?y*z"])
@pytest.mark.parametrize("how", ["by its name", "from within"])
def test_a_directory_whose_name_has_signs_of_patterns_is_private(
    place: str, how: str, cli: Any, team: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / place).mkdir()
    said(ONE, home / place, "a pelican")
    monkeypatch.chdir(home / place)
    assert cli("share", "." if how == "from within" else str(home / place), "private").code == 0
    cli("index", "--yes")
    assert seen(text_of(team), "pelican") == set()


def test_the_root_is_everything(cli: Any, team: str, home: Path) -> None:
    said(ONE, home / "diary", "a pelican")
    assert cli("share", "/", "private").err == ""
    cli("index", "--yes")
    assert seen(text_of(team), "pelican", "lighthouse") == set()


@pytest.mark.parametrize(
    "pattern",
    ["file:///home/bo/diary", "$HOME/diary", "/home/bo/Diary", "https://github.com/acme/x.git", "/home/bo/dairy"],
)
def test_a_rule_that_matches_nothing_says_so(pattern: str, cli: Any, team: str) -> None:
    told = f"note: no session of this machine matches {pattern} yet\n"
    assert cli("share", pattern, "private").err == told
    cli("index", "--yes")
    assert cli("share", pattern, "private").err == told
    assert cli("share", "/home/bo/diary", "private").err == ""
    assert cli("share", "/home/bo/diary", "private").err == ""
    assert cli("share", " /home/bo/client\n", "private").err == ""
    assert cli("share", "/home/bo/client", "default").err == ""
