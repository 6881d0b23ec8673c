"""Answers from a team's index: whose sessions they are, and how many show only their metadata."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sesame_core import Filters, Selection, Sesame, Source
from sesame_core.config import identity
from sesame_core.config.model import Config
from sesame_core.rendering.digests import digest_json, digest_text
from sesame_core.rendering.knowing import who_json, who_text

from ..support.transcripts import START, Claude, write


def edited(name: str, cwd: str, *, days: int = 0) -> Path:
    s = Claude(name, cwd=cwd, start=START + timedelta(days=days))
    return write(
        s.path,
        s.user(f"the plan of {name}"),
        s.call("Write", file_path=f"{cwd}/src/a.py", content="x"),
        s.result("ok"),
        s.answer(f"{name} is done"),
    )


@pytest.fixture
def team(home: Path, database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sesame]:
    """Sesame of ann, after bo has indexed his sessions, too, some of which show only their metadata."""
    root = home / ".claude" / "projects"
    config = Config(
        sources=(Source(parser=Selection(name="claude-code"), path=root),),
        backend=Selection(name="postgres", options={"dsn": database}),
    )
    for owner, names in (("bo", ("bo-open", "bo-closed")), ("ann", ("ann-1", "ann-2"))):
        monkeypatch.setattr(identity, "owner", lambda owner=owner: owner)
        monkeypatch.setenv("SESAME_WORKSTATION_ID", owner)
        for path in root.rglob("*.jsonl"):
            path.unlink()
        for day, name in enumerate(names):
            edited(name, f"/w/{name}/fox" if name == "bo-closed" else "/w/fox", days=day)
        with Sesame(config) as sesame:
            sesame.team.share("/w/bo-closed/*", "metadata")
            sesame.index()
    with Sesame(config) as sesame:
        yield sesame


def test_a_team_s_answers_name_people_and_count_what_is_withheld(team: Sesame, utc: None) -> None:
    found = team.who("src/a.py")
    assert [(p.owner, p.changes, len(p.sessions)) for p in found.people] == [("ann", 2, 2), ("bo", 1, 1)]
    assert found.withheld == 1
    text = who_text(found, {})
    assert text.splitlines()[0] == "src/a.py: changed in 3 sessions"
    assert "  ann · claude-code: 2 changes in 2 sessions, 2026-08-01 to 2026-08-02" in text.splitlines()
    assert "Of 1 session only metadata is visible: whether they worked on it is not known." in text
    assert who_json(found)["withheld"] == 1
    assert team.who("src/a.py", Filters(owner="ann")).withheld == 0
    # Nothing of the texts of that session is told, and it is not hidden either.
    digest = team.digest(Filters(after=START), by="person")
    assert {(group.name, group.sessions) for group in digest.groups} == {("ann", 2), ("bo", 2)}
    assert (digest.sessions, digest.withheld) == (4, 1)
    (closed,) = (e for group in digest.groups for e in group.entries if e.stored.session.id == "bo-closed")
    assert closed.is_withheld
    assert (closed.asked, closed.concluded, closed.changed) == (None, None, ())
    told = digest_text(digest, {})
    assert "  only metadata is visible (bo-closed) - claude-code" in told
    assert "plan of bo-closed" not in told
    assert "Of 1 session only metadata is visible: what happened in them is not known." in told
    value = digest_json(digest)
    assert value["withheld"] == 1
    assert [s["name"] for g in value["groups"] for s in g["sessions"] if s["withheld"]] == [None]
    # A project's digest names the people in it.
    (fox,) = (group for group in team.digest(Filters(after=START)).groups if group.name == "/w/fox")
    assert set(fox.owners) == {"ann", "bo"}
