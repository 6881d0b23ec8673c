"""`sesame watch` on a real file system with real notifications."""

from __future__ import annotations

import importlib.util
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Selection, Sesame, SesameError, Source
from sesame_core.installation import adding
from sesame_core.plugin.manager import PluginManager
from sesame_core.runtime.watcher import watch

from ..support.chats import Chats, register
from ..support.transcripts import Pi, append, pi_session, write

#: Seconds that anything here may take on a busy machine.
PATIENCE = 30.0
EVENT = {"timestamp", "path", "added", "updated", "skipped", "errors"}

needs_watchfiles = pytest.mark.skipif(
    importlib.util.find_spec("watchfiles") is None, reason="watchfiles, of the extra 'watch', is not installed"
)


def say(path: Path, *texts: str) -> Path:
    """Append prompts to a pi session, which begins when there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    records: list[dict[str, Any]] = []
    if not path.exists():
        header = {
            "type": "session",
            "version": 3,
            "id": path.stem,
            "timestamp": "2026-05-01T10:00:00.000Z",
            "cwd": "/w",
        }
        records.append(header)
    with path.open("a", encoding="utf-8") as file:
        for number, text in enumerate(texts, start=file.tell()):
            record = {
                "type": "message",
                "id": f"{number:08x}",
                "parentId": None,
                "timestamp": "2026-05-01T10:01:00.000Z",
            }
            records.append({**record, "message": {"role": "user", "content": text}})
        file.write("".join(json.dumps(record) + "\n" for record in records))
    return path


class Watcher:
    """`sesame watch` in a process of its own."""

    def __init__(self, cwd: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sesame_core", "watch"],
            cwd=cwd,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._events: queue.Queue[dict[str, Any]] = queue.Queue()
        self.log: list[str] = []
        self._threads = [
            threading.Thread(target=self._read_events, daemon=True),
            threading.Thread(target=self._read_log, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def event(self, timeout: float = PATIENCE) -> dict[str, Any]:
        """Return the next event."""
        return self._events.get(timeout=timeout)

    def is_silent(self) -> bool:
        """Whether no event waits."""
        return self._events.empty()

    def wait_for(self, line: str) -> None:
        """Wait until a line was logged."""
        deadline = time.monotonic() + PATIENCE
        while line not in self.log:
            assert time.monotonic() < deadline, self.log
            assert self.process.poll() is None, self.log
            time.sleep(0.02)

    def stop(self) -> int:
        """Press Ctrl-C; return the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=PATIENCE)
        for thread in self._threads:
            thread.join(PATIENCE)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        return code

    def _read_events(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._events.put(json.loads(line))

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line.rstrip("\n"))


@pytest.fixture
def root(home: Path) -> Path:
    """Where pi keeps its sessions."""
    return home / ".pi" / "agent" / "sessions"


@pytest.fixture
def start(home: Path) -> Iterator[Callable[[], Watcher]]:
    """Start watching; stopped at the end at the latest."""
    started: list[Watcher] = []

    def start() -> Watcher:
        started.append(Watcher(home))
        return started[-1]

    yield start
    for watcher in started:
        watcher.stop()


@needs_watchfiles
def test_a_session_in_a_database_is_indexed_when_the_log_grows(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    chats, plugins = Chats(tmp_path / "in" / "one.chats"), PluginManager()
    register(plugins)
    chats.say("a", "zebra", at=1.0)
    sources = [Source(parser=Selection(name="chats"), path=tmp_path / "in")]
    with Sesame(sources=sources, data_dir=tmp_path / "data", plugins=plugins) as sesame:
        with closing(watch(sesame)) as events:  # type: ignore[type-var]
            assert next(events)["added"] == 1  # type: ignore[typeddict-item]
            chats.say("b", "okapi", at=2.0)
            event = next(events)
            assert (event["path"], event["added"]) == (f"{chats.path}-wal", 1)  # type: ignore[typeddict-item]
        assert [hit.session.id for hit in sesame.search("okapi").hits] == ["b"]
    chats.close()


@needs_watchfiles
def test_each_change_is_one_event_and_is_found_at_once(
    root: Path, start: Callable[[], Watcher], cli: Callable[..., Any]
) -> None:
    file = say(root / "--w--" / "first.jsonl", "where do pangolins sleep")
    watcher = start()
    event = watcher.event()
    assert event.keys() == EVENT
    assert event["timestamp"].endswith("Z")
    assert {name: event[name] for name in ("path", "added", "updated", "errors")} == {
        "path": None,
        "added": 1,
        "updated": 0,
        "errors": 0,
    }

    say(file, "and what do armadillos eat")
    event = watcher.event()
    assert (event["path"], event["added"], event["updated"]) == (str(file), 0, 1)
    assert "Found 1 session" in cli("search", "--no-refresh", "armadillos").out

    other = say(root / "--x--" / "second.jsonl", "an aardvark")
    event = watcher.event()
    assert (event["path"], event["added"], event["updated"]) == (str(other), 1, 0)
    assert "Found 1 session" in cli("search", "--no-refresh", "aardvark").out

    (root / "--x--" / "notes.txt").write_text("no session")
    other.unlink()
    time.sleep(1.5)
    assert watcher.is_silent()
    assert watcher.stop() == 130
    assert watcher.log == [f"watching {root}"]


@needs_watchfiles
def test_a_file_in_a_directory_as_new_as_itself_is_indexed_though_no_notification_names_it(
    home: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import watchfiles

    root.mkdir(parents=True)
    file = root / "--w--" / "deeper" / "first.jsonl"

    def notifications(*_: object, **__: object) -> Iterator[set[tuple[watchfiles.Change, str]]]:
        yield set()
        say(file, "where do pangolins sleep")
        yield {(watchfiles.Change.modified, str(root)), (watchfiles.Change.added, str(root / "--w--"))}

    monkeypatch.setattr(watchfiles, "watch", notifications)
    source = Source(parser=Selection(name="pi"), path=root)
    with Sesame(sources=[source], data_dir=home / "data") as sesame:
        event = next(watch(sesame))
    assert (event["path"], event["added"]) == (str(file), 1)


@needs_watchfiles
def test_a_root_that_appears_is_watched_from_then_on(
    home: Path, root: Path, start: Callable[[], Watcher], cli: Callable[..., Any]
) -> None:
    config = home / ".config" / "sesame" / "config.jsonc"
    config.parent.mkdir(parents=True)
    config.write_text('{"sources": [{"parser": "pi"}]}')
    watcher = start()
    watcher.wait_for(f"waiting for {root}")
    file = say(root / "--w--" / "first.jsonl", "where do pangolins sleep")
    assert watcher.event()["added"] == 1
    watcher.wait_for(f"watching {root}")
    say(file, "and what do armadillos eat")
    assert watcher.event()["updated"] == 1
    assert "Found 1 session" in cli("search", "--no-refresh", "armadillos").out


@needs_watchfiles
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="CPU time of another process is read from /proc")
def test_waiting_costs_next_to_nothing(root: Path, start: Callable[[], Watcher]) -> None:
    say(root / "--w--" / "first.jsonl", "where do pangolins sleep")
    watcher = start()
    watcher.event()
    time.sleep(0.5)

    def cpu_seconds() -> float:
        fields = Path(f"/proc/{watcher.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    before = cpu_seconds()
    time.sleep(3)
    assert cpu_seconds() - before <= 0.15


@needs_watchfiles
def test_changes_that_were_missed_are_found_by_the_next_full_pass(home: Path, root: Path) -> None:
    say(root / "--w--" / "first.jsonl", "where do pangolins sleep")
    elsewhere = home / "elsewhere"
    source = Source(parser=Selection(name="pi"), path=root)
    with Sesame(sources=[source], data_dir=home / "data") as sesame:
        events = watch(sesame, rescan_seconds=0)
        assert next(events)["added"] == 1
        # Behind a link that no notification crosses.
        say(elsewhere / "second.jsonl", "an aardvark")
        (root / "link").symlink_to(elsewhere)
        deadline = time.monotonic() + PATIENCE
        while sesame.status().sessions < 2:
            assert time.monotonic() < deadline
            next(events)
        events.close()  # type: ignore[attr-defined]


def test_without_watchfiles_the_command_says_what_to_install(
    cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    ran = cli("watch")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"sesame: watching needs watchfiles, which is not installed: {adding('watch')}\n"


@needs_watchfiles
def test_a_locked_index_is_waited_for(monkeypatch: pytest.MonkeyPatch, home: Path, root: Path) -> None:
    monkeypatch.setattr("sesame_core.runtime.watcher.RETRY_SECONDS", 0.05)
    say(root / "--w--" / "first.jsonl", "where do pangolins sleep")
    source = Source(parser=Selection(name="pi"), path=root)
    told: list[str] = []
    with (
        closing(PluginManager().backend("sqlite", {"directory": str(home / "data")})) as holder,
        Sesame(sources=[source], data_dir=home / "data") as sesame,
    ):
        writer = holder.writer()
        writer.__enter__()

        def log(text: str) -> None:
            told.append(text)
            if "is being written by" in text and len(told) < 4:
                writer.__exit__(None, None, None)

        events = watch(sesame, log=log)
        assert next(events)["added"] == 1
        events.close()  # type: ignore[attr-defined]
    assert any("is being written by" in text for text in told)


@needs_watchfiles
def test_a_failure_is_an_event_and_no_end(home: Path, root: Path) -> None:
    say(root / "--w--" / "first.jsonl", "where do pangolins sleep")

    class Failing(Sesame):
        failures = 1

        def index(self, *args: Any, **options: Any) -> Any:
            if self.failures:
                self.failures -= 1
                raise SesameError("the disk is full")
            return super().index(*args, **options)

    source = Source(parser=Selection(name="pi"), path=root)
    with Failing(sources=[source], data_dir=home / "data") as sesame:
        events = watch(sesame)
        event = next(events)
        assert (event["error"], event["path"]) == ("the disk is full", None)
        say(root / "--w--" / "second.jsonl", "an aardvark")
        assert next(events)["added"] == 1
        events.close()  # type: ignore[attr-defined]


@pytest.mark.upstream(33)
@needs_watchfiles
def test_watching_does_not_hold_the_lock(cli: Callable[..., Any]) -> None:
    pi_session("session0", "the first coucal")
    with Sesame() as sesame:
        sesame.index()
    pi = Pi("second")
    write(pi.path, pi.header(), pi.user("the second coucal"))
    with Sesame() as watching:
        events = watch(watching)
        assert next(events)["added"] == 1
        append(pi.path, pi.user("the third coucal"))
        done = cli("index", "--json")
        assert (done.code, done.json["appended"]) == (0, 1)
        events.close()


@pytest.mark.upstream(38)
@needs_watchfiles
def test_watching_finds_roots_that_appear_and_files_that_changed_meanwhile() -> None:
    pi = Pi("late", cwd="/home/bo/late")
    events: queue.Queue[Any] = queue.Queue()
    waiting = threading.Event()

    def run() -> None:
        with Sesame(sources=[Source(parser=Selection(name="pi"), path=pi.root)]) as sesame:
            found = watch(sesame, log=lambda text: waiting.set() if "waiting for" in text else None)
            for _ in range(2):
                events.put(next(found))
            found.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert waiting.wait(PATIENCE)
    # The root comes into being, with a file in it, while nobody can be told of it.
    write(pi.path, pi.header(), pi.user("the late honeyeater"))
    assert events.get(timeout=PATIENCE)["added"] == 1
    append(pi.path, pi.user("the later honeyeater"))
    assert events.get(timeout=PATIENCE)["updated"] == 1
    thread.join(PATIENCE)
    assert not thread.is_alive()
