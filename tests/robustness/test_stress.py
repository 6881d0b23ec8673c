"""Many read while one writes, in threads and in processes: no error, and no answer that is half old, half new."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from sesame_core import UnknownSessionError

#: Seconds; longer by hand: SESAME_STRESS_SECONDS=60.
SECONDS = float(os.environ.get("SESAME_STRESS_SECONDS") or 5)
THREADS, PROCESSES = 8, 4
COUNT = 12


@pytest.fixture(scope="module")
def seconds() -> float:
    return SECONDS


def text(number: int, generation: int) -> str:
    """Say whose text it is and from which version of the file: every text of one version says the same."""
    return f"fox{number}x met beetle of generation{generation}x in session {number}"


def look(sesame: Any, dice: random.Random) -> None:
    """Ask something and check that the answer is of one piece."""
    number = dice.randrange(COUNT)
    answer = sesame.search(dice.choice([f"+fox{number}x", f"fox{number}x beetle", "beetle", f"fox{number}x OR NOT (x"]))
    assert answer.chunk_total > 0, "an index that was filled is never seen empty"
    for hit in answer.hits:
        if hit.chunk is not None:
            owner = f"fox{int(hit.session.id[-12:])}x"
            assert owner in hit.chunk.text, f"{hit.session.id} shows {hit.chunk.text!r}"
            assert hit.snippet.text.strip("\u2026") in hit.chunk.text
        assert hit.stored.chunk_count >= 1
    listed, total = sesame.list_sessions(limit=100)
    assert 0 < len(listed) == total <= COUNT
    wanted = dice.choice(listed)
    try:
        chunks = sesame.list_messages(wanted)
    except UnknownSessionError:
        return  # forgotten meanwhile
    owner = f"fox{int(wanted.session.id[-12:])}x"
    assert chunks
    for chunk in chunks:
        assert chunk.session_id == wanted.session.id, "a number that is another session's now"
        assert owner in chunk.text, f"{wanted.session.id} holds {chunk.text!r}"


def search_until(world: Any, ends: float, seed: int, problems: list[str]) -> None:
    dice = random.Random(seed)
    try:
        while time.monotonic() < ends:
            with world.sesame() as sesame:
                for _ in range(dice.randrange(1, 40)):
                    if time.monotonic() >= ends:
                        return
                    look(sesame, dice)
    except BaseException as error:  # noqa: BLE001 - told by the main thread
        problems.append(repr(error))


def share_until(sesame: Any, ends: float, seed: int, problems: list[str]) -> None:
    dice = random.Random(seed)
    try:
        while time.monotonic() < ends:
            look(sesame, dice)
    except BaseException as error:  # noqa: BLE001 - told by the main thread
        problems.append(repr(error))


def write_until(world: Any, ends: float) -> dict[str, int]:
    """Index, append, rewrite, delete, forget and rebuild; return how often."""
    dice = random.Random(0)
    lengths = dict.fromkeys(range(COUNT), 3)
    done: dict[str, int] = {}
    generation = 0
    with world.sesame() as sesame:
        while time.monotonic() < ends:
            generation += 1
            number = dice.randrange(COUNT)
            deed = dice.choice(["append"] * 6 + ["rewrite"] * 3 + ["vanish", "rebuild", "forget"])
            done[deed] = done.get(deed, 0) + 1
            if deed == "append":
                if world.path(number).exists():
                    world.append(number, lengths[number], text(number, generation))
                    lengths[number] += 1
            elif deed == "rewrite":
                lengths[number] = dice.randrange(1, 30)
                world.write(number, *[text(number, generation)] * lengths[number])
            elif deed == "vanish":
                world.path(number).unlink(missing_ok=True)
            elif deed == "forget" and number and done[deed] < COUNT // 2:
                try:
                    sesame.forget(world.session_id(number))
                except UnknownSessionError:
                    continue  # forgotten before
            report = sesame.index(full=deed == "rebuild")
            assert report.errors == []
    return done


@pytest.mark.slow
def test_many_read_while_one_writes(world: Any, seconds: float) -> None:
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    for number in range(COUNT):
        world.write(number, *[text(number, 0)] * 3)
    world.index()
    ends = time.monotonic() + seconds
    children = [fork(lambda seed=seed: search_until_or_exit(world, ends, seed)) for seed in range(PROCESSES)]
    problems: list[str] = []
    with world.sesame() as shared:
        threads = [
            threading.Thread(target=share_until, args=(shared, ends, 100 + seed, problems))
            if seed % 2
            else threading.Thread(target=search_until, args=(world, ends, 100 + seed, problems))
            for seed in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        try:
            done = write_until(world, ends)
        finally:
            for thread in threads:
                thread.join()
            codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert problems == []
    assert codes == [0] * PROCESSES
    assert set(done) >= {"append", "rewrite"}
    world.index()
    world.check()


def fork(action: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        try:
            action()
        finally:
            os._exit(70)
    return child


def search_until_or_exit(world: Any, ends: float, seed: int) -> None:
    problems: list[str] = []
    search_until(world, ends, seed, problems)
    if problems:
        os.write(2, f"{problems}\n".encode())
    os._exit(1 if problems else 0)
