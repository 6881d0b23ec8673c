"""Forks and directories under other names are as private as what they come from, in whatever order they are read."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path
from typing import Any

import pytest

from sesame_core.config import paths

from ..support.transcripts import Claude, Pi, write
from .test_team_database import levels, seen, text_of

pytestmark = pytest.mark.once

ROOT, FORK, GRAND = (f"{n}aaaaaaa-1111-4111-8111-111111111111" for n in (4, 5, 6))


def fork(name: str, of: str, cwd: str) -> Path:
    made = Claude(name, cwd)
    copied = made.user("a copied pelican", forkedFrom={"sessionId": of, "messageUuid": "1"})
    return write(made.path, copied, made.user("a pelican"))


def root() -> Path:
    made = Claude(ROOT, "/home/bo/secret")
    return write(made.path, made.user("a pelican"))


MAKING = (root, lambda: fork(FORK, ROOT, "/home/bo/one"), lambda: fork(GRAND, FORK, "/home/bo/two"))


@pytest.mark.parametrize("level", ["private", "metadata"])
@pytest.mark.parametrize("order", [*itertools.permutations(range(3))])
def test_a_fork_of_a_fork_is_as_private_as_its_root_when_each_is_read_by_a_run_of_its_own(
    order: tuple[int, ...],
    level: str,
    cli: Any,
    team: str,
) -> None:
    cli("share", "/home/bo/secret", level)
    cli("index", "--yes")
    for number in order:
        MAKING[number]()
        cli("index")
    cli("search", "anything")  # reads again what was narrowed
    assert seen(text_of(team), "pelican") == set()
    assert {levels(team).get(name) for name in (ROOT, FORK, GRAND)} == {None if level == "private" else level}


def test_a_fork_is_private_when_another_copy_of_its_parent_is_in_an_open_directory(
    cli: Any,
    team: str,
) -> None:
    cli("share", "/home/bo/secret", "private")
    parent, copy, child = (
        Pi(ROOT, "/home/bo/secret"),
        Pi(ROOT, "/home/bo/open"),
        Pi(FORK, "/home/bo/one"),
    )
    write(parent.path, parent.header(), parent.user("a heron"))
    cli("index", "--yes")
    os.utime(write(copy.path, copy.header(), copy.user("a cormorant")), (1, 1))
    write(child.path, child.header(parentSession=str(parent.path)), child.user("a pelican"))
    cli("index")
    assert seen(text_of(team), "pelican", "heron") == set()


@pytest.mark.parametrize("pattern", ["~/link", "~/real", "~/link/*"])
def test_a_rule_reaches_a_directory_under_both_names_of_a_symbolic_link(
    pattern: str,
    cli: Any,
    team: str,
) -> None:
    (Path.home() / "real" / "diary").mkdir(parents=True)
    (Path.home() / "link").symlink_to(Path.home() / "real")
    cli("share", pattern, "private")
    for name, place in ((ROOT, "link"), (FORK, "real")):
        made = Claude(name, str(Path.home() / place / "diary"))
        write(made.path, made.user("a pelican"))
    cli("index", "--yes")
    assert seen(text_of(team), "pelican") == set()


TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.mark.parametrize("how", ["share", "share later", "exclude"])
@pytest.mark.parametrize(
    ("name", "pattern"),
    [("CUST-1", "~/CUST-1"), ("CUST-1", "CUST-1"), ("CUST-1", "*/CUST-*"), (TOKEN, f"~/{TOKEN}")],
)
def test_a_rule_reaches_a_directory_whose_name_is_redacted(
    name: str, pattern: str, how: str, cli: Any, team: str
) -> None:
    config = json.loads(paths.config_file().read_text()) | {"redact": {"patterns": {"customer": "CUST-[0-9]+"}}}
    if how == "exclude":
        config["sources"] = [{"parser": "claude-code", "exclude": [pattern]}]
    paths.config_file().write_text(json.dumps(config))
    made = Claude(ROOT, str(Path.home() / name))
    # Claude Code's own name of the directory would be excluded, too.
    write(Path.home() / ".claude" / "projects" / "-x" / f"{ROOT}.jsonl", made.user("a pelican"))
    if how == "share later":
        cli("index", "--yes")
        assert seen(text_of(team), "pelican") != set()
    if how != "exclude":
        cli("share", pattern, "private")
    cli("index", "--yes")
    assert seen(text_of(team), "pelican") == set()
    if how != "exclude":
        assert "1 private" in cli("share").out
