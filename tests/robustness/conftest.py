"""A small world to break: a few sessions of both agents, their index, and ways to look at it from outside."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Config, Selection, Sesame, Source
from sesame_core.types.query import Filters

from ..support.program import PROGRAM

NOBODY = 65534
EVERYTHING = Filters(all_kinds=True)


class World:
    """Session files under one directory, and an index in another."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.data = home / "data"
        self.pi = home / "pi"
        self.claude = home / "claude" / "-home-ann-fox"
        self.pi.mkdir(parents=True)
        self.claude.mkdir(parents=True)
        #: Seconds to wait for another process that is writing.
        self.patience = 0.0
        self.sources = [
            Source(parser=Selection(name="pi"), path=self.pi),
            Source(parser=Selection(name="claude-code"), path=self.claude.parent),
        ]

    # -- session files ------------------------------------------------------------------------------------

    def session_id(self, number: int) -> str:
        return f"0199bbbb-0000-7000-8000-{number:012d}"

    def path(self, number: int) -> Path:
        """Even numbers are pi's, odd ones Claude Code's."""
        name = self.session_id(number) + ".jsonl"
        return self.claude / name if number % 2 else self.pi / f"2026-03-04T05-06-00-000Z_{name}"

    def write(self, number: int, *texts: str) -> Path:
        """Write a session anew: its texts are said by user and agent in turn."""
        path = self.path(number)
        header = [] if number % 2 else [self._header(number)]
        records = header + [self._record(number, n, text) for n, text in enumerate(texts)]
        path.write_bytes(b"".join(json.dumps(r).encode() + b"\n" for r in records))
        return path

    def append(self, number: int, position: int, *texts: str) -> None:
        """Add to a session; position: how many texts it has already."""
        with self.path(number).open("ab") as file:
            for n, text in enumerate(texts, position):
                file.write(json.dumps(self._record(number, n, text)).encode() + b"\n")

    def populate(self, count: int = 6, texts: int = 6) -> None:
        """Write sessions 0 … count - 1, each about an animal of its own."""
        for number in range(count):
            self.write(number, *(f"the fox{number} met beetle{n} in session {number}" for n in range(texts)))

    def _header(self, number: int) -> dict[str, Any]:
        time = "2026-03-04T05:06:00.000Z"
        return {"type": "session", "version": 3, "id": self.session_id(number), "timestamp": time, "cwd": "/home/ann"}

    def _record(self, number: int, n: int, text: str) -> dict[str, Any]:
        time = f"2026-03-04T06:{n // 60 % 60:02d}:{n % 60:02d}.000Z"
        role = "assistant" if n % 2 else "user"
        content: Any = [{"type": "text", "text": text}] if n % 2 else text
        if number % 2:
            return {
                "type": role,
                "uuid": f"{number:08d}-0000-4000-8000-{n:012d}",
                "parentUuid": f"{number:08d}-0000-4000-8000-{n - 1:012d}" if n else None,
                "sessionId": self.session_id(number),
                "isSidechain": False,
                "cwd": "/home/ann/fox",
                "timestamp": time,
                "message": {"role": role, "content": content, "id": f"msg_{number}_{n}"},
            }
        return {
            "type": "message",
            "id": f"{number:04x}{n:04x}",
            "parentId": f"{number:04x}{n - 1:04x}" if n else None,
            "timestamp": time,
            "message": {"role": role, "content": content},
        }

    # -- the index ----------------------------------------------------------------------------------------

    def sesame(self, data: Path | None = None) -> Sesame:
        return Sesame(Config(sources=tuple(self.sources), lock_seconds=self.patience), data_dir=data or self.data)

    def index(self, *, full: bool = False, data: Path | None = None) -> Any:
        with self.sesame(data) as sesame:
            return sesame.index(full=full)

    def found(self, text: str, data: Path | None = None) -> set[str]:
        with self.sesame(data) as sesame:
            return {hit.session.id for hit in sesame.search(text, EVERYTHING, limit=100).hits}

    def content(self, data: Path | None = None) -> dict[str, list[str]]:
        """Return the texts of every session in the index."""
        with self.sesame(data) as sesame:
            stored, total = sesame.list_sessions(EVERYTHING, limit=1000)
            assert len(stored) == total
            return {s.session.id: [chunk.text for chunk in sesame.list_messages(s)] for s in stored}

    def fresh(self) -> dict[str, list[str]]:
        """Return the content of an index that is built now, elsewhere."""
        with tempfile.TemporaryDirectory() as directory:
            self.index(data=Path(directory))
            return self.content(Path(directory))

    def configure(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let the command line work on this world."""
        config = self.home / "config"
        config.mkdir(exist_ok=True)
        sources = [{"parser": s.parser.name, "path": str(s.path)} for s in self.sources]
        settings = {"sources": sources, "lockSeconds": self.patience}
        (config / "config.jsonc").write_text(json.dumps(settings))
        monkeypatch.setenv("SESAME_CONFIG_DIR", str(config))
        monkeypatch.setenv("SESAME_DATA_DIR", str(self.data))

    def database(self) -> Path:
        """Return the one index file there is."""
        (path,) = self.data.glob("index*.sqlite")
        return path

    def check(self) -> None:
        """Let SQLite and FTS5 look for damage, and compare the tables that are kept in step by hand."""
        with closing(sqlite3.connect(self.database(), isolation_level=None)) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            for table in ("chunks_fts", "heads_fts"):
                db.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)")
            chunks, counted = db.execute(
                "SELECT count(*), (SELECT value FROM meta WHERE key = 'chunks') FROM chunks"
            ).fetchone()
            assert chunks == counted
            for wrong in (
                "SELECT id FROM chunks WHERE id >> 24 NOT IN (SELECT id FROM sessions)",
                "SELECT id FROM sessions AS s WHERE chunk_count <> (SELECT count(*) FROM chunks WHERE id >> 24 = s.id)",
                "SELECT session FROM paths WHERE session NOT IN (SELECT id FROM sessions)",
            ):
                assert db.execute(wrong).fetchall() == []


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def new_world() -> Iterator[Callable[[], World]]:
    """Make worlds in a test that runs many times."""
    with tempfile.TemporaryDirectory() as directory:
        yield lambda: World(Path(tempfile.mkdtemp(dir=directory)))


@pytest.fixture
def in_child() -> Callable[[Callable[[], object]], int]:
    """Run something in a process of its own; return how it ended: an exit code, or minus a signal's number."""
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")

    def run(action: Callable[[], object]) -> int:
        child = os.fork()
        if child == 0:
            try:
                action()
            except BaseException:  # noqa: BLE001 - the parent sees the exit code
                import traceback

                traceback.print_exc()
                os._exit(70)
            os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    return run


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run the command line in this process; return its exit code, output and error output."""
    from sesame_core.cli import main

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", [PROGRAM, *arguments])
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return run


class Unprivileged:
    """Someone whom permissions bind, with a world that is theirs."""

    def __init__(self, world: World) -> None:
        self.world = world

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Be that person inside the block."""
        if os.geteuid() != 0:
            yield
            return
        self._give(self.world.home)
        # The saved id stays root's, so that this can be undone.
        os.setresuid(NOBODY, NOBODY, 0)
        try:
            yield
        finally:
            os.setresuid(0, 0, 0)

    def _give(self, path: Path) -> None:
        for parent, _, files in os.walk(path):
            os.chown(parent, NOBODY, NOBODY)
            for name in files:
                os.chown(os.path.join(parent, name), NOBODY, NOBODY)


@pytest.fixture
def unprivileged() -> Iterator[Unprivileged]:
    """As `nobody` when the tests run as root, for whom permissions mean nothing."""
    if os.name == "nt":
        pytest.skip("needs POSIX permissions")
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        world = World(Path(directory) / "world")
        # What is imported late may lie where only root can read.
        world.write(99, "warm up")
        world.index()
        world.index(full=True)
        world.found("warm")
        world.path(99).unlink()
        for file in world.data.iterdir():
            file.unlink()
        try:
            yield Unprivileged(world)
        finally:
            for parent, _, _ in os.walk(directory):
                os.chmod(parent, 0o755)


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mount a small file system of a test's own; call it again to change its options."""
    place = tmp_path / "mounted"
    place.mkdir()
    is_mounted = False

    def mount(options: str) -> Path:
        nonlocal is_mounted
        kind = ["-o", f"remount,{options}"] if is_mounted else ["-t", "tmpfs", "-o", options, "tmpfs"]
        try:
            done = subprocess.run(["mount", *kind, str(place)], capture_output=True, text=True)
        except OSError as error:
            pytest.skip(f"cannot mount a file system: {error}")
        if done.returncode:
            pytest.skip(f"cannot mount a file system: {done.stderr.strip()}")
        is_mounted = True
        return place

    yield mount
    if is_mounted:
        subprocess.run(["umount", "-l", str(place)], check=True)


def kill_at(statement: int) -> None:
    """Let this process kill itself before its n-th SQL statement; of no effect when there are fewer."""
    done = 0

    class Deadly(sqlite3.Connection):
        def _step(self) -> None:
            nonlocal done
            done += 1
            if done == statement:
                os.kill(os.getpid(), signal.SIGKILL)

        def execute(self, *args: Any) -> sqlite3.Cursor:
            self._step()
            return super().execute(*args)

        def executemany(self, *args: Any) -> sqlite3.Cursor:
            self._step()
            return super().executemany(*args)

    connect = sqlite3.connect
    sqlite3.connect = lambda *args, **kwargs: connect(*args, factory=Deadly, **kwargs)  # type: ignore[assignment]


@pytest.fixture
def killed_at(in_child: Callable[[Callable[[], object]], int]) -> Callable[[int, Callable[[], object]], bool]:
    """Run something in a process that is killed before its n-th SQL statement; tell whether it came so far."""

    def run(statement: int, action: Callable[[], object]) -> bool:
        def deadly() -> None:
            kill_at(statement)
            action()

        end = in_child(deadly)
        assert end in (0, -signal.SIGKILL)
        return end != 0

    return run


@pytest.fixture
def second_migration(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be one more schema version than there is."""
    from sesame_backend_sqlite import schema

    sql = "CREATE TABLE owls (id INTEGER PRIMARY KEY);\nINSERT INTO owls SELECT id FROM sessions;\n"
    more = schema.Migration("count the owls", sql)
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, more))
