"""Where a session of Claude Code belongs, and how it is resumed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sesame_core import ResumeError, Sesame, Session
from sesame_core.api.resuming import shell_line
from sesame_parser_claude_code.parser import ClaudeCodeParser
from sesame_parser_claude_code.resuming import encoded

from ...support.transcripts import CLAUDE_ID, OTHER_CLAUDE_ID, Claude, append, library, write

PARSER = ClaudeCodeParser()


def bucket(place: Path, profile: str = ".claude") -> Path:
    return Path.home() / profile / "projects" / encoded(str(place))


def at(place: object, *, session: str = CLAUDE_ID) -> Claude:
    return Claude(session, cwd=str(place))


def read(path: Path) -> Session:
    return [event for event in PARSER.parse(path) if isinstance(event, Session)][-1]


@pytest.mark.parametrize(
    ("directory", "name"),
    [
        ("/home/ann/my_app.v2", "-home-ann-my-app-v2"),
        ("/w/\u65e5\u672c", "-w---"),
        ("/w/\U0001f680", "-w---"),
        ("C:\\Users\\Ann", "C--Users-Ann"),
        ("/" + "x" * 300, "-" + "x" * 199),
    ],
)
def test_the_directory_of_sessions_is_named_after_theirs(directory: str, name: str) -> None:
    assert encoded(directory) == name


def test_a_session_that_moved_was_in_all_its_directories_and_is_resumed_where_its_file_is(home: Path) -> None:
    old, new = home / "old", home / "new"
    new.mkdir()
    first, then = at(old), at(new)
    path = write(bucket(new) / f"{CLAUDE_ID}.jsonl", first.user("calibrate it"), then.user("document it"))
    assert read(path).places == (str(old), str(new))
    found = PARSER.resumption(read(path), path)
    assert (found.command, found.directory) == (("claude", "--resume", CLAUDE_ID), str(new))
    assert found.environment == {}


def test_a_session_that_was_relocated_or_went_to_a_worktree_was_there(home: Path) -> None:
    claude = at("/w/app")
    tree = {"originalCwd": "/w/main", "worktreePath": "/trees/x", "worktreeName": "x"}
    path = write(
        bucket(Path("/w/app")) / f"{CLAUDE_ID}.jsonl",
        claude.user("go"),
        claude.note("relocated", relocatedCwd="/w/moved"),
        claude.note("worktree-state", worktreeSession=tree),
        claude.note("worktree-state", worktreeSession=None),
        claude.note("relocated", relocatedCwd=7),
        claude.user("again"),
    )
    assert read(path).places == ("/w/app", "/w/moved", "/w/main", "/trees/x")
    assert PARSER.resumption(read(path), path).directory == "/w/app"


def test_a_directory_that_a_session_enters_later_is_added_when_its_file_grows(home: Path) -> None:
    first = at("/w/app")
    path = write(first.path, first.user("calibrate the gyroscope"))
    with library(path.parent, home / "data", parser="claude-code") as sesame:
        sesame.index()
        append(path, {**first.user("and there"), "cwd": "/w/other"})
        assert sesame.index().changed == 1
        assert sesame.get_session(CLAUDE_ID).session.places == ("/w/app", "/w/other")
        assert sesame.index(full=True).errors == []
        assert sesame.get_session(CLAUDE_ID).session.places == ("/w/app", "/w/other")


def test_many_directories_are_kept_up_to_a_bound(home: Path) -> None:
    claude = at("/w")
    records = [{**claude.user("go"), "cwd": f"/w/{n}"} for n in range(300)]
    path = write(claude.path, claude.user("start"), *records)
    assert len(read(path).places) == 101


def test_a_project_that_was_moved_with_its_sessions_is_found_by_the_name_of_their_directory(home: Path) -> None:
    moved = home / "my projects" / "app_2"
    moved.mkdir(parents=True)
    claude = at(home / "old")
    path = write(bucket(moved) / f"{CLAUDE_ID}.jsonl", claude.user("calibrate it"))
    assert read(path).places == (str(home / "old"), str(moved))
    assert PARSER.resumption(read(path), path).directory == str(moved)


def test_of_two_directories_that_one_name_encodes_the_existing_one_is_taken(home: Path) -> None:
    (home / "a-b").mkdir()
    first, then = at(home / "a.b"), at(home / "a-b")
    path = write(bucket(home / "a.b") / f"{CLAUDE_ID}.jsonl", first.user("one"), then.user("two"))
    assert PARSER.resumption(read(path), path).directory == str(home / "a-b")


@pytest.mark.parametrize(
    ("profile", "present", "environment", "line"),
    [
        (".claude", None, {}, "claude"),
        (".claude-work", None, {"CLAUDE_CONFIG_DIR": "~/.claude-work"}, "CLAUDE_CONFIG_DIR=~/.claude-work claude"),
        ("my profile", None, {"CLAUDE_CONFIG_DIR": "~/my profile"}, "CLAUDE_CONFIG_DIR='~/my profile' claude"),
        (".claude-work", ".claude-work", {}, "claude"),
        (".claude", ".claude-work", {"CLAUDE_CONFIG_DIR": None}, "env -u CLAUDE_CONFIG_DIR claude"),
    ],
)
def test_a_session_of_another_profile_is_resumed_in_it(
    profile: str,
    present: str | None,
    environment: dict[str, str | None],
    line: str,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if present:
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / present))
    path = write(bucket(home, profile) / f"{CLAUDE_ID}.jsonl", at(home).user("kiwi"))
    found = PARSER.resumption(read(path), path)
    assert found.environment == {k: v and v.replace("~", str(home)) for k, v in environment.items()}
    assert shell_line(found) == f"cd {home} && {line.replace('~', str(home))} --resume {CLAUDE_ID}"


def test_a_profile_whose_sessions_are_behind_a_link_is_named_by_its_own_name(home: Path) -> None:
    real = home / "disk" / "sessions"
    real.mkdir(parents=True)
    (home / ".claude-work").mkdir()
    (home / ".claude-work" / "projects").symlink_to(real)
    path = write(real / encoded(str(home)) / f"{CLAUDE_ID}.jsonl", at(home).user("kiwi"))
    assert PARSER.resumption(read(path), path).environment == {"CLAUDE_CONFIG_DIR": str(home / ".claude-work")}


def test_a_file_where_claude_code_does_not_look_is_refused_with_the_place_to_copy_it_to(home: Path) -> None:
    path = write(home / "backup" / encoded(str(home)) / f"{CLAUDE_ID}.jsonl", at(home).user("kiwi"))
    found = PARSER.resumption(read(path), path)
    assert found.problem == (
        f"Claude Code does not look for sessions in {path.parent}: copy {path.name} to "
        f"{home / '.claude' / 'projects' / path.parent.name}"
    )


def test_a_file_among_downloads_is_to_be_copied_to_where_its_directory_is_looked_for(home: Path) -> None:
    path = write(home / "Downloads" / f"{CLAUDE_ID}.jsonl", at(home / "kiwi").user("kiwi"))
    found = PARSER.resumption(read(path), path)
    assert found.problem is not None
    assert found.problem.endswith(f": copy {path.name} to {bucket(home / 'kiwi')}")
    assert found.directory == str(home / "kiwi")


@pytest.mark.parametrize("place", ["{id}/subagents/agent-a15b8a6.jsonl", "agent-a15b8a6.jsonl"])
def test_a_subagents_session_is_resumed_by_its_parent_if_that_has_a_file(place: str, home: Path) -> None:
    claude = at(home)
    said = claude.user("review the gearbox", isSidechain=True, agentId="a15b8a6")
    path = write(bucket(home) / place.format(id=CLAUDE_ID), said)
    with pytest.raises(ResumeError, match=f"session {CLAUDE_ID}, which started it, has no file in .*projects"):
        PARSER.resumption(read(path), path)
    parent = write(bucket(home / "elsewhere") / f"{CLAUDE_ID}.jsonl", at(home / "elsewhere").user("go"))
    found = PARSER.resumption(read(path), path)
    assert found.command == ("claude", "--resume", CLAUDE_ID)
    assert found.directory == str(home / "elsewhere")
    parent.unlink()


def test_a_file_that_is_gone_is_refused_unless_it_only_moved(home: Path) -> None:
    claude = at(home)
    path = write(bucket(home) / f"{CLAUDE_ID}.jsonl", claude.user("kiwi"))
    session = read(path)
    path.unlink()
    with pytest.raises(ResumeError, match=r"its file is gone, so Claude Code cannot resume it: .*jsonl"):
        PARSER.resumption(session, path)
    write(bucket(home / "new") / f"{CLAUDE_ID}.jsonl", {**claude.user("kiwi"), "cwd": str(home / "new")})
    assert PARSER.resumption(session, path).directory == str(home / "new")


def test_the_id_is_that_of_the_file_which_claude_code_looks_for(home: Path) -> None:
    path = write(bucket(home) / f"{OTHER_CLAUDE_ID}.jsonl", at(home).user("copied by an old version"))
    assert PARSER.resumption(read(path), path).command == ("claude", "--resume", OTHER_CLAUDE_ID)


def test_of_copies_the_one_in_a_profile_is_resumed(home: Path) -> None:
    claude = at(home)
    record = claude.user("calibrate the gyroscope")
    backup = write(home / "backup" / "x" / f"{CLAUDE_ID}.jsonl", record, claude.user("longer"))
    write(bucket(home) / f"{CLAUDE_ID}.jsonl", record)
    with library(home, home / "data", parser="claude-code") as sesame:
        sesame.index()
        assert sesame.get_session(CLAUDE_ID).path == str(backup)
        assert sesame.resumption(CLAUDE_ID).directory == str(home)


def test_odd_directories_are_quoted_for_a_shell(home: Path) -> None:
    for name in ("it's", 'a "b" $c', "tab\there", "esc\x1b[31m", "new\nline", "-dash"):
        place = home / name
        place.mkdir()
        claude = at(place)
        path = write(bucket(place) / f"{CLAUDE_ID}.jsonl", claude.user("kiwi"))
        line = shell_line(PARSER.resumption(read(path), path))
        assert line.isprintable()
        import subprocess

        done = subprocess.run(["bash", "-c", f"claude() {{ pwd; }}; {line}"], capture_output=True, text=True)
        assert done.stdout == f"{json.loads(json.dumps(str(place)))}\n"
        path.unlink()


def test_a_directory_of_windows_or_one_that_is_gone_says_so(home: Path) -> None:
    windows, gone = at("C:\\Users\\Ann\\Api"), at(home / "code" / "gone", session=OTHER_CLAUDE_ID)
    (home / "code").mkdir()
    write(bucket(Path(windows.cwd)) / f"{CLAUDE_ID}.jsonl", windows.user("cherry"))
    write(gone.path, gone.user("plum"))
    with Sesame() as sesame:
        sesame.index()
        with pytest.raises(ResumeError, match=r"one of Windows: C:\\Users\\Ann\\Api; resume it there"):
            sesame.resumption(CLAUDE_ID)
        found = sesame.resumption(OTHER_CLAUDE_ID)
        assert found.nearest == str(home / "code")
        assert found.problem == (
            f"the session's directory does not exist: {gone.cwd}; the nearest that exists: {home / 'code'}"
        )
        (home / "code" / ".git").mkdir()
        (home / "elsewhere" / "gone").mkdir(parents=True)
        assert sesame.resumption(OTHER_CLAUDE_ID).nearest == str(home / "code")
