"""The example in docs/ is a real third-party plugin: found by its entry point, proved by the kit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "sesame-parser-xyz"


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """Environment in which the example is installed: what an installer writes, without one."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = tmp_path / "site" / f"sesame_parser_xyz-{project['version']}.dist-info"
    info.mkdir(parents=True)
    metadata = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(metadata, encoding="utf-8")
    lines = [f"{name} = {value}" for name, value in project["entry-points"]["sesame"].items()]
    (info / "entry_points.txt").write_text("\n".join(["[sesame]", *lines]), encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV"))}
    return {**environment, "PYTHONPATH": os.pathsep.join([str(info.parent), str(EXAMPLE / "src")])}


def run(arguments: list[str], environment: dict[str, str], cwd: Path) -> str:
    done = subprocess.run([sys.executable, *arguments], env=environment, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.once
def test_the_example_passes_its_own_tests(installed: dict[str, str], tmp_path: Path) -> None:
    arguments = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", str(EXAMPLE / "tests")]
    output = run([*arguments, f"--rootdir={tmp_path}"], installed, tmp_path)
    assert "passed" in output


def test_the_example_is_listed_with_its_distribution(installed: dict[str, str], tmp_path: Path) -> None:
    code = (
        "import json; from sesame_core.plugin.manager import PluginManager\n"
        "print(json.dumps([[i.name, i.kind, i.distribution, i.version, i.error]"
        " for i in PluginManager().catalogue()]))"
    )
    listed = json.loads(run(["-c", code], installed, tmp_path))
    assert ["xyz", "parser", "sesame-parser-xyz", "0.1.0", None] in listed


def test_without_the_installation_there_is_no_such_plugin(tmp_path: Path) -> None:
    code = "from sesame_core.plugin.manager import PluginManager; print('xyz' in PluginManager().names())"
    assert run(["-c", code], dict(os.environ), tmp_path).strip() == "False"


def test_its_test_is_about_a_dozen_lines() -> None:
    assert len((EXAMPLE / "tests" / "test_xyz.py").read_text(encoding="utf-8").splitlines()) <= 15
