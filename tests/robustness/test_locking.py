"""One writes at a time; the others are told who does, and readers never wait."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sesame_core import LockedError, Sesame
from sesame_core.errors import StoppedError


@pytest.fixture
def holder(world: Any) -> Iterator[int]:
    """Another process that is indexing, for as long as it lives: its id."""
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    world.populate()
    world.index()
    world.write(1, "fox1 saw the otter")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with world.sesame() as sesame:

                def wait(_: object) -> None:
                    os.write(writing, b"!")
                    signal.pause()

                sesame.index(on_progress=wait)
        finally:
            os._exit(70)
    assert os.read(reading, 1) == b"!"
    os.close(reading)
    os.close(writing)
    yield child
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


@pytest.mark.parametrize("full", [False, True])
def test_the_second_indexer_learns_who_holds_the_lock(world: Any, holder: int, full: bool) -> None:
    with pytest.raises(LockedError, match=rf"being written by .*process {holder}, since \d\d:\d\d:\d\d"):
        world.index(full=full)


def test_forgetting_meanwhile_is_refused_too(world: Any, holder: int) -> None:
    with world.sesame() as sesame, pytest.raises(LockedError, match=str(holder)):
        sesame.forget(world.session_id(1))
    assert world.found("fox1") == {world.session_id(1)}


def test_the_command_line_says_so_in_one_line(
    world: Any, holder: int, cli: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    world.configure(monkeypatch)
    code, out, err = cli("index")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("sesame: the index is being written by ")
    assert f"process {holder}" in err


def test_a_search_meanwhile_answers_and_says_that_it_did_not_refresh(
    world: Any, holder: int, cli: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    world.configure(monkeypatch)
    code, out, _ = cli("search", "fox2")
    assert code == 0
    assert "The index was not refreshed: the index is being written by" in out
    assert "fox2 met beetle" in out
    assert world.found("otter") == set(), "what is not committed is not seen"


def test_a_killed_holders_lock_is_free_at_once(world: Any, in_child: Callable[[Callable[[], object]], int]) -> None:
    world.populate()

    def die() -> None:
        with world.sesame() as sesame:
            sesame.index(on_progress=lambda _: os.kill(os.getpid(), signal.SIGKILL))

    assert in_child(die) == -signal.SIGKILL
    assert (world.data / "index.holder").exists(), "it died with the lock in its hand"
    world.index()
    assert world.content() == world.fresh()
    assert not (world.data / "index.holder").exists()


def test_a_second_thread_is_refused_like_a_second_process(world: Any) -> None:
    world.populate()
    refused: list[str] = []

    def index() -> None:
        try:
            world.index()
        except LockedError as error:
            refused.append(str(error))

    def meanwhile(_: object) -> None:
        thread = threading.Thread(target=index)
        thread.start()
        thread.join()

    with world.sesame() as sesame:
        report = sesame.index(on_progress=meanwhile)
    assert len(refused) == report.added == 6
    assert f"process {os.getpid()}" in refused[0]


def held(world: Any, seconds: float) -> subprocess.Popen[bytes]:
    """Return another process that has begun to write to the index, and does so for some seconds."""
    code = (
        "import sys, time\nfrom sesame_core import Sesame\n"
        f"with Sesame(sources=[], data_dir={str(world.data)!r}).writer():\n"
        f" print(flush=True)\n time.sleep({seconds})"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    return process


WRITES: dict[str, Callable[[Any, Sesame], object]] = {
    "index": lambda world, sesame: sesame.index(),
    "index of one file": lambda world, sesame: sesame.index([world.path(1)]),
    "index --full": lambda world, sesame: sesame.index(full=True),
    "forget": lambda world, sesame: sesame.forget(world.session_id(1)),
    "a search's refresh": lambda world, sesame: sesame.refresh(30),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_lock_that_is_free_in_a_moment_is_waited_for(world: Any, write: Callable[[Any, Sesame], object]) -> None:
    world.populate()
    world.index()
    world.write(2, "fox2 saw the otter")
    world.patience = 30.0
    with held(world, 1.0), world.sesame() as sesame:
        result = write(world, sesame)
    assert getattr(result, "reason", None) is None
    if write is not WRITES["forget"] and write is not WRITES["index of one file"]:
        assert world.found("otter") == {world.session_id(2)}


def test_a_lock_that_stays_is_named_with_the_time_that_it_was_waited_for(
    world: Any, holder: int, cli: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    world.patience = 0.5
    world.configure(monkeypatch)
    code, out, err = cli("index")
    assert (code, out) == (1, "")
    assert err.endswith("try again when it is done (waited 0.5 s)\n")
    assert f"process {holder}" in err


def test_a_search_waits_no_longer_than_it_may_index(world: Any, holder: int) -> None:
    world.patience = 30.0
    started = time.monotonic()
    with world.sesame() as sesame:
        report = sesame.refresh(0.2)
    assert time.monotonic() - started < 20
    assert f"process {holder}" in report.reason
    assert report.pending == 1


def test_stopped_while_it_waits_for_the_lock(world: Any, holder: int) -> None:
    world.patience = 30.0
    with world.sesame() as sesame, pytest.raises(StoppedError, match="while another process was writing"):
        sesame.index(is_stopped=lambda: True)
