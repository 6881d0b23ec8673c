"""How psycopg is loaded: in a command without what it does not use, and working as if it were whole."""

from __future__ import annotations

import subprocess
import sys

import pytest

#: Modules that psycopg loads and a search of PostgreSQL does not use.
SPARED = {
    "asyncio",
    "ctypes",
    "dataclasses",
    "importlib.metadata",
    "logging",
    "ssl",
    "typing_extensions",
    "zoneinfo",
}
CREATE = """
import sys
import sesame_backend_postgres
sesame_backend_postgres.create({"dsn": "postgresql://nobody@127.0.0.1:1/nothing"})
"""
LOADED = "print(*sorted(set(sys.modules)), sep='\\n')"


def ran(code: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_command_loads_psycopg_without_its_other_half() -> None:
    loaded = ran("import sesame_core.cli" + CREATE + LOADED)
    assert "psycopg" in loaded
    assert not SPARED & set(loaded)


def test_a_program_that_embeds_sesame_loads_all_of_psycopg() -> None:
    loaded = ran(CREATE + LOADED)
    assert {"psycopg", "asyncio"} <= set(loaded)


def test_a_module_that_is_loaded_before_is_used() -> None:
    code = "import asyncio, ssl, importlib.metadata, sesame_core.cli" + CREATE
    assert ran(code + "import psycopg._acompat; print(psycopg._acompat.asyncio is asyncio)") == ["True"]


@pytest.mark.parametrize("module", sorted(SPARED - {"typing_extensions"}))
def test_a_module_that_is_loaded_afterwards_is_the_real_one(module: str) -> None:
    code = f"import importlib; made = importlib.import_module({module!r}); print(made.__file__ is not None)"
    assert ran("import sesame_core.cli" + CREATE + code) == ["True"]


def test_psycopg_knows_its_version() -> None:
    code = "import psycopg, importlib.metadata; print(psycopg.__version__ == importlib.metadata.version('psycopg'))"
    assert ran("import sesame_core.cli" + CREATE + code) == ["True"]


def test_a_name_that_psycopg_mentions_in_another_version_is_the_real_one() -> None:
    code = """
import sesame_core.cli
from sesame_backend_postgres import importing
with importing.of_a_command():
    from asyncio import gather
    import ctypes.util
    from ctypes import c_int
    import importlib.metadata
    try:
        importlib.metadata.version("sesame-not-installed")
    except importlib.metadata.PackageNotFoundError:
        pass
import asyncio, ctypes
print(gather is asyncio.gather, c_int is ctypes.c_int)
"""
    assert ran(code) == ["True True"]


@pytest.mark.once
def test_an_asynchronous_connection_works_in_the_process_of_a_command(postgres: str) -> None:
    code = f"""
import asyncio, psycopg
async def asked():
    async with await psycopg.AsyncConnection.connect({postgres!r}) as db:
        return await (await db.execute("SELECT 6 * 7")).fetchone()
print(asyncio.run(asked()))
"""
    assert ran("import sesame_core.cli" + CREATE + code) == ["(42,)"]


def test_psycopgs_dataclasses_are_dataclasses() -> None:
    code = """
import dataclasses, psycopg
from psycopg import errors
one = psycopg.Xid.from_parts(7, "a", "b")
prepared = dataclasses.replace(one, owner="ann")
print(one == psycopg.Xid.from_parts(7, "a", "b"), one == prepared, prepared.owner, prepared.gtrid)
try:
    one.gtrid = "c"
except dataclasses.FrozenInstanceError:
    print("frozen")
first, second = errors.FinishedPGconn(db=b"sesame"), errors.FinishedPGconn()
print(first.db, second.db, first.info == [], first.info is not second.info)
print([field.name for field in dataclasses.fields(errors.FinishedPGconn)][:2])
"""
    made = ran("import sesame_core.cli" + CREATE + code)
    assert made == ["True False ann a", "frozen", "b'sesame' b'' True True", "['info', 'db']"]
    assert made == ran(CREATE + code)


def test_an_error_knows_its_connection_when_that_is_closed() -> None:
    code = """
import pickle
from psycopg import errors, pq
made = pq.PGconn.connect_start(b"host=127.0.0.1 port=1 user=nobody dbname=nothing")
error = errors.OperationalError("refused", pgconn=made)
print(error.pgconn.db, pickle.loads(pickle.dumps(error)))
closed = errors.finish_pgconn(made)
print(type(closed).__name__, closed.db, closed.user)
try:
    closed.reset()
except errors.OperationalError as refused:
    print(refused)
"""
    made = ran("import sesame_core.cli" + CREATE + code)
    assert made == ran(CREATE + code)
    assert made[:2] == ["b'nothing' refused", "FinishedPGconn b'nothing' b'nobody'"]


def test_a_warning_of_psycopg_is_logged() -> None:
    code = """
import psycopg.connection
psycopg.connection.logger.debug("not %s", "shown")
psycopg.connection.logger.warning("it %s", "broke")
import logging
print(logging.getLogger("psycopg").level)
"""
    done = subprocess.run(
        [sys.executable, "-c", "import sesame_core.cli" + CREATE + code], capture_output=True, text=True, check=True
    )
    assert done.stderr == "it broke\n"
    assert done.stdout == "0\n"
