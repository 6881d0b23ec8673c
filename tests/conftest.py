"""What every test stands on: a home of its own, the shared sample data, and the command line."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from .support.both_backends import Index
    from .support.model_server import ModelServer

# A shell lets what it starts in the background ignore Ctrl-C, and so would the programs that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

REPOSITORY = Path(__file__).resolve().parents[1]

# How long an example takes tells of the machine, and of what else it does meanwhile.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

#: From so many test files on, several processes are quicker than one, though each has to import and collect first.
MANY_FILES = 20


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test that asks a PostgreSQL server as `once`."""
    for item in items:
        of = getattr(item, "callspec", None)
        if "postgres" in getattr(item, "fixturenames", ()) or (of is not None and "postgres" in of.params.values()):
            item.add_marker(pytest.mark.once)


def pytest_collection() -> None:
    """Make all tests without looking for garbage, of which there is none among them."""
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Leave the tests, and all modules, out of each collection that follows."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Run many test files in several processes, unless the command line tells how many (`-n`) or wants a debugger.

    Here and not in `addopts`, where `-n` would make a run of one file slow, and one with `-p no:xdist` impossible.
    """
    # Written as ever, also where Python is told to write none, as in many containers: each command that tests run would
    # compile all that it imports, and `sesame status` take 0.27 s of CPU in place of 0.06 s.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    option = config.option
    if not config.pluginmanager.hasplugin("xdist") or hasattr(config, "workerinput") or option.usepdb or option.tx:
        return
    # Coverage has already begun by now, as of one process or of several.
    is_measured = getattr(option, "cov_source", None)
    if option.numprocesses is None and not is_measured and _files(config.args) >= MANY_FILES:
        # One more than there are cores, since tests wait for other programs.
        option.numprocesses = (os.cpu_count() or 1) + 1
    if option.numprocesses and option.dist == "no":
        # Whole modules stay together as long as no process is idle, and so what they set up is set up once.
        option.dist = "worksteal"


def _files(arguments: list[str]) -> int:
    """Return how many test files the arguments of the command line name."""
    places = {Path(argument.partition("::")[0]) for argument in arguments}
    return sum(1 if place.is_file() else sum(1 for _ in place.rglob("test_*.py")) for place in places)


#: Environment that would lead a test to the developer's own sessions, configuration or index.
PRIVATE_PREFIXES = (
    "SESAME_",
    "PI_",
    "PG",
    "XDG_",
    "CLAUDE_",
    "CODEX_",
    "COPILOT_",
    "GEMINI_",
    "OPENCODE",
    "AIDER_",
    "AMP_",
    "CLINE_",
    "CONTINUE_",
    "CRUSH_",
    "CURSOR_",
    "FACTORY_",
    "GOOSE_",
    "HERMES_",
    "QWEN_",
)
PRIVATE_NAMES = ("SESSIONS_DIR", "WORKSTATION_ID")
KEPT_NAMES = ("SESAME_SHARED", "SESAME_TEST_POSTGRES_DSN", "SESAME_TEST_POSTGRES_BIN", "SESAME_TEST_PGBOUNCER")


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of all homes."""
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(autouse=True)
def home(homes: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home directory; every variable that could point elsewhere is gone."""
    for name in list(os.environ):
        if (name.startswith(PRIVATE_PREFIXES) or name in PRIVATE_NAMES) and name not in KEPT_NAMES:
            monkeypatch.delenv(name)
    # Not numbered by pytest, which would look through thousands of those before.
    home = Path(tempfile.mkdtemp(dir=homes))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / ".local" / "share"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / ".cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / ".local" / "state"))
    return home


@pytest.fixture
def shared() -> Path:
    """The third-party sample data and measured facts, which are not part of the repository."""
    place = Path(os.environ.get("SESAME_SHARED") or REPOSITORY.parent / "shared")
    if not place.is_dir():
        pytest.skip(f"no shared sample data at {place} (set SESAME_SHARED)")
    return place


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server, as its superuser."""
    from .support.postgres_server import MISSING, a_server

    with a_server() as dsn:
        if dsn is None:
            (pytest.fail if os.environ.get("CI") else pytest.skip)(MISSING)
        yield dsn


@pytest.fixture(scope="session")
def prepared(postgres: str) -> Iterator[str]:
    """The name of a database with the tables of an empty index: to make them takes most of the time of a short test."""
    from .support.postgres_server import a_prepared_database

    with a_prepared_database(postgres) as name:
        yield name


@pytest.fixture
def database(postgres: str, prepared: str, home: Path) -> Iterator[str]:
    """The address of a new database, as its owner, who has made the tables and agreed to send this home's sessions."""
    from .support.postgres_server import a_database, agree

    with a_database(postgres, prepared) as dsn:
        agree(dsn)
        yield dsn


@pytest.fixture
def empty_database(postgres: str, home: Path) -> Iterator[str]:
    """The same without the tables."""
    from .support.postgres_server import a_database, agree

    with a_database(postgres) as dsn:
        agree(dsn)
        yield dsn


@pytest.fixture(params=["sqlite", "postgres"])
def index(request: pytest.FixtureRequest, home: Path) -> Index:
    """An empty index on one of the backends, which the command line is configured for."""
    from .support.both_backends import Index

    dsn = request.getfixturevalue("database") if request.param == "postgres" else None
    return Index(request.param, home, dsn)


@pytest.fixture
def sesame(home: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line in a process of its own: `sesame("search", "fox").stdout`."""

    def run(*args: object, timeout: float = 60, **options: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "sesame_core", *(str(arg) for arg in args)]
        settings: dict[str, object] = {"capture_output": True, "text": True, "cwd": home, **options}
        return subprocess.run(command, timeout=timeout, **settings)  # type: ignore[call-overload, no-any-return]

    return run


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed, as JSON."""
        return json.loads(self.out)


@pytest.fixture(scope="session")
def typer_command() -> Callable[..., Any]:
    """What typer makes of the command line: once, as a process does, and not for each call."""
    from typer.main import get_command

    from sesame_core.cli.app import app

    return get_command(app)


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typer_command: Callable[..., Any]
) -> Callable[..., Ran]:
    """Run the command line in this process, quicker than `sesame` and not on a terminal."""
    from sesame_core.cli import main

    from .support.program import PROGRAM

    monkeypatch.setattr("sesame_core.cli.app.app", typer_command)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*args: object) -> Ran:
        monkeypatch.setattr("sys.argv", [PROGRAM, *(str(arg) for arg in args)])
        capsys.readouterr()
        code: object = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        assert isinstance(code, int)
        return Ran(code, *capsys.readouterr())

    return run


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The reader's time zone is UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def models(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """Two language models, "cheap" and "dear", on a server of this machine that answers what it is told to."""
    from .support.model_server import serving

    monkeypatch.setenv("LLM_USER_PATH", str(home / "llm"))
    with serving(home / "llm", "cheap", "dear") as server:
        yield server


@pytest.fixture
def demo_sessions(home: Path, utc: None) -> Path:
    """A copy of the sessions that come with Sesame, where their agents would have put them."""
    import shutil

    from sesame_core.demo import sessions_dir

    shutil.copytree(sessions_dir() / "claude-code", home / ".claude" / "projects")
    shutil.copytree(sessions_dir() / "pi", home / ".pi" / "agent" / "sessions")
    return home


@pytest.fixture
def patient(home: Path) -> None:
    """A search takes the time to index all that is new, on a busy machine too."""
    file = home / ".config" / "sesame" / "config.jsonc"
    file.parent.mkdir(parents=True)
    file.write_text('{"refreshSeconds": 30}')


@pytest.fixture
def indexed_sessions(demo_sessions: Path) -> Path:
    """The demo sessions, indexed: on a busy machine a search does not find the time for all of them."""
    from sesame_core import Sesame

    with Sesame() as sesame:
        assert not sesame.index().errors
    return demo_sessions
