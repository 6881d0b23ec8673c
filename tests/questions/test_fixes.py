"""How an error was fixed: what was done after it, and whether that held; `test_parity` has PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from sesame_core import Sesame
from sesame_core.config.model import Selection, Source
from sesame_core.types.fixes import Fix
from sesame_core.types.query import Filters

from ..support.every_backend import opened
from ..support.worked import Step, asks, edits, runs, says, write

#: Sessions by name, each with its day, its directory and its steps.
History = Mapping[str, tuple[int, str, Sequence[Step]]]

BROKEN = "src/app.ts(3,1): error TS2304: Cannot find name 'widget'."
ERROR = "lib/b.ts(9,7): error TS2304: Cannot find name 'widget'."


@pytest.fixture(params=["sqlite", "memory"])
def indexed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[History], Sesame]]:
    with opened(request, tmp_path, Source(parser=Selection(name="sesame"), path=tmp_path / "in")) as sesame:

        def index(history: History) -> Sesame:
            for name, (day, cwd, steps) in history.items():
                write(tmp_path / "in", name, steps, day=day, cwd=cwd)
            assert sesame.index().added == len(history)
            return sesame

        yield index


def places(fix: Fix) -> list[int]:
    return [step.position for step in fix.steps]


def test_an_edit_after_which_the_command_succeeded_is_the_fix(indexed: Callable[[History], Sesame]) -> None:
    steps = [
        asks("build it"),
        runs("npm run build", BROKEN, fails=True),
        says("The import is missing, because the module was renamed."),
        edits("src/app.ts", "import a", "import { widget } from './w'"),
        runs("npm run build", "done in 2 s"),
        says("It builds."),
    ]
    found = indexed({"ann1": (0, "/code/app", steps)}).fix(ERROR)
    (fix,) = found.fixes
    assert (fix.is_same, fix.outcome, fix.held) == (True, "verified", True)
    assert (fix.seen.position, fix.command, fix.line) == (2, "npm run build", BROKEN)
    assert [(step.kind, step.path) for step in fix.steps] == [("edit", "src/app.ts"), ("command", "")]
    assert fix.why == "The import is missing, because the module was renamed."
    assert fix.ended is not None
    assert fix.ended.position == 7
    assert (found.occurrences, found.basis.sessions, found.basis.searched) == (1, 1, None)


def test_what_did_not_help_is_left_out(indexed: Callable[[History], Sesame]) -> None:
    steps = [
        asks("build it"),
        runs("npm run build", BROKEN, fails=True),
        edits("tsconfig.json", "a", "b"),
        runs("npm run build", BROKEN, fails=True),
        edits("src/app.ts", "c", "d"),
        runs("npm run build", "done"),
        says("done"),
    ]
    (fix,) = indexed({"ann1": (0, "/code/app", steps)}).fix(ERROR).fixes
    assert [step.path for step in fix.steps if step.kind == "edit"] == ["src/app.ts"]


def test_a_command_without_output_has_succeeded_when_the_agent_goes_on(indexed: Callable[[History], Sesame]) -> None:
    steps = [
        asks("commit it"),
        runs("git commit -m x", "pre-commit: error: code is not formatted, run the formatter", fails=True),
        runs("make fmt", None),
        runs("git commit -m x", "[main 1a2b3c4] x"),
        says("Committed."),
    ]
    (fix,) = indexed({"ann1": (0, "/code/app", steps)}).fix("error: code is not formatted, run the formatter").fixes
    assert [step.text for step in fix.steps] == ["$ make fmt", "$ git commit -m x"]


def test_a_call_that_was_refused_is_neither_a_fix_nor_a_failure(indexed: Callable[[History], Sesame]) -> None:
    steps = [
        asks("build it"),
        runs("npm run build", BROKEN, fails=True),
        runs("npm run build", "The user doesn't want to proceed with this tool use.", fails=True),
        edits("src/app.ts", "c", "d"),
        runs("npm run build", "done"),
        says("done"),
    ]
    (fix,) = indexed({"ann1": (0, "/code/app", steps)}).fix(ERROR).fixes
    assert (fix.outcome, places(fix)) == ("verified", [5, 7])


def test_a_failure_that_a_pipe_hides_is_one(indexed: Callable[[History], Sesame]) -> None:
    steps = [
        asks("test it"),
        runs("npm run build 2>&1 | tail -5", BROKEN),
        runs("npm run build 2>&1 | tail -5", "src/z.ts(1,1): error TS1005: ';' expected."),
        says("Another one now."),
    ]
    (fix,) = indexed({"ann1": (0, "/code/app", steps)}).fix(ERROR).fixes
    assert (fix.outcome, fix.held) == ("passed", True)


def test_a_command_that_succeeded_may_print_what_looks_like_a_failure(indexed: Callable[[History], Sesame]) -> None:
    steps = [
        asks("test it"),
        runs("npm run build", BROKEN, fails=True),
        edits("src/app.ts", "c", "d"),
        runs("npm run build", f"ok: handles 2 errors\n{BROKEN} is printed by a test"),
        says("done"),
    ]
    (fix,) = indexed({"ann1": (0, "/code/app", steps)}).fix(ERROR).fixes
    assert fix.outcome == "verified"


def test_an_error_that_came_back_is_said_to_have(indexed: Callable[[History], Sesame]) -> None:
    def session(path: str) -> list[Step]:
        return [
            asks("build"),
            runs("npm run build", BROKEN, fails=True),
            edits(path, "a", "b"),
            runs("npm run build", "ok then"),
            says("ok"),
        ]

    other = [asks("build"), runs("npm run build", BROKEN, fails=True), runs("npm ci", "ok"), says("No idea.")]
    found = indexed(
        {
            "old1": (0, "/code/app", session("src/one.ts")),
            "new1": (
                5,
                "/code/app",
                [
                    asks("go"),
                    runs("npm run build", BROKEN, fails=True),
                    runs("npm ci", "added 2"),
                    runs("npm run build", "fine"),
                    says("ok"),
                ],
            ),
            "far1": (9, "/code/elsewhere", other),
        }
    ).fix(ERROR)
    by_name = {fix.seen.stored.session.id: fix for fix in found.fixes}
    assert [seen.stored.session.id for seen in by_name["old1"].came_back] == ["new1"]
    assert by_name["new1"].held
    assert next(iter(by_name)) == "new1"
    assert list(by_name)[-1] == "old1" or not by_name["old1"].held


def test_the_same_remedy_in_several_sessions_is_one_fix(indexed: Callable[[History], Sesame]) -> None:
    def session() -> list[Step]:
        rejected = "error: failed to push some refs to 'example.org:ann/app.git'"
        return [
            asks("push"),
            runs("git push", rejected, fails=True),
            runs("git pull --rebase", "ok"),
            runs("git push", "done"),
            says("Pushed."),
        ]

    found = indexed({f"s{day}": (day, f"/code/app{day}", session()) for day in range(3)})
    (fix,) = found.fix("error: failed to push some refs to 'example.org:bob/x.git'").fixes
    assert fix.seen.stored.session.id == "s2"
    assert [seen.stored.session.id for seen in fix.others] == ["s1", "s0"]


def test_of_fixes_that_held_those_of_the_present_project_come_first(
    indexed: Callable[[History], Sesame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def session(*remedy: Step) -> list[Step]:
        return [
            asks("build"),
            runs("npm run build", BROKEN, fails=True),
            *remedy,
            runs("npm run build", "done"),
            says("ok"),
        ]

    here = tmp_path / "app"
    (here / ".git").mkdir(parents=True)
    old, new = runs("npm ci", "added 3"), runs("npm install widget", "added 1")
    sesame = indexed({
        "ann1": (0, str(here / "web"), session(old)),
        "ann2": (1, "/code/other", session(new)),
        "ann3": (2, "/code/other", session(old)),
        "ann4": (3, str(here), [asks("build"), runs("npm run build", BROKEN, fails=True), says("It fails.")]),
    })  # fmt: skip
    assert [fix.seen.stored.session.id for fix in sesame.fix(ERROR).fixes] == ["ann3", "ann2", "ann4"]
    monkeypatch.chdir(here)
    fixes = sesame.fix(ERROR).fixes
    assert [fix.seen.stored.session.id for fix in fixes] == ["ann1", "ann2", "ann4"]
    assert [seen.stored.session.id for seen in fixes[0].others] == ["ann3"]


def test_an_error_that_nobody_solved_is_unresolved_with_what_was_tried(indexed: Callable[[History], Sesame]) -> None:
    steps = [
        asks("flash it"),
        runs("make flash", "avrdude: error: programmer is not responding", fails=True),
        runs("make flash PORT=/dev/ttyUSB1", "avrdude: error: programmer is not responding", fails=True),
        runs("lsusb", "no such device", fails=True),
        says("The board is not connected."),
    ]
    (fix,) = indexed({"ann1": (0, "/code/app", steps)}).fix("avrdude: error: programmer is not responding").fixes
    assert (fix.outcome, fix.held, fix.ended) == ("unresolved", False, None)
    assert [step.text for step in fix.steps] == ["$ lsusb"]
    assert fix.why == "The board is not connected."


def test_an_error_that_a_person_pasted_is_followed_by_the_edits_of_that_turn(
    indexed: Callable[[History], Sesame],
) -> None:
    steps = [
        asks(f"I get this:\n{BROKEN}\nwhat is it?"),
        says("The name is wrong."),
        edits("src/app.ts", "a", "b"),
        says("Fixed."),
        asks("thanks, and now the docs"),
        edits("docs/a.md", "a", "b"),
    ]
    (fix,) = indexed({"ann1": (0, "/code/app", steps)}).fix(ERROR).fixes
    assert (fix.command, fix.outcome) == ("", "replaced")
    assert fix.steps[0].path == "src/app.ts"


def test_a_usage_error_is_fixed_by_the_next_call_of_the_program(indexed: Callable[[History], Sesame]) -> None:
    steps = [
        asks("lint"),
        runs("linter run --disable-everything ./src", "Error: unknown flag: --disable-everything", fails=True),
        runs("linter run --no-config ./src/a", "0 issues."),
        says("Clean."),
    ]
    (fix,) = indexed({"ann1": (0, "/code/app", steps)}).fix("Error: unknown flag: --disable-everything").fixes
    assert (fix.outcome, places(fix)) == ("verified", [3])


def test_of_several_commands_the_one_that_the_error_names_must_succeed(indexed: Callable[[History], Sesame]) -> None:
    steps = [
        asks("look around"),
        runs("grep -n x src/a.py; ls docs/api", "3:x\nls: docs/api: No such file or directory", fails=True),
        runs("grep -n y src/a.py", "4:y"),
        runs("ls docs", "index.md"),
        says("It is in docs."),
    ]
    (fix,) = indexed({"ann1": (0, "/code/app", steps)}).fix("ls: docs/api: No such file or directory").fixes
    assert (fix.outcome, places(fix)) == ("verified", [5])


def test_a_file_that_contains_the_error_is_no_occurrence(indexed: Callable[[History], Sesame]) -> None:
    steps = [
        asks("read the docs"),
        {"call": "read", "arguments": {"path": "docs/errors.md"}, "output": f"{BROKEN} means a missing import"},
        edits("src/app.ts", "a", "b"),
        says("ok"),
    ]
    found = indexed({"ann1": (0, "/code/app", steps)}).fix(ERROR)
    assert (found.fixes, found.occurrences) == ((), 0)


def test_a_log_that_is_shown_afterwards_does_not_bring_the_error_back(indexed: Callable[[History], Sesame]) -> None:
    steps = [
        asks("build it"),
        runs("npm run build > build.log || tail -2 build.log", BROKEN, fails=True),
        edits("src/app.ts", "c", "d"),
        runs("cat build.log", BROKEN),
        runs("npm run build", "done"),
        says("done"),
    ]
    (fix,) = indexed({"ann1": (0, "/code/app", steps)}).fix(ERROR).fixes
    assert (fix.outcome, places(fix)) == ("verified", [3, 7])


def test_an_error_that_was_pasted_and_then_reproduced_is_followed_from_there(
    indexed: Callable[[History], Sesame],
) -> None:
    steps = [
        asks(f"the build says {BROKEN}"),
        runs("npm run build", BROKEN, fails=True),
        edits("src/app.ts", "c", "d"),
        runs("npm run build", "done"),
        says("done"),
    ]
    (fix,) = indexed({"ann1": (0, "/code/app", steps)}).fix(ERROR).fixes
    assert (fix.seen.position, fix.command, fix.outcome) == (0, "npm run build", "verified")


PATCH = "apply_patch <<'E'\n*** Begin Patch\n*** Update File: src/app.ts\n@@\n-c\n+d\n*** End Patch\nE"
#: An edit as each agent's tools make it: the tool, and its arguments.
EDITS = {
    "edit": {"path": "src/app.ts", "old": "c", "new": "d"},
    "Edit": {"file_path": "src/app.ts", "old_string": "c", "new_string": "d"},
    "apply_patch": {"path": "src/app.ts", "patch": "@@\n-c\n+d"},
    "shell": {"command": PATCH},
    "str_replace_editor": {"command": "str_replace", "path": "src/app.ts", "old_str": "c", "new_str": "d"},
    "write_file": {"file_path": "src/app.ts", "content": "d"},
}


@pytest.mark.parametrize("tool", EDITS)
def test_every_agents_edit_is_an_edit(tool: str, indexed: Callable[[History], Sesame]) -> None:
    steps = [
        asks("build it"),
        runs("npm run build", BROKEN, fails=True),
        {"call": tool, "arguments": EDITS[tool], "output": "ok"},
        runs("npm run build", "done"),
        says("done"),
    ]
    (fix,) = indexed({"ann1": (0, "/code/app", steps)}).fix(ERROR).fixes
    assert [(step.kind, step.path) for step in fix.steps] == [("edit", "src/app.ts"), ("command", "")]


def test_a_code_alone_is_an_error(indexed: Callable[[History], Sesame]) -> None:
    steps = [
        asks("copy"),
        runs("cp a b", "cp: error writing 'b': ENOSPC, no room on the disk", fails=True),
        runs("docker system prune -f", "freed 3 GB"),
        runs("cp a b", None),
        says("Copied."),
    ]
    (fix,) = indexed({"ann1": (0, "/code/app", steps)}).fix("ENOSPC").fixes
    assert (fix.is_same, fix.outcome, places(fix)) == (True, "verified", [3, 5])


def test_an_unknown_error_says_how_many_sessions_were_searched(indexed: Callable[[History], Sesame]) -> None:
    found = indexed({"ann1": (0, "/code/app", [asks("hello"), says("hi")])}).fix("error: flux capacitor overcharged")
    assert (found.fixes, found.occurrences, found.basis.searched) == ((), 0, 1)
    assert any(hint.startswith("looked in ") for hint in found.basis.hints)


def test_a_directory_in_which_no_session_was_is_named(indexed: Callable[[History], Sesame]) -> None:
    sesame = indexed({"ann1": (0, "/code/app", [asks("hello"), runs("npm run build", BROKEN, fails=True)])})
    for basis in (sesame.fix(ERROR, Filters(cwd="/owl")).basis, sesame.how("npm", Filters(cwd="/owl")).basis):
        assert basis.searched == 0
        assert any(hint.endswith("no session is in /owl") for hint in basis.hints), basis.hints


@pytest.mark.parametrize("text", ["", "  \n ", "!!!", "\x00", "'", '"', "(", "-", "a" * 100_000, "error: 123 456"])
def test_any_text_is_an_error(text: str, indexed: Callable[[History], Sesame]) -> None:
    sesame = indexed({"ann1": (0, "/code/app", [asks("hello"), says("hi")])})
    assert sesame.fix(text).fixes == ()
    assert sesame.how(text).ways == ()


def test_filters_narrow_the_occurrences(indexed: Callable[[History], Sesame]) -> None:
    def session() -> list[Step]:
        return [
            asks("go"),
            runs("npm run build", BROKEN, fails=True),
            runs("npm ci", "ok"),
            runs("npm run build", "ok"),
            says("ok"),
        ]

    sesame = indexed({"a1": (0, "/code/app", session()), "b1": (1, "/code/other", session())})
    assert [fix.seen.stored.session.id for fix in sesame.fix(ERROR, Filters(cwd="/code/app")).fixes] == ["a1"]
    assert sesame.fix(ERROR, Filters(exclude=("a1", "b1"))).fixes == ()
    assert sesame.fix(ERROR, offset=1).fixes == ()


def test_headless_sessions_are_left_out_and_counted(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    request.param = "memory"
    steps = [asks("go"), runs("npm run build", BROKEN, fails=True), runs("npm run build", "ok"), says("ok")]
    write(tmp_path / "in", "cron", steps, cwd="/code/app", kind="headless")
    with opened(request, tmp_path, Source(parser=Selection(name="sesame"), path=tmp_path / "in")) as sesame:
        sesame.index()
        found = sesame.fix(ERROR)
        assert (found.fixes, found.basis.left_out) == ((), {"headless": 1})
        assert len(sesame.fix(ERROR, Filters(all_kinds=True)).fixes) == 1
