"""The tutorials work as they stand: each is followed in an empty directory and an environment with the wheel alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ..support.tutorial import File, follow, steps

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def wheel_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the wheel of this checkout; without a package index the tests are skipped, in CI they fail."""
    place = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", f"--wheel-dir={place}", str(REPOSITORY)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"no wheel could be built: {done.stderr}")
    return place


@pytest.fixture
def environment(wheel_directory: Path, tmp_path: Path, home: Path, utc: None) -> dict[str, str]:
    """Environment in which `python3` is this Python and `pip install sesame-search` installs the wheel."""
    python = tmp_path / "bin" / "python3"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    # The reader's pytest has no plugins for the options with which these tests may run.
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV"))},
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
        "PIP_FIND_LINKS": f"{wheel_directory} {os.environ.get('PIP_FIND_LINKS', '')}",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_COMPILE": "1",
        "PIP_REQUIRE_VIRTUALENV": "1",  # where no environment can be made, nothing lands in the machine's Python
    }


@pytest.mark.once
@pytest.mark.parametrize("page", ["tutorial-plugin.md", "tutorial-backend.md"])
def test_a_reader_who_follows_the_page_sees_what_it_shows(
    page: str, environment: dict[str, str], tmp_path: Path
) -> None:
    todo = steps(REPOSITORY / "docs" / page)
    assert len([step for step in todo if isinstance(step, File)]) > 3
    for command, output in follow(todo, tmp_path / "work", environment):
        assert command.prints(output), f"$ {command.line}\n{output}"
