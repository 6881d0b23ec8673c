"""docker-compose.yml, as far as it can be tested without Docker: versions, passwords, and its check of health."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ..support.postgres_server import Server, find_binaries

pytestmark = pytest.mark.once

yaml: Any = pytest.importorskip("yaml", reason="PyYAML, which the extra llm brings, is not installed")

REPOSITORY = Path(__file__).resolve().parents[2]
TEXT = (REPOSITORY / "docker-compose.yml").read_text(encoding="utf-8")
SERVICES: dict[str, Any] = yaml.safe_load(TEXT)["services"]
POSTGRES = SERVICES["postgres"]


def interpolated(text: str, environment: dict[str, str]) -> str:
    """Return a value of the file as Compose reads it.

    :raises KeyError: a variable without a default is not set.
    """

    def value(match: re.Match[str]) -> str:
        name, operator, rest = match["name"], match["operator"], match["rest"]
        if found := environment.get(name):
            return found
        if operator == ":-":
            return rest
        raise KeyError(rest or name)

    text = re.sub(r"(?<!\$)\$\{(?P<name>\w+)(?P<operator>:[-?])?(?P<rest>[^}]*)\}", value, text)
    return text.replace("$$", "$")


def test_each_image_is_pinned_to_a_minor_version_that_was_tested() -> None:
    tested = (REPOSITORY / "docs" / "team.md").read_text(encoding="utf-8").partition("## What was tested")[2]
    for service in SERVICES.values():
        pinned = re.fullmatch(r"postgres:(\d+\.\d+)(-\w+)?(@sha256:[0-9a-f]{64})?", service["image"])
        assert pinned, service["image"]
        assert f" {pinned[1]}" in tested.split("- PgBouncer")[0]


@pytest.mark.parametrize("given", [{}, {"SESAME_OWNER_PASSWORD": ""}, {"POSTGRES_PASSWORD": "x"}])
def test_without_a_password_of_ones_own_the_file_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(KeyError, match="set SESAME_OWNER_PASSWORD to a password of your own"):
        interpolated(POSTGRES["environment"]["POSTGRES_PASSWORD"], given)


def test_no_password_and_no_login_without_one_is_in_the_file() -> None:
    environment = POSTGRES["environment"]
    assert environment["POSTGRES_PASSWORD"].startswith("${SESAME_OWNER_PASSWORD:?")
    assert "POSTGRES_HOST_AUTH_METHOD" not in environment
    assert "scram-sha-256" in environment["POSTGRES_INITDB_ARGS"]
    assert not re.search(r"trust|PASSWORD[^\n]*:-", TEXT)
    for service in SERVICES.values():
        names = [name for name in service["environment"] if "PASSWORD" in name]
        assert all("?" in service["environment"][name] for name in names)


def test_it_listens_on_this_machine_only_unless_told_otherwise() -> None:
    (port,) = POSTGRES["ports"]
    assert interpolated(port, {}) == "127.0.0.1:5432:5432"
    assert interpolated(port, {"SESAME_LISTEN": "0.0.0.0"}) == "0.0.0.0:5432:5432"


def test_the_command_of_the_guide_makes_the_file_with_the_password(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "team.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^\$ (echo .*> \.env)$", page, re.MULTILINE)
    try:
        subprocess.run(["bash", "-euo", "pipefail", "-c", line], cwd=tmp_path, check=True)
    except subprocess.CalledProcessError:
        pytest.skip("no openssl, which makes the password")
    name, _, password = (tmp_path / ".env").read_text().strip().partition("=")
    assert interpolated(POSTGRES["environment"]["POSTGRES_PASSWORD"], {name: password}) == password
    assert len(password) >= 32


# -- the check of health ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(postgres: str) -> Iterator[tuple[Server, Path]]:
    binaries = find_binaries()
    if binaries is None or os.name == "nt" or not (binaries / "psql").exists():
        pytest.skip("the check needs a server of the test's own, and psql")
    with Server(binaries) as server:
        with psycopg.connect(server.dsn, autocommit=True) as db:
            db.execute("CREATE ROLE sesame_owner LOGIN")
        (server.directory / "data" / "pg_hba.conf").write_text(
            "local all all trust\nhost all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
        )
        server.stop()
        yield server, binaries
        server.start()


@pytest.fixture
def is_healthy(server: tuple[Server, Path]) -> Callable[..., bool]:
    """The file's check, run as Docker runs it in the container."""
    kind, command = POSTGRES["healthcheck"]["test"]
    assert kind == "CMD-SHELL"

    def run() -> bool:
        environment = {
            "PATH": os.pathsep.join([str(server[1]), os.environ["PATH"]]),
            "PGPORT": str(server[0].port),
            "PGHOST": str(server[0].directory),
        }
        done = subprocess.run(
            ["/bin/sh", "-c", interpolated(command, {})], env=environment, capture_output=True, timeout=10, check=False
        )
        return done.returncode == 0

    return run


def test_it_is_healthy_when_the_database_answers_and_not_before(
    server: tuple[Server, Path], is_healthy: Callable[..., bool]
) -> None:
    postgres, _ = server
    assert not is_healthy(), "no server"
    # As the image does while it makes the database: a server on the socket alone.
    settings = dict(postgres._settings)
    postgres._settings |= {"listen_addresses": ""}
    postgres.start()
    assert not is_healthy(), "only the socket answers"
    postgres.stop()
    postgres._settings = settings
    postgres.start()
    assert not is_healthy(), "the database is missing"
    with psycopg.connect(postgres.dsn, autocommit=True) as db:
        db.execute("CREATE DATABASE sesame OWNER sesame_owner")
        assert is_healthy()
        db.execute("ALTER DATABASE sesame ALLOW_CONNECTIONS false")
        assert not is_healthy()
    postgres.stop()
    assert not is_healthy()


def test_the_time_limits_of_the_check_fit_each_other() -> None:
    check = POSTGRES["healthcheck"]
    seconds = {name: int(check[name].rstrip("s")) for name in ("interval", "timeout", "start_period")}
    limit = re.search(r"--timeout (\d+)", check["test"][1])
    assert limit
    assert int(limit[1]) < seconds["timeout"] < seconds["interval"]
