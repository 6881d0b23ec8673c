"""Fixes, commands and lines, in an index that a team shares: of others' sessions, and not of those that they keep."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core.config import identity

from ..sharing.test_team_database import configure
from ..support.worked import asks, edits, runs, says, write

FAILED = "error: failed to push some refs to 'example.org:ann/app.git'"
STEPS = [
    asks("push"),
    runs("git push", FAILED, fails=True),
    says("The branch is behind, because somebody else pushed."),
    edits("notes.txt", "a", "b"),
    runs("git push", "done"),
    says("Pushed."),
]


def test_sessions_whose_texts_are_not_shared_are_counted(home: Path, database: str, cli: Callable[..., Any]) -> None:
    configure(database, share="metadata", sources=[{"parser": "sesame", "path": str(home / "in")}])
    write(home / "in", "s1", STEPS, cwd=str(home / "work"))
    assert cli("index", "--yes").code == 0
    value = cli("fix", FAILED, "--json").json
    assert (value["fixes"], value["occurrences"], value["withheld"], value["searched"]) == ([], 0, 1, 1)
    out = cli("fix", FAILED).out
    assert out.startswith("Nothing is known about")
    assert "Not searched: 1 session whose texts their owners do not share" in out
    assert cli("how", "git push", "--json").json["withheld"] == 1


def test_a_session_in_the_repository_whose_text_is_not_shared_is_counted_once(
    home: Path, database: str, cli: Callable[..., Any]
) -> None:
    root, remote = home / "fox", "example.org/ann/fox"
    configure(database, share="metadata", sources=[{"parser": "sesame", "path": str(home / "in")}])
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "config").write_text(f'[remote "origin"]\n\turl = https://{remote}.git\n', encoding="utf-8")
    (root / "notes.txt").write_text("nobody is known to have written this\n", encoding="utf-8")
    write(home / "in", "here", STEPS, cwd=str(root))
    write(home / "in", "both", STEPS, cwd=str(root), repository=remote)
    write(home / "in", "else", STEPS, cwd="/code/elsewhere", repository=remote)
    write(home / "in", "none", STEPS, cwd="/code/owl", repository="example.org/ann/owl")
    assert cli("index", "--yes").code == 0
    assert cli("blame", str(root / "notes.txt"), "--json").json["withheld"] == 3


def test_a_fix_of_somebody_else_has_the_name(
    home: Path,
    database: str,
    cli: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    configure(database, sources=[{"parser": "sesame", "path": str(home / "in")}])
    write(home / "in", "s1", STEPS, cwd="/code/app")
    assert cli("index", "--yes").code == 0
    mine = cli("fix", FAILED, "--no-refresh").out
    monkeypatch.setenv("LOGNAME", "somebody-else")
    identity.owner.cache_clear()
    request.addfinalizer(identity.owner.cache_clear)
    theirs = cli("fix", FAILED, "--no-refresh").out
    (owner,) = {fix["owner"] for fix in cli("fix", FAILED, "--no-refresh", "--json").json["fixes"]}
    assert f", {owner} · /code/app" in theirs
    assert owner not in mine.partition("·")[0]
