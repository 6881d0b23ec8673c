"""The long run of `benchmarks/chaos.py`, short."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ...support.postgres_server import find_binaries

pytestmark = pytest.mark.once

CHAOS = Path(__file__).resolve().parents[3] / "benchmarks" / "chaos.py"


def test_workstations_and_a_server_that_are_killed_at_random_lose_and_double_nothing(
    request: pytest.FixtureRequest,
) -> None:
    command = [sys.executable, str(CHAOS), "--minutes", "0.2", "--up", "4"]
    if find_binaries() is None:
        # A server that cannot be stopped.
        command += ["--dsn", request.getfixturevalue("database")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\n0 wrong" in done.stdout
