"""The long run of `benchmarks/chaos.py`, short."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CHAOS = Path(__file__).resolve().parents[2] / "benchmarks" / "chaos.py"


@pytest.mark.once
def test_workstations_that_are_killed_at_random_lose_and_double_nothing(database: str) -> None:
    command = [sys.executable, str(CHAOS), "--dsn", database, "--minutes", "0.2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 wrong" in done.stdout
