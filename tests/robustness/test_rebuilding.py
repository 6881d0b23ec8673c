"""`--full` builds beside: until the swap everyone sees the old index, then the new one, and never none."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import pytest

from sesame_core.types.index import Statistics


def test_every_moment_of_a_rebuild_shows_the_old_index(world: Any) -> None:
    world.populate()
    world.index()
    for number in range(6):
        world.write(number, f"fox{number} and the otter")
    seen: list[tuple[set[str], int]] = []
    with world.sesame() as reader, world.sesame() as writer:

        def look(_: object) -> None:
            seen.append((world.found("otter"), len(world.found("beetle1"))))
            seen.append(({h.session.id for h in reader.search("otter").hits}, len(reader.search("beetle1").hits)))

        writer.index(full=True, on_progress=look)
        assert seen == [(set(), 6)] * 12
        assert len(reader.search("otter").hits) == 6, "a reader that was open sees the new generation"
        assert reader.search("beetle1").hits == []
    assert len(world.found("otter")) == 6


def test_an_open_snapshot_outlives_the_swap(world: Any) -> None:
    from sesame_backend_sqlite.backend import SqliteBackend

    world.populate()
    world.index()
    backend = SqliteBackend(world.data)
    reader = backend.reader()
    with reader.snapshot():
        before = reader.statistics().sessions
        world.write(1, "only the otter")
        world.path(2).unlink()
        for _ in range(2):
            world.index(full=True)
        (stored,) = reader.find_sessions(world.session_id(1))
        assert len(reader.chunks([(stored.number, 0, None)])[0]) == 6
        assert reader.statistics().sessions == before
    assert [
        chunk.text for chunk in reader.chunks([(reader.find_sessions(world.session_id(1))[0].number, 0, None)])[0]
    ] == ["only the otter"]
    backend.close()


def test_a_reader_of_no_index_sees_the_first_one(world: Any) -> None:
    world.populate()
    with world.sesame() as reader:
        assert reader.search("fox1").hits == []
        assert reader.status().sessions == 0
        world.index()
        assert len(reader.search("fox1").hits) == 1
        assert isinstance(reader.status(), Statistics)
        assert reader.status().sessions == 6


def test_a_swap_between_finding_the_index_and_opening_it_is_not_seen(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The generation that was found is deleted before it is opened."""
    from sesame_backend_sqlite import opening

    world.populate()
    world.index()
    original, swaps = opening.for_reading, 0

    def late(path: Any) -> opening.Opened:
        nonlocal swaps
        if swaps < 3:
            swaps += 1
            with monkeypatch.context() as patch:
                patch.setattr(opening, "for_reading", original)
                world.index(full=True)
        return original(path)

    monkeypatch.setattr(opening, "for_reading", late)
    assert world.found("fox1") == {world.session_id(1)}
    assert swaps == 3


@pytest.mark.once
def test_searching_while_another_process_rebuilds_again_and_again(
    world: Any, in_child: Callable[[Callable[[], object]], int]
) -> None:
    world.populate()
    world.index()
    stop = threading.Event()
    ended: list[int] = []

    def rebuild() -> None:
        for _ in range(12):
            world.index(full=True)

    # The process is forked before the threads are started: forking with threads about is not safe.
    reading, writing = os.pipe()
    child = os.fork() if hasattr(os, "fork") else pytest.skip("needs fork")
    if child == 0:
        try:
            os.read(reading, 1)
            rebuild()
            os._exit(0)
        finally:
            os._exit(70)
    problems: list[object] = []

    def search(sesame: Any) -> None:
        while not stop.is_set():
            hits = sesame.search("fox1").hits
            if [hit.session.id for hit in hits] != [world.session_id(1)]:
                problems.append(hits)

    with world.sesame() as shared:

        def search_anew() -> None:
            while not stop.is_set():
                with world.sesame() as sesame:
                    if not sesame.search("fox1").hits:
                        problems.append("nothing")

        threads = [threading.Thread(target=search, args=(shared,)) for _ in range(2)]
        threads.append(threading.Thread(target=search_anew))
        for thread in threads:
            thread.start()
        os.write(writing, b"!")
        ended.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        stop.set()
        for thread in threads:
            thread.join()
    os.close(reading)
    os.close(writing)
    assert (ended, problems) == ([0], [])


def test_a_failed_rebuild_leaves_the_old_index_and_nothing_beside_it(world: Any) -> None:
    world.populate()
    world.index()
    before = world.content()

    def fail(_: object) -> None:
        raise RuntimeError("the lights went out")

    with world.sesame() as sesame, pytest.raises(RuntimeError, match="lights"):
        sesame.index(full=True, on_progress=fail)
    assert world.content() == before
    assert not list(world.data.glob("rebuild*"))
    world.check()
