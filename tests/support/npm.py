"""Programs of npm's, for tests that drive them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

#: A Node for programs that are newer than the machine's own.
NODE = "node@24"
#: npm's own cache, outside of a test's home.
CACHE = Path.home() / ".npm"

#: What was installed by this run.
_places: dict[tuple[str, ...], Path] = {}


def installed(config: pytest.Config, factory: pytest.TempPathFactory, *packages: str) -> Path:
    """Return a `node_modules` with these packages; without npm's registry tests are skipped, and in CI they fail.

    It is kept where pytest keeps things from run to run, if it does.
    """
    if packages in _places:
        return _places[packages]
    name = "+".join(packages).replace("/", "-")
    cache = getattr(config, "cache", None)
    place = cache.mkdir(name) if cache else factory.mktemp(name)
    options = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error", f"--cache={CACHE}"]
    npm = shutil.which("npm")
    problem = "there is no npm"
    if npm:
        (place / "package.json").write_text('{"private": true}')
        command = [npm, "install", *options, *packages]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode == 0:
            _places[packages] = place / "node_modules"
            return _places[packages]
        problem = done.stderr.strip()
    (pytest.fail if os.environ.get("CI") else pytest.skip)(f"npm cannot install {' '.join(packages)}: {problem}")
