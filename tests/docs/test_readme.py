"""The README keeps what it promises; what its examples print is compared in test_docs_cli."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^```sh\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PAGES = [REPOSITORY / "README.md", REPOSITORY / "AGENTS.md", *sorted((REPOSITORY / "docs").glob("*.md"))]


def test_there_are_two_commands_of_one_line_each() -> None:
    assert len(COMMANDS) == 2
    assert all(command.count("\n") == 1 for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_makes_an_environment_and_uses_what_it_installs(command: str) -> None:
    make, install, use = (shlex.split(step) for step in command.split("&&"))
    assert make[:3] == ["python3", "-m", "venv"]
    place = make[3]
    assert install[0] == f"{place}/bin/pip"
    assert Path(use[0]).parent == Path(place) / "bin"


def test_the_first_command_installs_the_checkout_and_shows_a_search(cli: Callable[..., Any]) -> None:
    _, install, use = (shlex.split(step) for step in COMMANDS[0].split("&&"))
    extras = re.fullmatch(r"\.\[([\w,]+)\]", install[-1])
    assert install[1:-1] == ["install"]
    assert extras is not None
    assert {*extras[1].split(",")} == {"mcp", "redact", "watch", "web"} <= set(PROJECT["optional-dependencies"])
    for tool in ("pipx install", "uv tool install"):
        assert f"`{tool} '{install[-1]}'`" in README
    assert Path(use[0]).name in PROJECT["scripts"]
    assert "$ sesame search" in cli(*use[1:]).out


def test_the_second_command_runs_the_whole_suite() -> None:
    _, install, use = (shlex.split(step) for step in COMMANDS[1].split("&&"))
    extra = re.fullmatch(r"\.\[(\w+)\]", install[-1])
    assert extra is not None
    assert extra[1] in PROJECT["optional-dependencies"]
    assert use[1:] == ["-m", "pytest"]


def test_the_check_of_every_change_runs_the_command_of_the_readme() -> None:
    script = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
    assert "readme_command 2" in script


def test_the_version_of_python_is_the_one_that_is_required() -> None:
    assert f"Python {PROJECT['requires-python'].removeprefix('>=')} or newer" in README


def test_the_licence_is_there() -> None:
    assert PROJECT["license"] == "MIT"
    assert (
        (REPOSITORY / "LICENSE").read_text(encoding="utf-8").startswith("MIT License\n\nCopyright (c) 2026 The Sesame")
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_inside_the_repository_leads_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)", page.read_text(encoding="utf-8")):
        place = page.parent / target if target else page
        assert place.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", place.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}
            assert anchor.lower() in anchors, f"{target}#{anchor}"


def test_every_page_is_in_the_index() -> None:
    index = (REPOSITORY / "docs" / "index.md").read_text(encoding="utf-8")
    for page in (REPOSITORY / "docs").glob("*.md"):
        assert page.name == "index.md" or f"]({page.name})" in index


def test_the_map_has_every_package_and_every_plugin() -> None:
    text = (REPOSITORY / "AGENTS.md").read_text(encoding="utf-8")
    named = {name.removesuffix("/").removesuffix(".py").rpartition("/")[2] for name in re.findall(r"`([\w./]+)`", text)}
    core = {path.stem for path in (REPOSITORY / "sesame_core").iterdir() if path.suffix == ".py" or path.is_dir()}
    plugins = {path.parent.name for path in (REPOSITORY / "plugins").glob("*/__init__.py")}
    assert {name for name in core | plugins if not name.startswith("__")} <= named
