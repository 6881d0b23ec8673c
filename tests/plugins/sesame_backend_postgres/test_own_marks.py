"""Marks of a person in an index that several share: their own, whichever workstation has the files."""

from __future__ import annotations

import shutil
from collections.abc import Callable

from .workstation import Workstation


def test_marks_follow_a_person_and_not_the_workstation_or_the_index(
    workstation: Callable[..., Workstation],
) -> None:
    desk, laptop = workstation("desk"), workstation("laptop")
    desk.write("otter-1", "why does the flake need so long", "it copies the whole tree")
    desk.ok("index")
    desk.ok("star", "otter-1")
    desk.ok("tag", "otter-1", "nix")
    mine = desk.found("is:starred")
    assert len(mine) == 1
    assert laptop.found("flake") == mine, "both see the session"
    assert laptop.found("is:starred") == laptop.found("tag:nix") == set(), "marks are one's own"
    desk.ok("index", "--full")
    assert desk.found("is:starred") == desk.found("tag:nix") == mine
    (desk.home / "sessions" / "otter-1.jsonl").rename(desk.home / "sessions" / "moved.jsonl")
    desk.ok("index")
    assert desk.found("is:starred") == mine
    # As a program that synchronises directories does it.
    (file,) = desk.home.rglob("*.marks.json")
    place = laptop.home / file.parent.relative_to(desk.home)
    place.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, place)
    assert laptop.found("is:starred") == laptop.found("tag:nix") == mine
    laptop.ok("star", "--remove", "otter-1")
    assert laptop.found("is:starred") == set()
    assert desk.found("is:starred") == mine
