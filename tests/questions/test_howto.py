"""How something is run: commands that succeeded, grouped, and apart those that failed; `test_parity` has PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from sesame_core import Sesame
from sesame_core.config.model import Selection, Source
from sesame_core.types.query import Filters

from ..support.every_backend import opened
from ..support.worked import Step, asks, runs, says, write

History = Mapping[str, tuple[int, str, Sequence[Step]]]

HISTORY: History = {
    "old1": (
        0,
        "/code/app",
        [
            asks("test it"),
            runs("cargo test", "test result: ok. 12 passed"),
            runs("cd crates/core && cargo test --lib 2>&1 | tail -3", "test result: ok. 3 passed"),
            runs("cargo test --doc", "error[E0433]: failed to resolve: use of undeclared crate `serde`", fails=True),
            says("One is broken."),
        ],
    ),
    "new1": (
        3,
        "/code/site",
        [
            asks("and the site"),
            runs("CI=1 npx vitest run", "Tests  21 passed (21)", about="Run the unit tests"),
            runs("git commit -m 'run the tests in CI'", "[main 1] x"),
            runs("git add docs/deploy.md", None, about="Stage the page on how to deploy"),
            runs("./deploy.sh staging", "deployed", about="Deploy to staging"),
            runs("cargo test", "test result: ok. 12 passed"),
            says("Done."),
        ],
    ),
}


@pytest.fixture(params=["sqlite", "memory"])
def sesame(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sesame]:
    with opened(request, tmp_path, Source(parser=Selection(name="sesame"), path=tmp_path / "in")) as sesame:
        for name, (day, cwd, steps) in HISTORY.items():
            write(tmp_path / "in", name, steps, day=day, cwd=cwd)
        assert sesame.index().added == len(HISTORY)
        yield sesame


def test_a_command_has_its_variants_directories_and_failures(sesame: Sesame) -> None:
    found = sesame.how("cargo test")
    (way,) = found.ways
    assert (way.command, way.text, way.succeeded, way.failed) == ("cargo test", "cargo test", 3, 1)
    assert [(variant.text, variant.count) for variant in way.variants] == [("cargo test", 2), ("cargo test --lib", 1)]
    assert dict(way.directories) == {"/code/app": 1, "/code/app/crates/core": 1, "/code/site": 1}
    assert [(failed.line, failed.text) for failed in way.failures] == [
        ("error[E0433]: failed to resolve: use of undeclared crate `serde`", "cargo test --doc")
    ]
    assert way.last is not None
    assert way.last.stored.session.id == "new1"
    assert (found.runs, found.basis.sessions) == (4, 2)


@pytest.mark.parametrize("task", ["run the tests", "how do we test this?", "tests"])
def test_a_task_in_words_finds_the_programs_that_do_it(task: str, sesame: Sesame) -> None:
    assert [way.command for way in sesame.how(task).ways] == ["cargo test", "vitest run"]


def test_a_message_of_a_commit_is_no_command(sesame: Sesame) -> None:
    assert "git commit" not in [way.command for way in sesame.how("run the tests").ways]


def test_a_script_is_found_by_its_name_and_shown_as_it_was_called(sesame: Sesame) -> None:
    (way,) = sesame.how("deploy").ways
    assert way.text == "./deploy.sh staging"


def test_what_was_run_here_comes_first(sesame: Sesame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    (here / ".git").mkdir(parents=True)
    write(tmp_path / "in", "mine", [asks("x"), runs("tox -e py", "congratulations"), says("ok")], cwd=str(here))
    sesame.index()
    monkeypatch.chdir(here)
    ways = sesame.how("run the tests").ways
    assert (ways[0].command, ways[0].is_here) == ("tox", True)
    assert not any(way.is_here for way in ways[1:])


def test_a_command_that_only_failed_is_said_to(sesame: Sesame) -> None:
    (way,) = sesame.how("cargo test --doc").ways
    assert (way.succeeded, way.failed, way.last) == (0, 1, None)


def test_an_unknown_command_says_how_many_sessions_were_searched(sesame: Sesame) -> None:
    found = sesame.how("xmonad --recompile")
    assert (found.ways, found.runs, found.basis.searched) == ((), 0, 2)


def test_filters_narrow_the_sessions(sesame: Sesame) -> None:
    (way,) = sesame.how("cargo test", Filters(cwd="/code/site")).ways
    assert (way.succeeded, way.failed) == (1, 0)
