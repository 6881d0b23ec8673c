"""A server goes on in the background until everything is indexed."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sesame_core import BackgroundIndexer, Config, Provider, Selection, Sesame, Source, hookimpl
from sesame_core.config.model import Describing
from sesame_core.plugin.manager import PluginManager
from sesame_core.runtime import background
from sesame_parser_pi.parser import PiParser

from ..support import transcripts

FILES = 60


class SlowPi(PiParser):
    """pi's sessions on a disk where opening a file takes a while."""

    def parse(self, path: Path) -> Iterator[Any]:
        time.sleep(0.02)
        if b"unparsable" in path.read_bytes():
            raise ZeroDivisionError
        for event in super().parse(path):
            if b"endless" in path.read_bytes():
                time.sleep(0.05)
            yield event


def write(root: Path, number: int, *texts: str) -> Path:
    stamp = "2026-03-04T05:06:00.000Z"
    records: list[dict[str, Any]] = [{"type": "session", "version": 3, "id": f"s{number:03d}", "timestamp": stamp}]
    for n, text in enumerate(texts or (f"animal{number}",)):
        message = {"role": "user", "content": text}
        records.append({"type": "message", "id": f"m{n}", "parentId": None, "timestamp": stamp, "message": message})
    path = root / f"2026_s{number:03d}.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    at = time.time() - 86_400 + number * 60
    os.utime(path, (at, at))
    return path


@pytest.fixture
def root(home: Path) -> Path:
    root = home / ".pi" / "agent" / "sessions"
    root.mkdir(parents=True)
    for number in range(FILES):
        write(root, number)
    return root


@pytest.fixture
def sesame(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sesame]:
    monkeypatch.setattr(background, "BATCH", 0.2)
    with opened(root, tmp_path) as sesame:
        yield sesame


def opened(root: Path, place: Path, **settings: Any) -> Sesame:
    plugins = PluginManager()
    provider = Provider(name="slow", summary="test", create=lambda _: SlowPi())
    plugins.register(SimpleNamespace(sesame_register_parsers=hookimpl(lambda: [provider])), "slow")
    config = Config(
        sources=(Source(parser=Selection(name="slow"), path=root),),
        backend=Selection(name="sqlite", options={"directory": str(place / "data")}),
        describe=Describing(directory=place / "metadata"),
        **{"refresh_seconds": 0.05, **settings},
    )
    return Sesame(config, plugins=plugins)


def wait(indexer: BackgroundIndexer, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while indexer.is_running:
        assert time.monotonic() < until, "it does not end"
        time.sleep(0.02)


def test_one_call_is_enough_for_everything_to_be_indexed(sesame: Sesame) -> None:
    with BackgroundIndexer(sesame) as indexer:
        report = indexer.refresh()
        assert 0 < report.pending < FILES
        assert indexer.is_running
        wait(indexer)
        assert sesame.status().sessions == FILES
        report = indexer.refresh()
        assert (report.pending, report.unchanged, report.reason) == (0, FILES, None)
        assert not indexer.is_running


def test_nothing_runs_when_nothing_is_left(sesame: Sesame) -> None:
    sesame.index()
    with BackgroundIndexer(sesame) as indexer:
        assert indexer.refresh().pending == 0
        assert not indexer.is_running


def test_without_refreshing_nothing_runs(root: Path, tmp_path: Path) -> None:
    with opened(root, tmp_path, refresh_seconds=0) as sesame, BackgroundIndexer(sesame) as indexer:
        assert indexer.refresh().pending == 0
        assert not indexer.is_running
        assert sesame.status().sessions == 0


def test_calls_meanwhile_are_answered_soon_and_count_what_is_left(sesame: Sesame) -> None:
    left = [FILES]
    with BackgroundIndexer(sesame) as indexer:
        while left[-1]:
            left.append(indexer.refresh().pending)
            time.sleep(0.05)
        assert left == sorted(left, reverse=True)
        assert len(set(left)) > 2


def test_many_threads_at_once(sesame: Sesame) -> None:
    failed: list[BaseException] = []

    def call() -> None:
        try:
            for _ in range(5):
                indexer.refresh()
                sesame.search("animal1")
        except BaseException as error:  # noqa: BLE001 - the test tells it
            failed.append(error)

    with BackgroundIndexer(sesame) as indexer:
        threads = [threading.Thread(target=call) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wait(indexer)
        assert failed == []
        assert sesame.status().sessions == FILES


def test_the_end_of_the_program_loses_nothing_and_takes_no_time(root: Path, tmp_path: Path) -> None:
    write(root, FILES, *["endless"] * 2_000)
    started = time.monotonic()
    with opened(root, tmp_path) as sesame:
        with BackgroundIndexer(sesame) as indexer:
            threading.Timer(1.0, indexer._stop.set).start()
            indexer.refresh()
        assert time.monotonic() - started < 30, "the file would take more than a minute and a half"
        assert not indexer.is_running
        (root / f"2026_s{FILES:03d}.jsonl").unlink()
        sesame.index()
        assert sesame.status().sessions == FILES


def test_another_process_may_write_between_two_batches(sesame: Sesame, root: Path, tmp_path: Path) -> None:
    with BackgroundIndexer(sesame) as indexer, opened(root, tmp_path, lock_seconds=20) as other:
        indexer.refresh()
        assert indexer.is_running
        write(root, FILES, "quokka")
        report = other.index([root / f"2026_s{FILES:03d}.jsonl"])
        assert report.added + report.unchanged == 1
        wait(indexer)
        assert sesame.status().sessions == FILES + 1


def test_it_waits_for_another_process_and_then_goes_on(
    sesame: Sesame, root: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with BackgroundIndexer(sesame) as indexer:
        indexer.refresh()
        with opened(root, tmp_path, lock_seconds=20) as other:
            with _held(other):
                time.sleep(1.5)
                report = indexer.refresh()
                assert report.reason
                assert report.pending
            wait(indexer)
        assert sesame.status().sessions == FILES
    assert [record for record in caplog.records if "being written" in record.message] == []


def _held(other: Sesame) -> Any:
    from sesame_core.api.patience import patiently

    return patiently(other.writer, 20)


def test_a_file_that_fails_is_logged_once(sesame: Sesame, root: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(root, 3, "unparsable")
    with caplog.at_level(logging.WARNING), BackgroundIndexer(sesame) as indexer:
        indexer.refresh()
        wait(indexer)
        for _ in range(3):
            assert len(indexer.refresh().errors) == 1
        assert sesame.status().sessions == FILES - 1
    assert len([record for record in caplog.records if "2026_s003" in record.message]) == 1


def test_an_error_of_the_index_is_logged_once_and_in_the_reports(
    sesame: Sesame, root: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with BackgroundIndexer(sesame) as indexer:
        indexer.refresh()
        wait(indexer)
        # Not cut off in place: SQLite maps the file beside the log into memory, and the process would end.
        for file in (tmp_path / "data").glob("index*.sqlite*"):
            file.unlink()
        (tmp_path / "data" / "index.sqlite").write_bytes(b"no database" * 1000)
        sesame.close()
        write(root, 3, "a heron")
        reasons = {indexer.refresh().reason for _ in range(3)}
    (reason,) = reasons
    assert reason
    assert len([record for record in caplog.records if record.message == reason]) == 1


def test_a_server_indexes_everything_after_its_first_call(root: Path, home: Path) -> None:
    """Over the wire, with clean ends of the process."""
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    config = home / ".config" / "sesame" / "config.jsonc"
    config.parent.mkdir(parents=True)
    config.write_text('{"refreshSeconds": 0.000001}')
    server = subprocess.Popen(
        [sys.executable, "-m", "sesame_core", "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None

    def ask(number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
        server.stdin.flush()
        answer: dict[str, Any] = json.loads(server.stdout.readline())
        return answer

    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    ask(0, "initialize", client)
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n")
    first = ask(1, "tools/call", {"name": "search_sessions", "arguments": {"query": "animal1"}})["result"]
    found = json.loads(first["content"][0]["text"])
    left = found["index"]["pending"]
    assert left > 0
    assert found["hints"][0].startswith(f"{left} of {FILES} files are not indexed yet")
    unknown = ask(2, "tools/call", {"name": "get_session", "arguments": {"session": "s000"}})["result"]
    if unknown["isError"]:
        assert "files are not indexed yet" in unknown["content"][0]["text"]
    for number in range(3, 200):
        listed = ask(number, "tools/call", {"name": "list_sessions", "arguments": {}})["result"]
        answer = json.loads(listed["content"][0]["text"])
        if not answer["index"]["pending"]:
            break
        time.sleep(0.1)
    assert answer["total"] == FILES
    assert answer["hints"] == []
    out, err = server.communicate(timeout=30)
    assert (server.returncode, out, err) == (0, "", "")


def test_a_large_history_is_scanned_again_while_nobody_calls_and_then_no_more(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("LASTING", 0.2), ("LEAST", 1), ("AWAKE", 3.0)):
        monkeypatch.setattr(background, name, value)
    claude = transcripts.Claude()
    transcripts.write(claude.path, claude.user("the fox"), claude.answer("it ran"))
    refreshes: list[float] = []

    class Counted(Sesame):
        def refresh(self, seconds: float | None = None, **options: Any) -> Any:
            refreshes.append(time.monotonic())
            return super().refresh(seconds, **options)

    with Counted() as sesame, BackgroundIndexer(sesame) as indexer:
        indexer.refresh()
        indexer.refresh()
        called = len(refreshes)
        deadline = time.monotonic() + 60
        while len(refreshes) < called + 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(refreshes) >= called + 2
        scanner = indexer._scanner
        assert scanner is not None
        scanner.join(60)
        assert not scanner.is_alive()
        indexer.refresh()
        assert indexer._scanner is not scanner


def test_a_small_history_is_scanned_by_calls_alone(home: Path) -> None:
    claude = transcripts.Claude()
    transcripts.write(claude.path, claude.user("the fox"), claude.answer("it ran"))
    with Sesame() as sesame, BackgroundIndexer(sesame) as indexer:
        indexer.refresh()
        indexer.refresh()
        assert indexer._scanner is None
