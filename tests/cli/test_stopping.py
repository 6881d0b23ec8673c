"""Ctrl-C and SIGTERM while indexing: what is indexed stays, one line says where it stopped, the next run goes on."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Selection, Sesame, Source
from sesame_core.errors import StoppedError
from sesame_core.indexing import indexer
from sesame_core.testing.memory import MemoryPlugin

pytestmark = pytest.mark.once

FILES = 600
#: Sesame that commits sooner, so that a run is far from its end when it has committed.
PROGRAM = """
import sys
from sesame_core.cli import main
from sesame_core.indexing import indexer
indexer.COMMIT_SECONDS = 0.1
sys.argv[0] = "sesame"
main()
"""
STOPPED = re.compile(r"stopped; (\d+) of (\d+) files indexed; go on with: sesame index\n")


@pytest.fixture
def sessions(home: Path) -> Path:
    """Enough sessions for a run of some seconds; the n-th is about `animal<n>`."""
    root = home / ".pi" / "agent" / "sessions" / "--w--"
    root.mkdir(parents=True)
    for number in range(FILES):
        write(root, number)
    return root


def write(root: Path, number: int, texts: int = 120) -> None:
    time = f"2026-03-04T05:{number // 60 % 60:02d}:{number % 60:02d}.000Z"
    records: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": f"session-{number:05d}", "timestamp": time, "cwd": "/w"}
    ]
    for n in range(texts):
        content = [{"type": "text", "text": f"animal{number} meets a fox, time {n} " + "and some more words " * 20}]
        message = {"role": "assistant" if n % 2 else "user", "content": content}
        records.append({"type": "message", "id": f"m{n}", "parentId": None, "timestamp": time, "message": message})
    text = "".join(json.dumps(record) + "\n" for record in records)
    (root / f"2026-03-04_session-{number:05d}.jsonl").write_text(text)


def started(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def count() -> int:
    with Sesame() as sesame:
        return sesame.status().sessions


def wait_for_a_commit(process: subprocess.Popen[str]) -> None:
    for _ in range(600):
        if count() or process.poll() is not None:
            return
        time.sleep(0.05)
    pytest.fail("nothing was committed in half a minute")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_first_index_that_is_stopped_keeps_what_it_has_and_goes_on(sessions: Path, number: signal.Signals) -> None:
    process = started("index")
    wait_for_a_commit(process)
    assert process.poll() is None, "it ended before it was stopped"
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    told = STOPPED.fullmatch(err)
    assert told
    assert int(told[2]) == FILES
    assert count() == int(told[1]) > 0
    with Sesame() as sesame:
        report = sesame.index()
    assert (report.unchanged, report.added) == (int(told[1]), FILES - int(told[1]))
    assert count() == FILES


def test_a_killed_first_index_keeps_what_it_has_committed(sessions: Path) -> None:
    process = started("index")
    wait_for_a_commit(process)
    process.kill()
    process.communicate(timeout=60)
    kept = count()
    assert 0 < kept < FILES
    with Sesame() as sesame:
        report = sesame.index()
    assert (report.unchanged, report.added) == (kept, FILES - kept)


def test_stopped_before_the_first_file(sessions: Path) -> None:
    with Sesame() as sesame:
        report = sesame.index(is_stopped=lambda: True)
    assert (report.is_stopped, report.added) == (True, 0)
    assert count() == 0


def test_stopped_in_the_middle_of_a_large_file(home: Path) -> None:
    root = home / ".pi" / "agent" / "sessions" / "--w--"
    root.mkdir(parents=True)
    write(root, 0, texts=10)
    write(root, 1, texts=5_000)
    asked = 0

    def after_a_while() -> bool:
        nonlocal asked
        asked += 1
        return asked > 2_000

    with Sesame() as sesame:
        report = sesame.index(is_stopped=after_a_while)
        assert (report.is_stopped, report.added, report.pending) == (True, 1, 1)
        assert [hit.session.id for hit in sesame.search("fox").hits] == ["session-00000"]
        assert sesame.index().added == 1


def test_stopped_in_the_middle_of_a_large_record(home: Path) -> None:
    root = home / ".pi" / "agent" / "sessions" / "--w--"
    root.mkdir(parents=True)
    write(root, 0, texts=10)
    write(root, 1, texts=0)
    with (root / "2026-03-04_session-00001.jsonl").open("a", encoding="utf-8") as file:
        text = "the fox sleeps " * 2_000_000
        file.write(json.dumps({"type": "message", "id": "m", "message": {"role": "user", "content": text}}) + "\n")
    asked = 0

    def after_a_while() -> bool:
        nonlocal asked
        asked += 1
        return asked > 35

    with Sesame() as sesame:
        report = sesame.index(is_stopped=after_a_while)
        assert (report.is_stopped, report.added, report.pending) == (True, 1, 1)
        assert sesame.index().added == 1
        assert [hit.session.id for hit in sesame.search("sleeps").hits] == ["session-00001"]


def test_stopped_while_an_index_is_built_anew(sessions: Path) -> None:
    with Sesame() as sesame:
        sesame.index([next(sessions.iterdir())])
        before = sesame.status()
        with pytest.raises(StoppedError, match="as it was before; start again with: sesame index --full"):
            sesame.index(full=True, is_stopped=lambda: True)
        assert sesame.status() == before


def test_sesame_index_full_that_is_stopped_says_that_the_index_is_as_before(sessions: Path) -> None:
    process = started("index", "--full")
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err == "stopped; the index is as it was before; start again with: sesame index --full\n"
    assert count() == 0


def test_the_json_report_of_a_stopped_run_says_so(sessions: Path) -> None:
    process = started("index", "--json")
    wait_for_a_commit(process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    report = json.loads(out)
    assert (process.returncode, report["stopped"]) == (130, True)
    assert report["added"] + report["pending"] == FILES
    assert STOPPED.fullmatch(err)


@pytest.mark.parametrize("backend", ["sqlite", "memory"])
def test_a_run_commits_as_it_goes(sessions: Path, home: Path, monkeypatch: pytest.MonkeyPatch, backend: str) -> None:
    from sesame_core import Config
    from sesame_core.plugin.manager import PluginManager

    monkeypatch.setattr(indexer, "COMMIT_SECONDS", 0.0)
    plugins = PluginManager()
    plugins.register(MemoryPlugin(), "memory")
    config = Config(sources=(Source(parser=Selection(name="pi"), path=sessions),), backend=Selection(name=backend))
    seen: list[int] = []
    with Sesame(config, plugins=plugins) as sesame:
        few = sorted(sessions.iterdir())[:5]
        sesame.index(few, on_progress=lambda _: seen.append(sesame.status().sessions))
    assert seen == [1, 2, 3, 4, 5]


def test_a_signal_that_is_ignored_stays_ignored(sessions: Path) -> None:
    program = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
        "sys.argv = ['sesame', 'index']; from sesame_core.cli import main; main()"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    wait_for_a_commit(process)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert out.startswith(f"{FILES} added")


def test_library_callers_get_no_signal_handlers(sessions: Path) -> None:
    before: Callable[..., Any] | int | None = signal.getsignal(signal.SIGINT)
    with Sesame() as sesame:
        sesame.index([next(sessions.iterdir())])
    assert signal.getsignal(signal.SIGINT) is before
