"""PgBouncer for tests: each of its programs that this machine has."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from .postgres_server import _unprivileged, free_port

#: Paths of more programs, to test other versions.
PROGRAMS_VARIABLE = "SESAME_TEST_PGBOUNCER"
MISSING = f"no PgBouncer: apt-get install pgbouncer, or set {PROGRAMS_VARIABLE}"


def find_programs() -> list[str]:
    """Return the programs: the machine's own, and those of the environment."""
    own = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin")
    return [program for program in (own, *os.environ.get(PROGRAMS_VARIABLE, "").split(os.pathsep)) if program]


class PgBouncer:
    """A pooler in front of a server, which takes any login that the server takes.

    :param dsn: of the server.
    :param logins: the roles that may log in.
    :param settings: of pgbouncer.ini, in addition to those that a test needs.
    """

    def __init__(self, program: str, dsn: str, directory: Path, logins: list[str], **settings: object) -> None:
        self._program = program
        self._directory = directory
        self._server = conninfo_to_dict(dsn)
        self._logins = logins
        self._settings = settings
        self.port = free_port()

    def dsn(self, login: str, **more: Any) -> str:
        """Return the address of the pooler for a login."""
        known = {"dbname": self._server["dbname"], **more}
        return make_conninfo("", host="127.0.0.1", port=self.port, user=login, **known)

    def __enter__(self) -> PgBouncer:
        start_as, ids = _unprivileged()
        self._directory.mkdir(parents=True)
        users = self._directory / "users.txt"
        users.write_text("".join(f'"{login}" ""\n' for login in self._logins))
        settings = {
            "listen_addr": "127.0.0.1",
            "listen_port": self.port,
            "unix_socket_dir": "",
            "auth_type": "trust",
            "auth_file": users,
            **self._settings,
        }
        lines = ["[databases]", f"* = host={self._server['host']} port={self._server['port']}", "[pgbouncer]"]
        ini = self._directory / "pgbouncer.ini"
        ini.write_text("\n".join([*lines, *(f"{name} = {value}" for name, value in settings.items())]) + "\n")
        for path in (self._directory, users, ini):
            if ids is not None:
                os.chown(path, *ids)
        with (self._directory / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [self._program, str(ini)], stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd="/", **start_as
            )
        end = time.monotonic() + 20
        while time.monotonic() < end and self._process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return self
            time.sleep(0.02)
        self._process.kill()
        self._process.wait()
        raise RuntimeError(self.log())

    def __exit__(self, *_: object) -> None:
        self._process.kill()  # what a signal means depends on the version: some wait for clients
        self._process.wait()

    def log(self) -> str:
        """Return what it has written."""
        return (self._directory / "log").read_text()
