"""Servers with and without TLS, with certificates of an authority made for the test."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo

from ...support.postgres_server import Server, all_binaries

pytestmark = pytest.mark.once

Make = Callable[..., Any]


def openssl(place: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=place, check=True, capture_output=True)


def make_certificates(place: Path) -> None:
    """Make two authorities, and certificates of the first for `localhost`: one that is valid, and one of the past."""
    for name in ("authority", "other"):
        openssl(place, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", f"/CN={name}",
                "-keyout", f"{name}.key", "-out", f"{name}.pem")  # fmt: skip
    (place / "names").write_text("subjectAltName=DNS:localhost\n")
    for name, days in (("server", "30"), ("expired", "-1")):
        openssl(place, "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", f"{name}.key",
                "-out", f"{name}.csr")  # fmt: skip
        openssl(place, "x509", "-req", "-in", f"{name}.csr", "-CA", "authority.pem", "-CAkey", "authority.key",
                "-CAcreateserial", "-days", days, "-extfile", "names", "-out", f"{name}.pem")  # fmt: skip


@dataclass
class Encrypted:
    server: Server
    place: Path

    def dsn(self, **more: str) -> str:
        return make_conninfo(self.server.dsn, **{"host": "localhost", "hostaddr": "127.0.0.1", **more})


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Encrypted]:
    """A server that takes `postgres` with TLS alone, `plain` without alone, and `known` with a certificate alone."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl, which makes the certificates")
    place = tmp_path_factory.mktemp("tls")
    make_certificates(place)
    for binaries in all_binaries():
        server = Server(binaries)
        with server:
            data = server.directory / "data"
            for name in ("server.pem", "server.key", "expired.pem", "expired.key", "authority.pem"):
                shutil.copy(place / name, data / name)
                owner = (data / "PG_VERSION").stat()
                os.chown(data / name, owner.st_uid, owner.st_gid)
                (data / name).chmod(0o600)
            (data / "pg_hba.conf").write_text(
                "hostssl all known all cert\nhostnossl all plain all trust\nhostssl all postgres all trust\n"
            )
            server.stop()
            server._settings |= {"ssl": "on", "ssl_cert_file": "server.pem", "ssl_key_file": "server.key"}
            server._settings |= {"ssl_ca_file": "authority.pem"}
            try:
                server.start()
            except RuntimeError:
                continue  # this one was built without TLS
            yield Encrypted(server, place)
            return
    pytest.skip("no PostgreSQL with TLS on this machine")


def test_a_verified_server_is_used(workstation: Make, encrypted: Encrypted) -> None:
    root = str(encrypted.place / "authority.pem")
    for number, more in enumerate(
        ({"sslmode": "verify-full", "sslrootcert": root}, {"sslmode": "require"}, {"sslmode": "prefer"}, {})
    ):
        ann = workstation("ann", dsn=encrypted.dsn(**more), schema=f"verified_{number}")
        ann.write("s1", "the lighthouse keeper")
        ann.ok("index")
        assert len(ann.found("lighthouse")) == 1


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"sslrootcert": "other.pem"}, "has a certificate of an authority that sslrootcert does not name"),
        ({"sslrootcert": "none.pem"}, "none.pem\" does not exist; name the authority's certificate in sslrootcert"),
        ({"sslrootcert": ""}, "does not exist; name the authority's certificate in sslrootcert"),
        ({"sslrootcert": "authority.pem", "host": "127.0.0.1"}, "is not whom its certificate names"),
        ({"sslrootcert": "authority.pem", "user": "plain"}, "no pg_hba.conf entry"),
        ({"sslmode": "disable"}, "refuses a connection without TLS"),
        ({"sslrootcert": "authority.pem", "user": "known"}, "certificate"),
    ],
    ids=str,
)
def test_what_is_wrong_with_tls_is_named(
    workstation: Make, encrypted: Encrypted, given: dict[str, str], told: str
) -> None:
    if given.get("sslrootcert"):
        given = {**given, "sslrootcert": str(encrypted.place / given["sslrootcert"])}
    ann = workstation("ann", dsn=encrypted.dsn(**{"sslmode": "verify-full", **given}))
    ann.write("s1", "the lighthouse keeper")
    for command in (["search", "fox", "--no-refresh"], ["search", "fox"], ["index"], ["status"]):
        assert told in ann.fails(*command)


def test_a_server_without_tls_is_refused_where_it_is_demanded(workstation: Make, database: str) -> None:
    for mode in ("require", "verify-ca", "verify-full"):
        ann = workstation("ann", dsn=database, sslmode=mode)
        ann.environment["PGSSLROOTCERT"] = "system" if mode == "verify-full" else "/etc/hostname"
        assert "has no TLS, which sslmode demands" in ann.fails("status")


def test_an_expired_certificate_is_refused(workstation: Make, encrypted: Encrypted) -> None:
    server = encrypted.server
    server.stop()
    server._settings |= {"ssl_cert_file": "expired.pem", "ssl_key_file": "expired.key"}
    server.start()
    root = str(encrypted.place / "authority.pem")
    told = workstation("ann", dsn=encrypted.dsn(sslmode="verify-full", sslrootcert=root)).fails("status")
    assert "or an expired one: SSL error: certificate verify failed" in told
