"""Programs from npm, for tests that run them."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from filelock import FileLock

#: A Node for programs that are newer than the machine's own.
NODE = "node@24"
#: npm's own cache, outside of a test's home.
CACHE = Path.home() / ".npm"
#: Packages that tests have installed, next to that cache: once per machine, since it takes npm half a minute.
PLACES = CACHE / "_sesame-tests"


def installed(*packages: str) -> Path:
    """Return a `node_modules` with these packages; without npm's registry tests are skipped, and in CI they fail."""
    place = PLACES / "+".join(packages).replace("/", "-")
    PLACES.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{place}.lock"):
        if not place.exists():
            _install(place, packages)
    return place / "node_modules"


def _install(place: Path, packages: tuple[str, ...]) -> None:
    options = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error", f"--cache={CACHE}"]
    npm = shutil.which("npm")
    problem = "there is no npm"
    if npm:
        # Complete or missing, even if this is interrupted.
        with tempfile.TemporaryDirectory(dir=PLACES) as unfinished:
            Path(unfinished, "package.json").write_text('{"private": true}')
            command = [npm, "install", *options, *packages]
            done = subprocess.run(command, cwd=unfinished, capture_output=True, text=True, timeout=300, check=False)
            if done.returncode == 0:
                Path(unfinished).rename(place)
                return
            problem = done.stderr.strip()
    (pytest.fail if os.environ.get("CI") else pytest.skip)(f"npm cannot install {' '.join(packages)}: {problem}")
