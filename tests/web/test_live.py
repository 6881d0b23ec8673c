"""The stream of what changes: what it says and when, to whom, and how it ends."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")

import httpx2
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException

from sesame_core import Sesame
from sesame_core.runtime.watcher import notices
from sesame_core.web import live
from sesame_core.web.asking import Asked
from sesame_core.web.desk import Desk
from sesame_core.web.live import Live
from sesame_core.web.searching import search_page

from ..support.both_backends import Index
from ..support.transcripts import Pi, append, write
from ..support.web_client import Served, served, texts, tree_of

#: Seconds until something must have come; a busy machine takes its time.
PATIENCE = 60
WORDS = "quaggas and okapis"


class Stream:
    """What comes on a stream, event by event."""

    def __init__(self, answer: httpx2.Response) -> None:
        self.text = ""
        self._lines = answer.iter_lines()

    def event(self) -> dict[str, Any]:
        """Return the next event: its name as `event`, its id, and its data."""
        found: dict[str, Any] = {}
        for line in self._lines:
            self.text += line + "\n"
            name, _, value = line.partition(": ")
            if name in ("event", "id"):
                found[name] = value
            elif name == "data":
                found |= json.loads(value)
            elif not line and "event" in found:
                return found
        raise EOFError

    def until(self, **wanted: Any) -> dict[str, Any]:
        """Return the next event that has these."""
        while True:
            event = self.event()
            if wanted.items() <= event.items():
                return event


@contextmanager
def streaming(visitor: httpx2.Client, session: str = "", **headers: str) -> Iterator[Stream]:
    given = {"session": session} if session else {}
    with visitor.stream("GET", "/api/events", params=given, headers=headers, timeout=PATIENCE) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"] == "no-store"
        yield Stream(answer)


@pytest.fixture
def pi(home: Path) -> Pi:
    """A session with one message."""
    pi = Pi("019b0000-live")
    write(pi.path, pi.header(), pi.user(WORDS))
    return pi


@pytest.fixture
def server(pi: Pi) -> Iterator[Served]:
    with Sesame() as sesame:
        assert sesame.index().added == 1
    with served() as running:
        yield running


def test_a_session_that_grows_is_told_by_numbers_alone(server: Served, pi: Pi) -> None:
    with server.visitor() as visitor:
        with streaming(visitor, pi.session) as stream:
            first = stream.event()
            assert {name: first[name] for name in ("event", "sessions", "pending")} == {
                "event": "index",
                "sessions": 1,
                "pending": 0,
            }
            assert first["text"].startswith("1 session · index changed 20")
            assert first["lastSync"]
            assert stream.event() == {
                "event": "session",
                "id": first["id"],
                "sessionId": pi.session,
                "chunkCount": 1,
            }
            append(pi.path, pi.user("a third okapi"), pi.answer("yes"))
            last = stream.until(event="session", chunkCount=3)
            assert WORDS not in stream.text
            assert "okapi" not in stream.text
        # Who asks again hears only what has changed since.
        with streaming(visitor, pi.session, **{"Last-Event-ID": last["id"]}) as stream:
            append(pi.path, pi.user("a fourth"))
            event = stream.until(event="session")
            assert event["chunkCount"] == 4
            assert "retry: " in stream.text


def test_a_page_without_a_session_hears_of_new_ones(server: Served, pi: Pi) -> None:
    with server.visitor() as visitor, streaming(visitor) as stream:
        assert stream.event()["sessions"] == 1
        other = Pi("019b0001-other")
        write(other.path, other.header(), other.user("another one"))
        assert stream.until(sessions=2)["event"] == "index"


def test_a_stream_is_for_those_who_are_in(server: Served, pi: Pi) -> None:
    with server.stranger() as stranger:
        assert stranger.get("/api/events").status_code == 401
    with server.visitor() as visitor:
        unknown = visitor.get("/api/events", params={"session": "nothing-like-it"})
        assert (unknown.status_code, list(unknown.json())) == (404, ["error"])
        head = visitor.head("/api/events")
        assert (head.status_code, head.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
        assert visitor.post("/api/events").status_code in (404, 405)
        assert visitor.get("/api/events", headers={"Origin": "https://evil.example"}).status_code == 403
        with streaming(visitor, pi.session) as stream:
            stream.event()
            assert visitor.post("/leave").status_code == 303
            with pytest.raises(EOFError):
                stream.until(event="never")


def test_streams_end_with_the_server_at_once_and_quietly(server: Served, pi: Pi) -> None:
    with server.visitor() as visitor, streaming(visitor, pi.session) as stream:
        stream.event()
        server.process.terminate()
        with pytest.raises(EOFError):
            stream.until(event="never")
        server.process.wait(PATIENCE)
        assert server.process.stderr is not None
        assert "rror" not in server.process.stderr.read()


@pytest.mark.once
def test_some_streams_are_served_at_once_and_those_that_end_leave_room(server: Served) -> None:
    with server.visitor() as visitor:
        cookies = visitor.cookies
        clients = [httpx2.Client(base_url=server.url, cookies=cookies, timeout=PATIENCE) for _ in range(live.STREAMS)]
        with ExitStack() as held:
            for client in clients:
                held.callback(client.close)
            streams = [held.enter_context(streaming(client)) for client in clients]
            for stream in streams:
                stream.event()
            with visitor.stream("GET", "/api/events") as refused:
                assert (refused.status_code, refused.headers["retry-after"]) == (503, "30")
            # Pages are answered all the while.
            assert visitor.get("/").status_code == 200
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with visitor.stream("GET", "/api/events") as answer:
                if answer.status_code == 200:
                    return
        pytest.fail("no stream has ended")


# -- on both backends, without a server -------------------------------------------------------------------


async def events(stream: Any) -> AsyncIterator[dict[str, Any]]:
    """Yield the events of a stream, and `{}` for each comment."""
    async for text in stream.body_iterator:
        lines = dict(line.partition(": ")[::2] for line in text.strip().split("\n"))
        if "data" in lines:
            yield {"event": lines["event"], **json.loads(lines["data"])}
        elif "" in lines:
            yield {}


def run(action: Callable[[Live], Any], *, is_read_only: bool = False) -> None:
    """Run a coroutine with the streams of a desk."""

    async def running() -> None:
        desk = Desk(sesame, sesame, is_read_only=is_read_only)
        try:
            async with asyncio.timeout(PATIENCE):
                await action(Live(desk))
        finally:
            desk.close()

    with Sesame() as sesame:
        asyncio.run(running())


def test_what_another_process_writes_is_told(
    index: Index,
    pi: Pi,
    cli: Callable[..., Any],
    sesame: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live, "LOOK", 0.05)
    index.prepare(cli)
    assert cli("index").code == 0

    async def follow(streams: Live) -> None:
        stream = streams.stream(pi.session, "", lambda: True)
        heard = events(stream)
        counts = []
        async for event in heard:
            if event.get("event") == "session":
                counts.append(event["chunkCount"])
                if counts == [1]:
                    append(pi.path, pi.user("a third"))
                    # A read-only page indexes nothing itself.
                    await asyncio.to_thread(sesame, "index")
                if counts[-1] == 2:
                    break
        await stream.body_iterator.aclose()  # type: ignore[attr-defined]

    run(follow, is_read_only=True)


def test_a_session_that_is_forgotten_has_no_messages(
    pi: Pi, cli: Callable[..., Any], sesame: Callable[..., Any]
) -> None:
    assert cli("index").code == 0

    async def follow(streams: Live) -> None:
        stream = streams.stream(pi.session, "", lambda: True)
        async for event in events(stream):
            if event.get("chunkCount") == 1:
                pi.path.unlink()
                await asyncio.to_thread(sesame, "forget", pi.session, "--yes")
            if event.get("chunkCount") == 0:
                break
        await stream.body_iterator.aclose()  # type: ignore[attr-defined]

    run(follow, is_read_only=True)


def test_silence_is_broken_now_and_then(pi: Pi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "LOOK", 0.01)
    monkeypatch.setattr(live, "HEARTBEAT", 0.05)

    async def follow(streams: Live) -> None:
        stream = streams.stream(None, "", lambda: True)
        async for event in events(stream):
            if not event:
                break
        await stream.body_iterator.aclose()  # type: ignore[attr-defined]

    run(follow, is_read_only=True)


def test_the_thread_that_follows_ends_with_the_last_stream(pi: Pi) -> None:
    def threads() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name == "sesame-live"]

    async def follow(streams: Live) -> None:
        for _ in range(2):
            pair = [streams.stream(None, "", lambda: True) for _ in range(2)]
            for stream in pair:
                async for _event in events(stream):
                    break
            assert len(threads()) == 1
            for stream in pair:
                await stream.body_iterator.aclose()  # type: ignore[attr-defined]
            await asyncio.to_thread(lambda: [thread.join(PATIENCE) for thread in threads()])
            assert threads() == []

    run(follow)


def test_more_than_some_are_refused(pi: Pi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "STREAMS", 1)

    async def follow(streams: Live) -> None:
        stream = streams.stream(None, "", lambda: True)
        async for _event in events(stream):
            break
        with pytest.raises(HTTPException) as refused:
            streams.stream(None, "", lambda: True)
        assert refused.value.status_code == 503
        await stream.body_iterator.aclose()  # type: ignore[attr-defined]
        streams.stream(None, "", lambda: True)

    run(follow, is_read_only=True)


def test_an_error_that_nobody_expected_is_on_the_page_until_indexing_works_again(
    pi: Pi, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> Any:
        raise ZeroDivisionError("a heron")

    with Sesame() as sesame:
        desk = Desk(sesame, sesame)
        try:
            with monkeypatch.context() as patched:
                patched.setattr(sesame, "refresh", fail)
                desk.follow()
                notes = texts(tree_of(search_page(desk, Asked(QueryParams()))), ".//ul[@id='notes']/li")
            reason = "internal error (ZeroDivisionError); the server's log has the details"
            assert f"The index was not refreshed: {reason}" in notes
            assert "ZeroDivisionError" in caplog.text
            desk.follow()
            assert texts(tree_of(search_page(desk, Asked(QueryParams("q=quaggas")))), ".//ul[@id='notes']/li") == []
        finally:
            desk.close()


# -- notices ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("has_watch", [True, False], ids=["with the extra watch", "without"])
def test_a_change_is_noticed(home: Path, pi: Pi, has_watch: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if has_watch:
        pytest.importorskip("watchfiles", reason="the extra watch is not installed")
    else:
        monkeypatch.setitem(sys.modules, "watchfiles", None)
    stop = threading.Event()
    with Sesame() as sesame:
        seen = notices(sesame, stop, seconds=0.05)
        next(seen)
        next(seen)  # what changed before the system watched
        append(pi.path, pi.user("a third"))
        next(seen)
        stop.set()
        list(seen)  # ends


def test_a_directory_that_appears_is_noticed(home: Path) -> None:
    pytest.importorskip("watchfiles", reason="the extra watch is not installed")
    stop = threading.Event()
    with Sesame() as sesame:
        seen = notices(sesame, stop, seconds=0.05)
        next(seen)
        next(seen)
        pi = Pi("019b0000-new")
        write(pi.path, pi.header(), pi.user(WORDS))
        # From now on the system watches it: with its first look, and with each change.
        assert next(seen) is None
        stop.set()


def test_where_the_system_watches_no_further_directory_all_are_looked_at(
    pi: Pi, monkeypatch: pytest.MonkeyPatch
) -> None:
    watchfiles = pytest.importorskip("watchfiles", reason="the extra watch is not installed")

    def refuse(*_: object, **__: object) -> Iterator[set[Any]]:
        raise OSError("OS file watch limit reached")

    monkeypatch.setattr(watchfiles, "watch", refuse)
    stop = threading.Event()
    with Sesame() as sesame:
        seen = notices(sesame, stop, seconds=0.01)
        for _ in range(3):
            next(seen)
        stop.set()
        list(seen)  # ends


def test_streams_that_are_asked_for_all_at_once_are_no_more_than_some(pi: Pi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "STREAMS", 2)

    async def follow(streams: Live) -> None:
        asked = [streams.stream(None, "", lambda: True) for _ in range(5)]
        served = []
        for stream in asked:
            async for _event in events(stream):
                served.append(stream)
                break
        assert served == asked[:2]
        for stream in served:
            await stream.body_iterator.aclose()  # type: ignore[attr-defined]

    run(follow, is_read_only=True)
