"""What the command and the library load, and that plain Python is enough."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import sesame_core
from sesame_core import Sesame

from ..support.transcripts import pi_session


@pytest.mark.upstream(30)
def test_a_search_loads_little_and_the_package_is_small() -> None:
    pi_session("small", "the lorikeet squawks")
    with Sesame() as sesame:
        sesame.index()
    script = (
        "import sys; sys.argv = ['sesame', 'search', 'lorikeet', '--no-refresh']\n"
        "from sesame_core.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert "lorikeet" in done.stdout
    modules = set(done.stdout.splitlines())
    heavy = {"sesame_parser_pi", "sesame_parser_claude_code", "json5", "watchfiles", "rich", "asyncio", "hypothesis"}
    assert not modules & heavy
    package = Path(sesame_core.__file__).parent
    files = [f for f in package.rglob("*") if f.is_file() and f.suffix != ".pyc"]
    assert sum(f.stat().st_size for f in files) < 2_400_000


@pytest.mark.upstream(44)
@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("module", ["library", "command line"])
def test_the_library_and_the_command_run_under_plain_python(module: str) -> None:
    pi_session("plain", "nix infrastructure simplify")
    script = (
        "from sesame_core import Sesame\n"
        "with Sesame() as sesame:\n"
        "    sesame.index()\n"
        "    for hit in sesame.search('nix infrastructure simplify').hits:\n"
        "        print(hit.session.id)\n"
    )
    arguments = ["-c", script] if module == "library" else ["-m", "sesame_core", "search", "nix"]
    done = subprocess.run([sys.executable, "-W", "error", *arguments], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "plain" in done.stdout
