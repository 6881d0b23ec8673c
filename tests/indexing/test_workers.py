"""Worker processes: the index is the same as without them, whatever is in the files and whatever ends a worker."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sesame_core.api.sesame import Sesame
from sesame_core.config import paths
from sesame_core.config.model import Config, Redaction, Selection, Source
from sesame_core.indexing import packing, workers
from sesame_core.plugin.hookspecs import hookimpl
from sesame_core.plugin.manager import PluginManager
from sesame_core.plugin.provider import Provider
from sesame_core.types.index import Chunk
from sesame_core.types.report import IndexReport
from sesame_core.types.transcript import Session

from ..support.planted import made
from ..support.transcripts import Claude, Pi, write

#: Bytes of a text that makes a session span several blocks.
LONG = 400_000
MODULE = """
import os, signal
from datetime import datetime, timezone, timedelta
from sesame_core import Message, Session, Skipped

RUN = {run}

class WildParser:
    version = 1
    def default_roots(self):
        return ()
    def matches(self, path):
        return path.suffix == ".wild"
    def parse(self, path):
        yield Session(id=path.stem, agent="wild", cwd="/w")
        print("what a plugin prints")
        for number, line in enumerate(path.read_text().splitlines()):
            if line == "die":
                if os.getpid() != RUN:
                    os.kill(os.getpid(), signal.SIGKILL)
            elif line == "die once" and os.getpid() != RUN:
                if not path.with_suffix(".died").exists():
                    path.with_suffix(".died").touch()
                    os._exit(3)
            elif line == "raise":
                raise ValueError("wild")
            elif line == "skip":
                yield Skipped(reason="tame", line=number + 1)
            elif line == "move":
                yield Session(id=path.stem, agent="wild", cwd="/private/w")
            else:
                zone = timezone(timedelta(hours=number % 3))
                time = datetime(2026, 3, 4, 5, 6, 7, number, zone) if number % 4 else None
                yield Message(session_id=path.stem, role="user", text=line, timestamp=time)
"""


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use workers however little there is to read, and wait for the first: the run would have read everything."""
    monkeypatch.setattr(workers, "WORTHWHILE", 0)
    enter = workers.ReadAhead.__enter__

    def patient(self: workers.ReadAhead) -> workers.ReadAhead:
        entered = enter(self)
        with self._changed:
            self._changed.wait_for(lambda: self._given or all(p.has_ended for p in self._processes), 20)
        return entered

    monkeypatch.setattr(workers.ReadAhead, "__enter__", patient)


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    """Sessions of two agents with what is hard about them."""
    root = tmp_path / "sessions"
    for number in range(40):
        pi = Pi(f"pi-{number:02d}", cwd=f"/home/bo/{number % 3}")
        texts = [
            pi.user(f"dunnart {number}"),
            pi.call("bash", command="echo websocketServer"),
            pi.result("ok ✅ 日本語"),
        ]
        write(root / "pi" / f"{number:02d}.jsonl", pi.header(), *texts)
        claude = Claude(f"{number:08d}-1111-4111-8111-111111111111")
        records = [claude.user(f"quokka {number}"), claude.answer({"type": "text", "text": "straße\udc00 K8sProbe"})]
        write(root / "claude-code" / "p" / f"{claude.session}.jsonl", *records)
    odd = Pi("odd")
    write(root / "pi" / "damaged.jsonl", odd.header(), b'{"type": "mess\n', b"\0\0\0\n", odd.user("after the damage"))
    long = Pi("long")
    write(
        root / "pi" / "long.jsonl", long.header(), *[long.user(f"part {n} " + "word " * (LONG // 5)) for n in range(4)]
    )
    write(root / "pi" / "copy.jsonl", long.header(), long.user("part 0"))
    (root / "pi" / "empty.jsonl").write_bytes(b"")
    for number, path in enumerate(sorted(root.rglob("*.jsonl"))):
        os.utime(path, ns=(number * 10**9, number * 10**9))
    return root


def indexed(root: Path, data: Path, workers: int | None, **settings: Any) -> IndexReport:
    """Index sessions into a new SQLite index."""
    sources = tuple(Source(parser=Selection(name=path.name), path=path) for path in sorted(root.iterdir()))
    backend = Selection(name="sqlite", options={"directory": str(data)})
    config = Config(**{"sources": sources, "backend": backend, "index_workers": workers, **settings})
    with Sesame(config) as sesame:
        return sesame.index()


def tables(data: Path) -> dict[str, list[Any]]:
    """Return the rows of every table, and the terms of the full-text tables with their places."""
    with sqlite3.connect(data / "index.sqlite") as db:
        names = [
            name
            for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            if "_fts" not in name and name != "schema_migrations"
        ]
        rows = {name: db.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in names}
        for table in ("chunks_fts", "heads_fts", "conversations_fts"):
            db.execute(f"CREATE VIRTUAL TABLE temp.{table}_terms USING fts5vocab(main, {table}, instance)")
            rows[table] = db.execute(f"SELECT * FROM {table}_terms ORDER BY 1, 2, 3, 4").fetchall()
    db.close()
    rows["meta"] = [row for row in rows["meta"] if row[0] != "last_sync_at"]
    return rows


def told(report: IndexReport) -> tuple[Any, ...]:
    """Return what a report says, without how long the run took."""
    names = ("added", "updated", "appended", "chunks", "bytes", "skipped", "losses", "errors", "sources")
    return tuple(getattr(report, name) for name in names)


@pytest.mark.once
@pytest.mark.parametrize("number", [1, 2, 5])
def test_the_index_is_the_same_with_any_number_of_workers(sessions: Path, tmp_path: Path, number: int) -> None:
    alone = indexed(sessions, tmp_path / "alone", 0)
    helped = indexed(sessions, tmp_path / "helped", number)
    assert alone.added == 83
    assert alone.skipped["damaged"] == 1
    assert told(helped) == told(alone)
    assert tables(tmp_path / "helped") == tables(tmp_path / "alone")


def test_secrets_are_redacted_the_same_in_workers(sessions: Path, tmp_path: Path) -> None:
    secret = "ghp_" + made(36)
    pi = Pi("secret")
    write(sessions / "pi" / "secret.jsonl", pi.header(), pi.user(f"my token is {secret}, ACME-12345678"))
    redaction = Redaction(enabled=True, patterns=(("ticket", "ACME-[0-9]{8}"),), keep=("ACME-0.*",))
    reports = [indexed(sessions, tmp_path / str(n), n, redaction=redaction) for n in (0, 2)]
    assert told(reports[0]) == told(reports[1])
    found = tables(tmp_path / "2")
    assert found == tables(tmp_path / "0")
    text = repr(found["chunks"])
    assert secret not in text
    assert "ACME-" not in text
    assert "[redacted:ticket:" in text


class Wild:
    """A plugin that is installed nowhere; the module of its parser can be imported."""

    def __init__(self, parser: Callable[[], Any]) -> None:
        self._parser = parser

    @hookimpl
    def sesame_register_parsers(self) -> list[Provider[Any]]:
        return [Provider(name="wild", summary="wild", create=lambda options: self._parser())]


@pytest.fixture
def wild(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., tuple[Sesame, Path]]]:
    """Return Sesame with a parser that dies, raises and prints, and the directory of its sessions."""
    (tmp_path / "wild_parser.py").write_text(MODULE.format(run=os.getpid()))
    monkeypatch.syspath_prepend(str(tmp_path))
    import wild_parser

    root = tmp_path / "wild"
    root.mkdir()
    opened: list[Sesame] = []

    def make(workers: int = 2, parser: Callable[[], Any] = wild_parser.WildParser, **of: Any) -> tuple[Sesame, Path]:
        plugins = PluginManager()
        plugins.register(Wild(parser), "wild")
        source = Source(parser=Selection(name="wild"), path=root, **of)
        backend = Selection(name="sqlite", options={"directory": str(tmp_path / f"data-{len(opened)}")})
        opened.append(Sesame(Config(sources=(source,), backend=backend, index_workers=workers), plugins=plugins))
        return opened[-1], root

    yield make
    for sesame in opened:
        sesame.close()
    del sys.modules["wild_parser"]


def lines(root: Path, **files: str) -> None:
    """Write files by name, the first one oldest."""
    for number, (name, text) in enumerate(files.items()):
        path = root / f"{name}.wild"
        path.write_text(text)
        os.utime(path, (number, number))


Make = Callable[..., tuple[Sesame, Path]]


def test_a_parser_of_a_third_party_reads_in_workers_and_may_print(
    wild: Make, capfd: pytest.CaptureFixture[str]
) -> None:
    sesame, root = wild()
    lines(root, **{f"f{n}": f"numbat {n}\nskip\nbilby {n}" for n in range(50)})
    report = sesame.index()
    assert (report.added, report.chunks, report.errors) == (50, 100, [])
    assert report.skipped == {"tame": 50}
    assert sesame.search("numbat").total == 50
    assert "Traceback" not in capfd.readouterr().err


def test_a_file_whose_worker_is_killed_twice_is_an_error_of_that_file(wild: Make) -> None:
    sesame, root = wild()
    lines(root, **{f"a{n}": f"numbat {n}" for n in range(30)}, b="die", **{f"c{n}": f"bilby {n}" for n in range(30)})
    report = sesame.index()
    assert report.added == 60
    (problem,) = report.errors
    assert problem.path.endswith("b.wild")
    assert "the process that read it was ended by signal 9" in problem.message
    assert sesame.search("bilby").total == 30
    (root / "b.wild").write_text("woylie")
    report = sesame.index()
    assert (report.errors, report.changed) == ([], 1)


def test_a_file_whose_worker_ends_once_is_read_by_another(wild: Make) -> None:
    sesame, root = wild(1)
    lines(root, a="numbat", **{f"b{n}": f"die once\nquoll {n}" for n in range(3)}, **{f"c{n}": "x" for n in range(9)})
    report = sesame.index()
    assert (report.errors, report.added) == ([], 13)
    assert sesame.search("quoll").total == 3


def test_an_error_of_a_parser_in_a_worker_is_reported_as_without_one(wild: Make) -> None:
    sesame, root = wild()
    lines(root, **{f"a{n}": "numbat" if n % 2 else "numbat\nraise" for n in range(20)})
    helped = sesame.index()
    alone, _ = wild(0)
    assert told(helped) == told(alone.index())
    assert len(helped.errors) == 10
    assert "ValueError('wild')" in helped.errors[0].message


def test_a_session_that_moves_to_an_excluded_directory_is_left_out(wild: Make) -> None:
    texts = {f"a{n}": "numbat" if n % 2 else "numbat\nmove\nsecret" for n in range(20)}
    sesame, root = wild(exclude=("/private/*",))
    lines(root, **texts)
    report = sesame.index()
    assert (report.errors, report.added) == ([], 20)
    assert sesame.status().sessions == 10
    assert sesame.search("secret").total == 0


def test_a_parser_that_cannot_be_sent_reads_in_the_process_of_the_run(wild: Make) -> None:
    class Local:
        """Pickling finds no class of this name."""

        version = 1

        def __init__(self) -> None:
            import wild_parser

            self.parse = wild_parser.WildParser().parse
            self.matches = wild_parser.WildParser().matches

        def default_roots(self) -> tuple[Path, ...]:
            return ()

    sesame, root = wild(parser=Local)
    lines(root, **{f"a{n}": f"numbat {n}" for n in range(20)})
    assert sesame.index().added == 20


def test_a_parser_that_a_worker_cannot_load_reads_in_the_process_of_the_run(
    wild: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    sesame, root = wild()
    lines(root, **{f"a{n}": f"numbat {n}" for n in range(20)})
    monkeypatch.setattr(sys, "path", [path for path in sys.path if not Path(path, "wild_parser.py").exists()])
    assert sesame.index().added == 20


@pytest.mark.parametrize("program", ["/usr/bin/true", "/nowhere/python3", "/bin/cat"])
@pytest.mark.parametrize("large", [0, workers.LARGE])
def test_without_a_python_that_starts_the_run_reads_itself(
    sessions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, large: int
) -> None:
    monkeypatch.setattr(sys, "executable", program)
    monkeypatch.setattr(workers, "LARGE", large)
    assert indexed(sessions, tmp_path / "data", 2).added == 83


@pytest.mark.parametrize("large", [0, workers.LARGE])
def test_a_python_that_ends_at_once_is_no_harm(
    sessions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: int
) -> None:
    monkeypatch.setattr(workers, "LARGE", large)
    python = tmp_path / "python3"
    python.symlink_to("/usr/bin/true")
    monkeypatch.setattr(sys, "executable", str(python))
    assert indexed(sessions, tmp_path / "data", 2).added == 83


def test_a_few_files_and_a_run_with_a_deadline_start_no_process(
    sessions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    popen = subprocess.Popen

    def counted(*arguments: Any, **options: Any) -> Any:
        started.append(arguments)
        return popen(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", counted)
    monkeypatch.setattr(workers, "WORTHWHILE", 16 << 20)
    indexed(sessions, tmp_path / "few", 2)
    assert not started
    monkeypatch.setattr(workers, "WORTHWHILE", 0)
    sources = (Source(parser=Selection(name="pi"), path=sessions / "pi"),)
    with Sesame(Config(sources=sources, index_workers=2), data_dir=tmp_path / "deadline") as sesame:
        sesame.refresh(60)
        assert sesame.status().files == 43
    assert not started
    indexed(sessions, tmp_path / "many", 2)
    assert started


def test_content_arrives_as_it_was_sent() -> None:
    session = Session(id="s\udc00", agent="a", tool_counts={"bash": 1})
    chunk = Chunk(
        kind="tool_call", text="x\udc00" * 10, role="tool", paths=("/a",), seq=3, subwords="y", origin=1 << 62
    )
    content: list[Session | Chunk] = [session, chunk, Chunk(kind="message", text="y" * 2 * packing.BLOCK), session]
    blocks = list(packing.packed(content))
    assert len(blocks) == 2
    assert [item for block in blocks for item in packing.unpacked(block)] == content


def children(pid: int) -> list[int]:
    """Return the processes that a process started."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return list(map(int, found))


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.once
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_no_process_is_left_when_a_run_is_ended(home: Path, number: signal.Signals) -> None:
    root = home / ".pi" / "agent" / "sessions" / "--w--"
    root.mkdir(parents=True)
    for n in range(60):
        pi = Pi(f"s{n}")
        write(
            root / f"{n}.jsonl", pi.header(), *[pi.user(f"word{n} {m} " + "some more words " * 400) for m in range(60)]
        )
    config = paths.config_file()
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('{"indexWorkers": 2}')
    run = subprocess.Popen(
        [sys.executable, "-m", "sesame_core", "index"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 30
    while not (started := children(run.pid)) and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert started
    time.sleep(0.3)
    os.killpg(run.pid, number)
    out, err = run.communicate(timeout=60)
    assert "Traceback" not in out + err
    while any(map(is_running, started)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(is_running, started))
    with Sesame() as sesame:
        assert sesame.index().errors == []
        assert sesame.status().sessions == 60
