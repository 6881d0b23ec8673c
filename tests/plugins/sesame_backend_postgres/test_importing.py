"""How psycopg is loaded: in a command without what it does not use, and working as if it were whole."""

from __future__ import annotations

import subprocess
import sys

import pytest

#: Modules that psycopg loads and a search of PostgreSQL does not use.
SPARED = {"asyncio", "ctypes", "importlib.metadata", "ssl", "typing_extensions", "zoneinfo"}
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
