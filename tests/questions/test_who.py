"""Who worked on a file, a directory or a topic, on every backend."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sesame_backend_sqlite.reader import SqliteReader
from sesame_core import Filters, Sesame
from sesame_core.questions import mentions
from sesame_core.rendering.knowing import ids_of, who_json, who_text
from sesame_core.types.index import ScoredChunk
from sesame_core.types.knowing import Who
from sesame_core.types.query import Word

from ..support.every_backend import BACKENDS, opened
from ..support.transcripts import START, Claude, Pi, in_index, sources, write


def session(name: str, *records: tuple[Any, ...], cwd: str = "/w/fox", day: int = 0, kind: type = Claude) -> None:
    """Write a session of Claude Code, or of pi: prompts, and calls with their arguments and whether they fail."""
    s = kind(name, cwd=cwd, start=START + timedelta(days=day))
    written = [s.header()] if kind is Pi else []
    for number, (tool, arguments, *failed) in enumerate(records):
        if tool == "user":
            written.append(s.user(arguments))
            continue
        written.append(s.call(tool, f"c{number}", **arguments))
        is_error = bool(failed)
        if kind is Pi:
            written.append(s.result("done", tool, f"c{number}"))
        else:
            written.append(s.result("no" if is_error else "done", f"c{number}", is_error=is_error))
    write(s.path, *written)


def edit(path: str) -> tuple[Any, ...]:
    return "Edit", {"file_path": path, "old_string": "a", "new_string": "b"}


def shell(command: str) -> tuple[Any, ...]:
    return "Bash", {"command": command}


ASKED = ("user", "please change the fox")


#: Names of files that consist of few words, of common ones, or of none.
ODD = (
    *("__init__.py", ".env", "it.ts", "the", "a.b.c.tar.gz", "日記.md", "Übung straße.py", "naïve.py", "🐝.txt", "x"),
    *("[id].tsx", "$types.d.ts", "C++.md", "50%_done.md", "o'neil.txt", "-dash.py", "CamelCaseName.java", "v1.2.3.md"),
)


@pytest.fixture(params=BACKENDS)
def indexed(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> Iterator[Sesame]:
    session("edited-2", ASKED, edit("/w/fox/src/a.py"), edit("/w/fox/src/a.py"), day=2)
    session("edited-1", ASKED, edit("/w/fox/src/a.py"), ("Read", {"file_path": "/w/fox/src/b.py"}), day=1)
    session("reading", ASKED, ("Read", {"file_path": "/w/fox/src/a.py"}), day=3)
    session("failing", ASKED, (*edit("/w/fox/src/a.py"), True), day=4)
    session("shell", ASKED, shell("cd src && sed -i s/a/b/ c.py"), shell("cat src/c.py"), day=5)
    session("removing", ASKED, shell("rm src/c.py"), day=6)
    session("windows", ASKED, edit("C:\\w\\fox\\win\\d.py"), cwd="C:\\w\\fox", day=7)
    session("pi-session", ASKED, ("edit", {"path": "/w/fox/src/b.py", "oldText": "a", "newText": "b"}), kind=Pi, day=8)
    session("odd-names", ASKED, *(edit(f"/w/odd/{name}") for name in ODD), cwd="/w/odd", day=11)
    session("talking", ("user", "the aardvark eats src/e.py and ants"), day=9)
    session("other-a", ASKED, edit("/w/owl/lib/a.py"), cwd="/w/owl", day=10)
    with opened(request, tmp_path, *sources(home)) as sesame:
        assert sesame.index().added == 11
        yield sesame


def sessions(found: Who) -> list[tuple[str, int, int]]:
    return [(one.stored.session.id, one.changes, one.reads) for p in found.people for one in p.sessions]


@pytest.mark.once
def test_a_history_answers_who_worked_on_something(indexed: Sesame, utc: None) -> None:
    """One test: a database for each question would take a second each."""
    # A file: those that changed it, the latest first, then those that read it; a failed edit changes nothing.
    found = indexed.who("src/a.py")
    assert sessions(found) == [("edited-2", 2, 0), ("edited-1", 1, 0), ("reading", 0, 1)]
    assert (found.subject, found.is_truncated, found.withheld) == ("file", False, 0)
    (person,) = found.people
    assert (person.agents, person.changes, person.changing, person.reads) == (("claude-code",), 3, 2, 1)
    assert person.sessions[0].position == 3, "the last change"
    # Under any end of its path, and with either slash.
    assert sessions(indexed.who("fox/src/a.py")) == sessions(indexed.who("/w/fox/src/a.py")) == sessions(found)
    assert sessions(indexed.who("a.py")) == [("other-a", 1, 0), *sessions(found)]
    assert sessions(indexed.who("win/d.py")) == sessions(indexed.who("win\\d.py")) == [("windows", 1, 0)]
    assert sessions(indexed.who("C:\\w\\fox\\win\\d.py")) == [("windows", 1, 0)]
    # What only a shell did to it.
    assert sessions(indexed.who("src/c.py")) == [("removing", 1, 0), ("shell", 1, 1)]
    # Whatever its name is, and as a compiler or an editor writes it.
    odd = {name: sessions(indexed.who(f"odd/{name}")) for name in ODD}
    assert odd == {name: [("odd-names", 1, 0)] for name in ODD}
    for written in ("src/a.py:12", "src/a.py:12:5", "@src/a.py", "./src/a.py", "SRC/A.PY", "src//a.py", "src/a.py#L3"):
        assert sessions(indexed.who(written)) == sessions(found), written
    # By agent, where all are one person's.
    by_agent = indexed.who("src/b.py")
    assert [(p.agents, p.changes, p.reads) for p in by_agent.people] == [(("pi",), 1, 0), (("claude-code",), 0, 1)]
    page = indexed.who("src/b.py", limit=1, offset=1)
    assert (page.total, page.offset, [p.agents for p in page.people]) == (2, 1, [("claude-code",)])
    # A directory, with a slash or where no file of its name was changed.
    for name in ("src/", "/w/fox/src/", "fox/src"):
        below = indexed.who(name)
        assert below.subject == "directory"
        assert {id for id, changes, _ in sessions(below) if changes} == {
            *("edited-1", "edited-2", "shell", "removing", "pi-session")
        }
    # Filters hold, and headless sessions count when they are left out.
    assert sessions(indexed.who("a.py", Filters(cwd="/w/owl"))) == [("other-a", 1, 0)]
    assert sessions(indexed.who("src/a.py", Filters(after=START + timedelta(days=2, hours=-1)))) == [
        ("edited-2", 2, 0),
        ("reading", 0, 1),
    ]
    assert sessions(indexed.who("src/b.py", Filters(agents=("pi",)))) == [("pi-session", 1, 0)]
    # A topic: sessions that are about it.
    topic = indexed.who("aardvark ants")
    assert (topic.subject, sessions(topic)) == ("topic", [("talking", 0, 0)])
    assert topic.people[0].sessions[0].position == 0
    # Nothing is known: said so, for a path and for words.
    for about in ("src/nothing.py", "no/such/dir/"):
        unknown = indexed.who(about)
        assert not unknown.people
        assert "no session is known to have changed or read it" in who_text(unknown, {})
    unknown = indexed.who("zebra unicorn")
    assert not unknown.people
    assert who_text(unknown, {}, searches="sesame search 'zebra unicorn'").splitlines()[:3] == [
        "No session is known to be about: zebra unicorn",
        "",
        "What has some of these words: sesame search 'zebra unicorn'",
    ]
    # Without words every session would be about it.
    for nothing in ("", " ", "!!!", '"', "/", "*"):
        unknown = indexed.who(nothing)
        assert not unknown.people, nothing
        assert "Note: the question has no words to look for: name a file, or a topic" in who_text(unknown, {})
    # Whatever is asked has an answer.
    for hostile in ("'", '"', "%", "a_b%.py", "(", "*.py", "\0", "x" * 5_000, "/", "..", "~", ".", "\\", "a\nb", "c:"):
        indexed.who(hostile)


def test_an_answer_is_text_and_json_without_control_characters(indexed: Sesame, utc: None) -> None:
    found = indexed.who("src/a.py")
    found.name = "src/\x1b[31ma.py"
    text = who_text(found, indexed.abbreviations(ids_of(found, 1)), limit=1)
    assert "\x1b" not in text
    lines = text.splitlines()
    assert lines[0].endswith("a.py: changed in 2 sessions; 1 other session read or named it")
    assert "3 changes in 2 sessions, 2026-08-02 to 2026-08-03, read it in 1 more" in lines[2]
    assert lines[3:] == [
        "    edited-2:3 (please change the fox) - 2026-08-03 · 2 changes",
        "    … and 2 more: --limit 3",
    ]
    value = who_json(found, limit=2)
    assert (value["changes"], value["sessionCount"], value["total"]) == (3, 3, 1)
    assert [one["sessionId"] for one in value["people"][0]["sessions"]] == ["edited-2", "edited-1"]


def git(root: Path, *arguments: str) -> None:
    command = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def fox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository without a commit, which is the present directory."""
    root = tmp_path / "fox"
    root.mkdir()
    git(root, "init", "-q")
    monkeypatch.chdir(root)
    return root


def test_a_renamed_file_is_found_under_its_former_names_from_its_repository(
    home: Path, fox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (fox / "src").mkdir()
    (fox / "src" / "old name.py").write_text("x = 1\n" * 20)
    git(fox, "add", ".")
    git(fox, "commit", "-qm", "one")
    git(fox, "mv", "src/old name.py", "src/new.py")
    git(fox, "commit", "-qm", "two")
    session("before", ASKED, edit(f"{fox}/src/old name.py"), cwd=str(fox), day=1)
    session("after", ASKED, edit(f"{fox}/src/new.py"), cwd=str(fox), day=2)
    session("colleague", ASKED, edit("/home/other/fox/src/new.py"), cwd="/home/other/fox", day=3)
    session("stranger", ASKED, edit("/home/other/owl/src/new.py"), cwd="/home/other/owl", day=4)
    session("below", ASKED, edit(f"{fox}/packages/p/src/new.py"), cwd=str(fox / "packages" / "p"), day=6)
    session("nested", ASKED, edit(f"{fox}/packages/p/src/new.py"), cwd=str(fox), day=5)
    monkeypatch.chdir(fox / "src")
    with in_index(home) as sesame:
        for about in ("new.py", "old name.py", str(fox / "src" / "new.py")):
            found = sesame.who(about)
            assert {id for id, *_ in sessions(found)} == {"before", "after", "colleague"}, about
        assert (found.name, found.other_names) == ("src/new.py", ("src/old name.py",))
        assert "also named src/old name.py" in who_text(found, {})


def test_a_file_that_was_renamed_twice_is_found_by_its_first_name(home: Path, fox: Path) -> None:
    (fox / "one.py").write_text("x = 1\n" * 20)
    git(fox, "add", ".")
    git(fox, "commit", "-qm", "one")
    for old, new in (("one.py", "two.py"), ("two.py", "three.py")):
        git(fox, "mv", old, new)
        git(fox, "commit", "-qm", new)
    session("last", ASKED, edit(f"{fox}/three.py"), cwd=str(fox))
    with in_index(home) as sesame:
        found = sesame.who("one.py")
        assert found.other_names == ("three.py", "two.py")
        assert sessions(found) == [("last", 1, 0)]


def test_a_file_that_only_other_repositories_have_is_said_to_be_elsewhere(home: Path, fox: Path) -> None:
    (fox / "README.md").write_text("fox")
    session("stranger", ASKED, edit("/home/other/owl/README.md"), cwd="/home/other/owl")
    with in_index(home) as sesame:
        found = sesame.who("README.md")
        assert found.is_elsewhere
        assert sessions(found) == [("stranger", 1, 0)]
        assert "No session of this repository names it" in who_text(found, {})


def test_the_present_directory(home: Path, fox: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (fox / "src").mkdir()
    session("inside", ASKED, edit(f"{fox}/src/a.py"), cwd=str(fox))
    session("stranger", ASKED, edit("/home/other/owl/src/a.py"), cwd="/home/other/owl")
    with in_index(home) as sesame:
        for about in (".", "./"):
            found = sesame.who(about)
            assert (found.subject, found.name, sessions(found)) == ("directory", str(fox), [("inside", 1, 0)])
        monkeypatch.chdir(fox / "src")
        assert sesame.who(".").name == "src"


def test_a_session_without_times(home: Path, utc: None) -> None:
    s = Claude("undated")
    records = [s.user("go"), s.call("Write", file_path="/w/a.py", content="x"), s.result("ok")]
    write(s.path, *({key: value for key, value in record.items() if key != "timestamp"} for record in records))
    os.utime(s.path, (START.timestamp(), START.timestamp()))
    with in_index(home) as sesame:
        found = sesame.who("w/a.py")
        assert sessions(found) == [("undated", 1, 0)]
        assert "claude-code: 1 change in 1 session, 2026-08-01" in who_text(found, {})


def test_what_a_fork_repeats_belongs_to_the_session_that_was_first(home: Path) -> None:
    first, fork = Claude("first"), Claude("fork", start=START + timedelta(days=1))
    records = [first.user("go"), first.call("Write", file_path="/w/a.py", content="x"), first.result("ok")]
    write(first.path, *records)
    copied = [{**record, "sessionId": "fork"} for record in records]
    fork.last = records[-1]["uuid"]
    write(fork.path, *copied, fork.user("now b"), fork.call("Write", "t2", file_path="/w/b.py", content="x"))
    with in_index(home) as sesame:
        assert sessions(sesame.who("w/a.py")) == [("first", 1, 0)]
        assert sessions(sesame.who("w/b.py")) == [("fork", 1, 0)]


def test_a_subagent_worked_for_its_session(home: Path) -> None:
    s = Claude("parent")
    write(s.path, s.user("go"), s.call("Task", prompt="edit it"))
    agent = Claude("parent", start=START + timedelta(minutes=1))
    side = [
        {**record, "isSidechain": True, "agentId": "a1"}
        for record in (agent.user("edit it"), agent.call("Write", "t9", file_path="/w/a.py", content="x"))
    ]
    write(s.path.parent / "parent" / "subagents" / "agent-a1.jsonl", *side)
    with in_index(home) as sesame:
        found = sesame.who("w/a.py")
        assert sessions(found) == [("parent", 1, 0)]
        one = found.people[0].sessions[0]
        assert (one.subagent_id, one.position) == ("parent/a1", 1)


def test_a_bare_word_is_a_file_only_if_sessions_changed_one(home: Path) -> None:
    session("make", ASKED, edit("/w/fox/Makefile"))
    session("testing", ("user", "run the docker suite of docker"), shell("npm test docker"))
    with in_index(home) as sesame:
        assert sesame.who("Makefile").subject == "file"
        assert sesame.who("Makefile", is_topic=True).subject == "topic"
        assert sesame.who("docker").subject == "topic"


def test_of_a_common_name_the_latest_calls_count_and_the_answer_says_so(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for day in range(6):
        session(f"day-{day}", ASKED, edit("/w/fox/index.ts"), edit("/w/fox/other/index.ts"), day=day)
    monkeypatch.setattr(mentions, "MOST", 4)
    with in_index(home) as sesame:
        found = sesame.who("fox/index.ts")
        assert (found.is_truncated, found.uncounted) == (True, 0), "sessions with the path are looked at one by one"
        assert {id for id, *_ in sessions(found)} == {f"day-{day}" for day in range(6)}
        monkeypatch.setattr(mentions, "PLACES", 0)
        found = sesame.who("fox/index.ts")
        assert found.is_truncated
        assert {id for id, *_ in sessions(found)} == {"day-5", "day-4", "day-3", "day-2"}
        assert found.uncounted == 2
        assert "only the latest calls with it were counted; 2 sessions with it were not counted." in who_text(found, {})


def test_where_an_index_looks_at_the_newest_calls_only_the_others_are_found_by_their_path(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for day in range(6):
        session(f"day-{day}", ASKED, edit("/w/fox/index.ts"), day=day)

    def bounded_phrase(reader: Any, word: Word, *asked: Any, **others: Any) -> tuple[list[ScoredChunk], bool]:
        return reader.phrase(word, *asked, **others)[:2], True

    with in_index(home) as sesame:
        assert not sesame.who("fox/index.ts").is_truncated
        monkeypatch.setattr(SqliteReader, "bounded_phrase", bounded_phrase, raising=False)
        found = sesame.who("fox/index.ts")
        assert {id for id, *_ in sessions(found)} == {f"day-{day}" for day in range(6)}
        assert found.is_truncated
        assert sesame.how("index").basis.is_truncated
        assert sesame.fix("index").basis.is_truncated


def test_headless_sessions_are_counted_until_they_are_asked_for(home: Path) -> None:
    s = Claude("run")
    call = s.call("Write", file_path="/w/fox/src/z.py", content="x", entrypoint="sdk-cli")
    write(s.path, s.user("nightly", entrypoint="sdk-cli"), {**call, "entrypoint": "sdk-cli"})
    with in_index(home) as sesame:
        found = sesame.who("src/z.py")
        assert (found.people, found.left_out) == ([], {"headless": 1})
        assert "Left out: 1 headless run (show it with --all-kinds)" in who_text(found, {})
        assert sessions(sesame.who("src/z.py", Filters(all_kinds=True))) == [("run", 1, 0)]


def test_secrets_in_a_call_are_replaced_for_an_agent(home: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    session("secret", ASKED, shell(f"echo {secret} > src/token.txt"))
    with in_index(home) as sesame:
        (person,) = sesame.without_secrets().who("src/token.txt").people
        assert person.changes == 1
        assert secret not in str(person)


def test_a_file_is_one_in_all_worktrees_and_from_every_directory(
    home: Path, fox: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "trees" / "quick"
    (fox / "src" / "deep").mkdir(parents=True)
    for number in range(3):  # a chain of renames
        before, after = fox / "src" / f"n{number}.py", fox / "src" / f"n{number + 1}.py"
        before.write_text("x = 1\n" * 20) if not number else None
        git(fox, "add", ".")
        git(fox, "commit", "-qm", "add", "--allow-empty")
        git(fox, "mv", str(before), str(after))
        git(fox, "commit", "-qm", f"rename {number}")
    git(fox, "worktree", "add", "-q", str(other))
    session("first-name", ASKED, edit(f"{fox}/src/n0.py"), cwd=str(fox), day=1)
    session("in-the-tree", ASKED, edit(f"{other}/src/n3.py"), cwd=str(other), day=2)
    session("from-below", ASKED, shell("sed -i s/a/b/ ../n3.py"), cwd=str(fox / "src" / "deep"), day=3)
    session("from-above", ASKED, shell(f"rm {fox}/src/n2.py"), cwd=str(tmp_path), day=4)
    for place, about in ((other / "src", "n3.py"), (fox, "src/n3.py"), (fox / "src" / "deep", "../n3.py")):
        monkeypatch.chdir(place)
        with in_index(home) as sesame:
            found = sesame.who(about)
        assert {id for id, *_ in sessions(found)} == {"first-name", "in-the-tree", "from-below", "from-above"}, about
        assert found.other_names == ("src/n2.py", "src/n1.py", "src/n0.py")
    monkeypatch.chdir(fox)
    with in_index(home) as sesame:
        assert {id for id, *_ in sessions(sesame.who("src"))} >= {"first-name", "in-the-tree", "from-above"}
        (fox / "src" / "n3.py").unlink()  # deleted, and not committed
        assert len(sessions(sesame.who("src/n3.py"))) == 4


def test_a_machine_without_git_knows_no_other_names(
    home: Path, fox: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (fox / "a.py").write_text("x")
    session("one", ASKED, edit(f"{fox}/a.py"), cwd=str(fox))
    monkeypatch.setenv("PATH", str(tmp_path))
    with in_index(home) as sesame:
        found = sesame.who("a.py")
    assert (found.other_names, sessions(found)) == ((), [("one", 1, 0)])
