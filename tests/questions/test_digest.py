"""What happened in a period, on every backend."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Filters, Sesame
from sesame_core.questions import entries as entries_module
from sesame_core.rendering.digests import digest_json, digest_text, ids_of
from sesame_core.types.knowing import Digest, DigestEntry

from ..support.every_backend import BACKENDS, opened
from ..support.transcripts import START, Claude, Pi, in_index, sources, write

SINCE = Filters(after=START + timedelta(hours=-1))
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def work(name: str, cwd: str, prompt: str, answer: str, *, hours: float = 0, **more: Any) -> None:
    """Write a session: a prompt, an edit, a command that fails, an answer, and what else is given."""
    s = Claude(name, cwd=cwd, start=START + timedelta(hours=hours))
    records = [
        s.user(prompt),
        s.call("Edit", "c1", file_path=f"{cwd}/src/{name}.py", old_string="a", new_string="b"),
        s.result("ok", "c1"),
        s.call("Bash", "c2", command="make test"),
        s.result("error: 3 failed", "c2", is_error=True),
        s.answer(answer),
        *([s.user(more["last"])] if "last" in more else []),
    ]
    write(s.path, *records)


@pytest.fixture(params=BACKENDS)
def indexed(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> Iterator[Sesame]:
    work("old", "/w/fox", "long before", "was done", hours=-30)
    work("fox-1", "/w/fox", "make the fox quick", "## Done\n\nThe **fox** is quick.", hours=1)
    work("fox-2", "/w/fox", f"use {SECRET} for the den", "Done.", hours=2, last="and the vixen too")
    work("owl-1", "/w/owl", "teach the owl to count", "It counts.", hours=26)
    pi = Pi("pi-1", cwd="/w/owl", start=START + timedelta(hours=3))
    write(pi.path, pi.header(), pi.user("feed the owl"), pi.answer("It ate."))
    run = Claude("run", cwd="/w/fox", start=START + timedelta(hours=4))
    write(run.path, run.user("nightly", entrypoint="sdk-py"), run.answer("ran", entrypoint="sdk-py"))
    side = Claude("fox-1", cwd="/w/fox", start=START + timedelta(hours=1))
    below = [{**record, "isSidechain": True, "agentId": "a1"} for record in (side.user("help"), side.answer("helped"))]
    write(side.path.parent / "fox-1" / "subagents" / "agent-a1.jsonl", *below)
    # It lasts from before the period into it.
    long = Claude("long", cwd="/w/bear", start=START + timedelta(hours=-1, seconds=-2, milliseconds=-500))
    write(long.path, long.user("before the period"), long.answer("quoted nowhere"), long.user("sleep all winter"))
    with opened(request, tmp_path, *sources(home)) as sesame:
        sesame.index()
        yield sesame


def entries(found: Digest) -> dict[str, DigestEntry]:
    return {entry.stored.session.id: entry for group in found.groups for entry in group.entries}


def test_a_period_is_told_by_project_person_and_day(indexed: Sesame, utc: None) -> None:
    """One test: a database for each question would take a second each."""
    found = indexed.digest(SINCE)
    assert [(group.name, group.sessions) for group in found.groups] == [("/w/owl", 2), ("/w/fox", 2), ("/w/bear", 1)]
    assert (found.sessions, found.shown, found.withheld, found.latest) == (5, 5, 0, None)
    assert (found.headless, found.subagents) == (1, 1), "counted, and not listed"
    told = entries(found)
    fox = told["fox-1"]
    assert fox.asked
    assert fox.concluded
    assert (fox.asked.text, fox.asked.position) == ("make the fox quick", 0)
    assert (fox.concluded.text, fox.concluded.position) == ("Done The fox is quick.", 5)
    assert [p.text for p in fox.changed] == ["src/fox-1.py"], "below the session's directory"
    assert [p.text for p in fox.failed] == ["$ make test: error: 3 failed"]
    assert not fox.open
    assert [p.text for p in told["fox-2"].open] == ["the last request has no answer"]
    assert told["fox-2"].prompts == 2
    assert SECRET not in str(told), "secrets are replaced"
    # What was said before the period is not of it.
    long = told["long"]
    assert long.asked
    assert long.asked.text == "sleep all winter"
    assert (long.prompts, long.concluded) == (1, None)
    # By person, and by day.
    (person,) = indexed.digest(SINCE, by="person").groups
    assert (person.sessions, len(person.entries)) == (5, 5)
    days = indexed.digest(SINCE, by="day").groups
    assert [(group.name, group.sessions) for group in days] == [("2026-08-02", 1), ("2026-08-01", 4)]
    # Filters hold.
    assert set(entries(indexed.digest(Filters(after=SINCE.after, agents=("pi",))))) == {"pi-1"}
    until = Filters(after=SINCE.after, before=START + timedelta(hours=2, minutes=-1))
    assert set(entries(indexed.digest(until))) == {"fox-1", "long"}
    # Within a bound each project has its latest session, and the others are counted.
    short = indexed.digest(SINCE, max_bytes=1_500)
    assert {group.name for group in short.groups if group.entries} == {"/w/owl", "/w/fox", "/w/bear"}
    assert short.shown < short.sessions == 5
    text = digest_text(short, {})
    assert len(text.encode()) < 1_700
    assert "more session" in text
    # Nothing happened: said so, with when something did.
    empty = indexed.digest(Filters(after=START + timedelta(days=30)))
    assert digest_text(empty, {}).startswith(
        "No session since 2026-08-31 10:00; the latest one was last active 2026-08-02"
    )
    assert digest_json(empty)["sessionCount"] == 0


def test_a_digest_is_text_markdown_and_json(indexed: Sesame, utc: None) -> None:
    found = indexed.digest(Filters(after=SINCE.after, cwd="/w/fox"))
    short = indexed.abbreviations(ids_of(found))
    assert digest_text(found, short).splitlines() == [
        "2 sessions since 2026-08-01 09:00, 1 project (and 1 subagent, 1 headless run)",
        "",
        f"/w/fox · 2 sessions{_owner(found)}",
        *digest_text(found, short).splitlines()[3:8],
        "  make the fox quick (fox-1) - claude-code · 2026-08-01 11:00 · 1 prompt",
        "    concluded: Done The fox is quick. (fox-1:5)",
        "    changed: src/fox-1.py",
        "    failed: $ make test: error: 3 failed (fox-1:3)",
    ]
    markdown = digest_text(found, short, is_markdown=True)
    assert "\n## /w/fox" in markdown
    assert "- **make the fox quick** (`fox-1`): claude-code · 2026-08-01 11:00 · 1 prompt\n" in markdown
    value = digest_json(found)
    (group,) = value["groups"]
    assert group["sessions"][1]["changed"] == [{"position": 1, "text": "src/fox-1.py"}]
    assert (value["headless"], value["subagents"], value["sessionCount"]) == (1, 1, 2)


def _owner(found: Digest) -> str:
    return "".join(f" · {owner}" for owner in found.groups[0].owners)


def test_markdown_of_sessions_is_harmless(home: Path) -> None:
    work("evil", "/w/<b>", "look ![x](http://evil/p.png) <script>alert(1)</script>", "see [here](http://evil) \x1b[31m")
    with in_index(home) as sesame:
        text = digest_text(sesame.digest(SINCE), {}, is_markdown=True)
    assert "<script" not in text
    assert "<b>" not in text
    assert "\x1b" not in text
    assert "![" not in text
    assert " [here]" not in text


def test_of_a_very_long_session_the_beginning_and_the_end_are_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    s = Claude("long")
    middle = [record for n in range(40) for record in (s.user(f"prompt {n}"), s.answer(f"answer {n}"))]
    first = Claude("long").user("what this is about")
    write(s.path, first, *middle, s.user("and finally this"), s.answer("all of it is done"))
    monkeypatch.setattr(entries_module, "FIRST", 2)
    monkeypatch.setattr(entries_module, "LAST", 6)
    with in_index(home) as sesame:
        (entry,) = entries(sesame.digest(SINCE)).values()
    assert entry.asked
    assert entry.concluded
    assert (entry.asked.text, entry.concluded.text) == ("what this is about", "all of it is done")


def test_many_projects_are_named_where_they_have_no_room(home: Path) -> None:
    for number in range(30):
        work(
            f"s-{number:02}", f"/w/project-{number:02}", "do what is to be done here", "It is done.", hours=number / 10
        )
    with in_index(home) as sesame:
        found = sesame.digest(SINCE, max_bytes=2_000)
        text = digest_text(found, {})
        assert (found.sessions, len(found.groups)) == (30, 30)
        assert 3 <= found.shown <= 10
        assert "30 sessions since" in text
        assert f"… and {30 - found.shown} more projects: /w/project-" in text
        assert len(text.encode()) < 2_900
        # The latest come first.
        assert found.groups[0].name == "/w/project-29"


def test_a_subagent_that_ran_last_does_not_put_its_project_first(home: Path) -> None:
    work("fox-1", "/w/fox", "make the fox quick", "It is quick.", hours=1)
    work("owl-1", "/w/owl", "teach the owl to count", "It counts.", hours=2)
    side = Claude("fox-1", cwd="/w/fox", start=START + timedelta(hours=3))
    below = [{**record, "isSidechain": True, "agentId": "a1"} for record in (side.user("help"), side.answer("helped"))]
    write(side.path.parent / "fox-1" / "subagents" / "agent-a1.jsonl", *below)
    with in_index(home) as sesame:
        found = sesame.digest(SINCE)
        assert [(group.name, group.subagents) for group in found.groups] == [("/w/owl", 0), ("/w/fox", 1)]


def test_a_period_with_a_headless_run_and_a_subagent_says_when_the_last_session_was(home: Path, utc: None) -> None:
    work("fox-1", "/w/fox", "make the fox quick", "It is quick.", hours=-30)
    run, side = (Claude(name, cwd="/w/fox", start=START) for name in ("run", "fox-1"))
    write(run.path, run.user("nightly", entrypoint="sdk-py"), run.answer("ran", entrypoint="sdk-py"))
    below = [{**record, "isSidechain": True, "agentId": "a1"} for record in (side.user("help"), side.answer("helped"))]
    write(side.path.parent / "fox-1" / "subagents" / "agent-a1.jsonl", *below)
    with in_index(home) as sesame:
        assert digest_text(sesame.digest(SINCE), {}).startswith(
            "No session since 2026-08-01 09:00 (and 1 subagent, 1 headless run); "
            "the latest one was last active 2026-07-31 04:00"
        )


def test_sessions_of_nobody_and_of_no_directory_have_a_group(home: Path) -> None:
    s = Claude("nowhere", cwd="")
    records = [{**record, "cwd": None} for record in (s.user("where am I"), s.answer("nowhere"))]
    write(home / ".claude" / "projects" / "x" / "nowhere.jsonl", *records)
    with in_index(home) as sesame:
        assert "(no directory) · 1 session" in digest_text(sesame.digest(SINCE), {})


def test_what_was_abandoned_is_not_told(home: Path) -> None:
    """The user went back and took another way."""
    s = Claude("rewound")
    start = [s.user("paint the fence"), s.answer("in which colour?")]
    fork = s.last
    wrong = [s.user("red please"), s.call("Write", "c1", file_path="/home/bo/fox/red.py", content="x"), s.answer("red")]
    s.last = fork
    right = [
        s.user("blue then"),
        s.call("Write", "c2", file_path="/home/bo/fox/blue.py", content="x"),
        s.answer("blue"),
    ]
    write(s.path, *start, *wrong, *right)
    with in_index(home) as sesame:
        (entry,) = entries(sesame.digest(SINCE)).values()
        assert entry.concluded
        assert entry.concluded.text == "blue"
        assert [point.text for point in entry.changed] == ["blue.py"]
