"""Many read while one writes, in threads and in processes: no error, and no answer that is half old, half new."""

from __future__ import annotations

import itertools
import os
import random
import re
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest

from sesame_core import UnknownSessionError

pytestmark = pytest.mark.once

#: Seconds; longer by hand: SESAME_STRESS_SECONDS=60.
SECONDS = float(os.environ.get("SESAME_STRESS_SECONDS") or 5)
THREADS, PROCESSES = 8, 4
COUNT = 12
#: What happens to the index meanwhile.
DEEDS = ("append", "rebuild", "forget", "rewrite", "vanish")


@pytest.fixture(scope="module")
def seconds() -> float:
    return SECONDS


SAYS = re.compile(r"fox(\d+)x met beetle of generation(\d+)x, (\d+) of (\d+)")


def texts(number: int, generation: int, count: int = 1) -> list[str]:
    """Say whose texts they are, from which version of the file, and how many belong together."""
    return [f"fox{number}x met beetle of generation{generation}x, {n} of {count}" for n in range(1, count + 1)]


def number_of(session_id: str) -> int:
    return int(session_id[-12:])


def check_whole(number: int, found: list[str]) -> int:
    """Check that texts are all that a session says at some time: whole versions, one after the other; return the last.

    A file that was written again says one version, and each append a later one.
    """
    latest, expected = -1, (-1, 1, 0)
    for said in found:
        match = SAYS.fullmatch(said)
        assert match, said
        owner, generation, place, count = map(int, match.groups())
        assert owner == number, f"{number} holds {said!r}"
        if expected[1] > expected[2]:
            assert generation > latest, f"{said!r} after generation {latest}"
            latest, expected = generation, (generation, 1, count)
        assert (generation, place, count) == expected, f"{said!r} instead of {expected}"
        expected = (generation, place + 1, count)
    assert expected[1] > expected[2] > 0, f"{number} ends within a version: {found[-1:]}"
    return latest


@dataclass
class Reader:
    """Asks something again and again and checks that each answer is of one piece, and no older than the one before."""

    dice: random.Random
    #: The last version that was seen of each session, and the sessions that are gone for good.
    latest: dict[int, int] = field(default_factory=dict)
    forgotten: set[int] = field(default_factory=set)
    looks: int = 0

    def look(self, sesame: Any) -> None:
        """Search, list, and read a session."""
        self.looks += 1
        number = self.dice.randrange(COUNT)
        query = self.dice.choice([f"+fox{number}x", f"fox{number}x beetle", "beetle", f"fox{number}x OR NOT (x"])
        answer = sesame.search(query, limit=COUNT, passages=2, context=(2, 2))
        assert answer.chunk_total > 0, "an index that was filled is never seen empty"
        assert len({hit.session.id for hit in answer.hits}) == len(answer.hits) == answer.total
        for hit in answer.hits:
            self.check_hit(hit)
        listed, total = sesame.list_sessions(limit=100)
        assert 0 < len(listed) == total <= COUNT
        there = {number_of(stored.session.id) for stored in listed}
        assert len(there) == total, "each session once"
        assert not there & self.forgotten, "what was forgotten stays so"
        self.forgotten |= set(range(COUNT)) - there
        wanted = self.dice.choice(listed)
        try:
            chunks = sesame.list_messages(wanted)
        except UnknownSessionError:
            return  # forgotten meanwhile
        number = number_of(wanted.session.id)
        assert {chunk.session_id for chunk in chunks} == {wanted.session.id}, "a number that is another session's now"
        latest = check_whole(number, [chunk.text for chunk in chunks])
        assert latest >= self.latest.get(number, 0), "an older version than was seen before"
        self.latest[number] = latest

    def check_hit(self, hit: Any) -> None:
        owner = f"fox{number_of(hit.session.id)}x "
        assert hit.stored.chunk_count >= len(hit.passages) >= 1
        for passage in hit.passages:
            assert passage.chunk.text.startswith(owner), f"{hit.session.id} shows {passage.chunk.text!r}"
            assert passage.snippet.text.strip("\u2026") in passage.chunk.text
        items = [*hit.window.before, hit.window.match, *hit.window.after]
        assert hit.window.match.snippet == hit.chunk.text
        assert [item.position for item in items] == list(range(items[0].position, items[0].position + len(items)))
        assert all(item.snippet.startswith(owner) for item in items), f"{hit.session.id} shows {items}"


def search_until(world: Any, ends: float, seed: int, problems: list[str]) -> int:
    """Look with one connection after the other; return how often."""
    reader = Reader(random.Random(seed))
    try:
        while time.monotonic() < ends:
            with world.sesame() as sesame:
                for _ in range(reader.dice.randrange(1, 40)):
                    if time.monotonic() < ends:
                        reader.look(sesame)
    except BaseException as error:  # noqa: BLE001 - told by the main thread
        problems.append(repr(error))
    return reader.looks


def share_until(sesame: Any, ends: float, seed: int, problems: list[str]) -> int:
    """Look with what other threads use, too; return how often."""
    reader = Reader(random.Random(seed))
    try:
        while time.monotonic() < ends:
            reader.look(sesame)
    except BaseException as error:  # noqa: BLE001 - told by the main thread
        problems.append(repr(error))
    return reader.looks


def write_until(world: Any, ends: float) -> dict[str, int]:
    """Index, append, rewrite, delete, forget and rebuild; return how often."""
    dice = random.Random(0)
    lengths = dict.fromkeys(range(COUNT), 3)
    done: dict[str, int] = {}
    first = iter(DEEDS)
    with world.sesame() as sesame:
        for generation in itertools.count(1):
            # Each deed is done, however slow the machine.
            if time.monotonic() >= ends and generation > len(DEEDS):
                break
            number = dice.randrange(1, COUNT)
            deed = next(first, None) or dice.choice([*DEEDS, *["append"] * 5, *["rewrite"] * 2])
            done[deed] = done.get(deed, 0) + 1
            if deed == "append":
                if world.path(number).exists():
                    world.append(number, lengths[number], *texts(number, generation))
                    lengths[number] += 1
            elif deed == "rewrite":
                lengths[number] = dice.randrange(1, 30)
                world.write(number, *texts(number, generation, lengths[number]))
            elif deed == "vanish":
                world.path(number).unlink(missing_ok=True)
            elif deed == "forget" and done[deed] < COUNT // 2:
                try:
                    sesame.forget(world.session_id(number))
                except UnknownSessionError:
                    continue  # forgotten before
            report = sesame.index(full=deed == "rebuild")
            assert report.errors == []
    return done


def test_many_read_while_one_writes(world: Any, seconds: float) -> None:
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    for number in range(COUNT):
        world.write(number, *texts(number, 0, 3))
    world.index()
    ends = time.monotonic() + seconds
    children = [fork(lambda seed=seed: search_until_or_exit(world, ends, seed)) for seed in range(PROCESSES)]
    problems: list[str] = []
    with world.sesame() as shared, ThreadPoolExecutor(THREADS) as pool:
        looks = [
            pool.submit(share_until, shared, ends, 100 + seed, problems)
            if seed % 2
            else pool.submit(search_until, world, ends, 100 + seed, problems)
            for seed in range(THREADS)
        ]
        try:
            done = write_until(world, ends)
        finally:
            count = sum(look.result() for look in looks)
            codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    print(f"{seconds:g} s: {done}, {count} looks of {THREADS} threads beside {PROCESSES} processes")
    assert problems == []
    assert codes == [0] * PROCESSES
    assert set(done) == set(DEEDS)
    assert count >= THREADS
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
