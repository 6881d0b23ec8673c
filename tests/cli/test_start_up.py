"""What a command costs before it does anything: a budget, so that no import creeps onto the way of a search.

Where valgrind is installed, instructions are counted, which do not depend on load, as a multiple of those of
`python -c pass` in the same environment; everywhere, the modules of ours that are loaded.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sesame_core.dataclass import dataclass

#: How far the instructions may exceed their budget: between two builds of one Python they differ by less.
MARGIN = 1.05

RUN = "from sesame_core.cli import main; main()"
LOADED = f"import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); {RUN}"


@dataclass(frozen=True, slots=True)
class Budget:
    """What a command may cost."""

    #: Instructions, as a multiple of `python -c pass`, counted on Python 3.11; None: another line counts for this one.
    instructions: float | None
    #: Modules of Sesame and its plugins.
    modules: int


#: By command line, on the demo sessions, all indexed.  A figure that falls is lowered here; one that must rise says why
#: in the commit.
BUDGETS = {
    "search nix": Budget(5.7, 110),
    "search nix --json": Budget(None, 111),
    "search nix --no-refresh": Budget(None, 91),
    "status": Budget(5.4, 100),
    "sessions": Budget(4.7, 77),
    "show d6bc": Budget(4.9, 81),
    "--version": Budget(2.13, 4),
    # A shell runs it at each start.
    "init zsh": Budget(3.55, 28),
}


@pytest.fixture
def start(indexed_sessions: Path, tmp_path: Path) -> Callable[..., str]:
    """Run Python as a user would whose modules are all compiled; return what it and valgrind write to stderr."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("COV", "PYTHON"))}
    env |= {"PYTHONHASHSEED": "0", "PYTHONPYCACHEPREFIX": str(tmp_path / "compiled")}

    def run(code: str, line: str = "", *, under: tuple[str, ...] = ()) -> str:
        command = [*under, sys.executable, "-c", code, *line.split()]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stderr

    return run


@pytest.mark.parametrize("line", BUDGETS)
def test_a_command_loads_no_more_modules_than_its_budget(start: Callable[..., str], line: str) -> None:
    loaded = {name for name in start(LOADED, line).split() if name.startswith("sesame_")}
    print(len(loaded), "modules")
    assert len(loaded) <= BUDGETS[line].modules, sorted(loaded)


@pytest.mark.once
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind, which counts instructions, is not installed")
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the budgets were counted on Python 3.11")
def test_a_command_takes_no_more_instructions_than_its_budget(start: Callable[..., str]) -> None:
    def count(code: str, line: str = "") -> int:
        start(code, line)  # compiles what it imports
        valgrind = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
        found = re.search(r"I\s+refs:\s+([\d,]+)", start(code, line, under=valgrind))
        assert found, "valgrind counted nothing"
        return int(found[1].replace(",", ""))

    least = count("pass")
    most = {line: budget.instructions * MARGIN for line, budget in BUDGETS.items() if budget.instructions}
    spent = {line: round(count(RUN, line) / least, 2) for line in most}
    print(spent)
    assert {line: ratio for line, ratio in spent.items() if ratio > most[line]} == {}
