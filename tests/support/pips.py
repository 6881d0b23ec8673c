"""Packages of PyPI in other versions than the environment's, for tests that run them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from filelock import FileLock

from .npm import PLACES


def installed(*packages: str) -> Path:
    """Return a directory for `PYTHONPATH` with packages; without PyPI tests are skipped, and in CI they fail."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    place = PLACES / "+".join([*packages, f"python{version}"]).replace("<", "-")
    PLACES.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{place}.lock"):
        if not place.exists():
            # Complete or missing, even if this is interrupted.
            with tempfile.TemporaryDirectory(dir=PLACES) as unfinished:
                command = [sys.executable, "-m", "pip", "install", "-q", "--target", unfinished, *packages]
                done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
                if done.returncode:
                    problem = f"pip cannot install {packages}: {done.stderr.strip()}"
                    (pytest.fail if os.environ.get("CI") else pytest.skip)(problem)
                Path(unfinished).rename(place)
    return place
