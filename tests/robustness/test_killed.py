"""kill -9 at any statement leaves an index that opens, is sound, answers, and catches up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sesame_core import BackendError

pytestmark = pytest.mark.once

Kill = Callable[[int, Callable[[], object]], bool]

#: Kills per test at most; they are spread over all of a run's statements.
KILLS = 10


def points(kill: Kill, prepare: Callable[[], Any], action: Callable[[], object]) -> Iterator[int]:
    """Kill an action at its statements, beginning with an unspoilt state each time; yield after each kill."""
    prepare()
    low, high = 1, 2
    while kill(high, action):
        low, high = high, high * 2
        prepare()
    while high - low > 1:  # find the number of statements: killed before `low`, not before `high`
        prepare()
        middle = (low + high) // 2
        low, high = (middle, high) if kill(middle, action) else (low, middle)
    chosen = sorted({1 + (low - 1) * n // (KILLS - 1) for n in range(KILLS)})
    for statement in chosen:
        prepare()
        assert kill(statement, action), f"statement {statement} of {low}"
        yield statement


def clear(world: Any) -> None:
    for file in world.data.glob("*"):
        file.unlink()


def catches_up(world: Any) -> None:
    """The next run brings the index to what a new one would hold."""
    world.index()
    world.check()
    assert world.content() == world.fresh()
    assert world.found("fox1") == {world.session_id(1)}
    assert not list(world.data.glob("rebuild*"))


def test_killed_while_indexing_for_the_first_time(world: Any, killed_at: Kill) -> None:
    world.populate()
    for _ in points(killed_at, lambda: clear(world), world.index):
        assert world.found("fox1") in (set(), {world.session_id(1)})
        catches_up(world)


def test_killed_while_indexing_leaves_a_sound_file_before_anything_repairs_it(world: Any, killed_at: Kill) -> None:
    world.populate(2)
    world.index()

    def change() -> None:
        clear(world)
        world.populate(2)
        world.index()
        world.populate(6, texts=9)

    for _ in points(killed_at, change, world.index):
        world.check()
        assert world.found("fox1") == {world.session_id(1)}


def test_killed_while_appending(world: Any, killed_at: Kill) -> None:
    world.populate()

    def grow() -> None:
        clear(world)
        world.populate()
        world.index()
        for number in range(4):
            world.append(number, 6, f"heron{number} came too", f"and heron{number} left")

    for _ in points(killed_at, grow, world.index):
        world.check()
        assert world.found("fox1") == {world.session_id(1)}
        assert world.found("heron1") in (set(), {world.session_id(1)})
        catches_up(world)
        assert world.found("heron1") == {world.session_id(1)}


def test_killed_while_rebuilding_answers_from_the_old_index(world: Any, killed_at: Kill) -> None:
    def prepare() -> None:
        clear(world)
        world.populate()
        world.index()
        world.path(3).unlink()
        world.index()
        world.write(4, "fox4 was rewritten")

    def rebuild() -> None:
        world.index(full=True)

    for _ in points(killed_at, prepare, rebuild):
        world.check()
        assert world.found("fox4") == {world.session_id(4)}
        assert world.found("fox3") == {world.session_id(3)}, "sessions of files that are gone are kept"
        assert world.found("fox1") == {world.session_id(1)}
        world.index(full=True)
        world.check()
        assert not list(world.data.glob("rebuild*"))
        gone = {world.session_id(3): world.content()[world.session_id(3)]}
        assert world.content() == {**world.fresh(), **gone}


@pytest.mark.parametrize("name", ["replace", "unlink"])
def test_killed_around_the_swap(
    world: Any, in_child: Callable[[Callable[[], object]], int], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    world.populate()
    world.index()
    world.write(1, "fox1 and the otter")
    reached = 0
    for at in range(1, 12):
        for is_before in (True, False):

            def deadly(at: int = at, is_before: bool = is_before) -> None:
                original, calls = getattr(os, name), 0

                def fatal(*args: Any, **kwargs: Any) -> Any:
                    nonlocal calls
                    calls += 1
                    if calls == at and is_before:
                        os.kill(os.getpid(), signal.SIGKILL)
                    done = original(*args, **kwargs)
                    if calls == at:
                        os.kill(os.getpid(), signal.SIGKILL)
                    return done

                setattr(os, name, fatal)
                world.index(full=True)

            reached += in_child(deadly) == -signal.SIGKILL
            assert world.found("fox1") == {world.session_id(1)}
            catches_up(world)
    assert reached >= 2


def test_killed_while_migrating(
    world: Any, killed_at: Kill, second_migration: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sesame_backend_sqlite import schema

    world.populate()
    both = schema.MIGRATIONS

    def prepare() -> None:
        clear(world)
        with monkeypatch.context() as patch:
            patch.setattr(schema, "MIGRATIONS", both[:-1])
            world.index()

    for _ in points(killed_at, prepare, world.index):
        world.check()
        try:
            assert world.found("fox1") == {world.session_id(1)}
        except BackendError as error:
            assert f"older schema ({len(both) - 1})" in str(error)  # noqa: PT017 - either is right, by when it was killed
        catches_up(world)


def test_killed_at_any_moment(world: Any, tmp_path: Any) -> None:
    """From outside, by the clock, with nothing patched."""
    world.populate(40, texts=40)
    script = (
        "import sys; from pathlib import Path; from sesame_core import *\n"
        "sources = [Source(parser=Selection(name=n), path=Path(p)) for n, p in"
        " [('pi', sys.argv[2]), ('claude-code', sys.argv[3])]]\n"
        "sesame = Sesame(sources=sources, data_dir=sys.argv[1])\n"
        "print('ready', flush=True)\n"
        "while True: sesame.index(full=True); sesame.index()\n"
    )
    for delay in (0.005, 0.05, 0.1, 0.15):
        command = [sys.executable, "-c", script, str(world.data), str(world.pi), str(world.claude.parent)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(delay)
            process.kill()
        assert world.found("fox1") in (set(), {world.session_id(1)})
        catches_up(world)
