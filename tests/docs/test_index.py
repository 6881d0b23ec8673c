"""docs/index.md says where the sessions of each agent are, as the plugins and the table of agents have it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sesame_core.plugin.agents import BUNDLED, UNREAD
from sesame_core.plugin.manager import PluginManager

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "index.md").read_text(encoding="utf-8")
#: The cells of each row of the table of agents, by parser.
ROWS = {
    cells[1].strip("`[] ").partition("`")[0]: cells
    for line in PAGE.partition("## Agents that are read")[2].partition("\n## ")[0].splitlines()
    if line.startswith("| ") and len(cells := [cell.strip() for cell in line.strip("|").split(" | ")]) == 4
    if "`" in cells[1]
}


@pytest.fixture(autouse=True)
def without_other_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name)


def test_every_parser_has_a_row() -> None:
    assert set(ROWS) == {name for name, module in BUNDLED.items() if module.startswith("sesame_parser_")}


@pytest.mark.parametrize("parser", ROWS)
def test_the_directories_are_those_that_the_parser_looks_in(parser: str, home: Path) -> None:
    named = [Path(path).expanduser() for path in re.findall(r"`(~[^`]*)`", ROWS[parser][2])]
    assert PluginManager().default_roots(parser) == named


@pytest.mark.parametrize("parser", ROWS)
def test_the_first_variable_moves_the_directories(parser: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    variable, replaced = re.findall(r"`([^`]+)`", ROWS[parser][3])[:2]
    before = PluginManager().default_roots(parser)
    monkeypatch.setenv(variable, str(home / "moved"))
    within = Path(replaced).expanduser()
    assert PluginManager().default_roots(parser) == [home / "moved" / root.relative_to(within) for root in before]


def test_the_agents_that_are_not_read_are_those_of_the_table() -> None:
    listed = PAGE.partition("no bundled parser reads them: ")[2].partition(". When")[0]
    assert " ".join(listed.split()).split(", ") == list(UNREAD)


def test_the_changelog_counts_them() -> None:
    changelog = (Path(__file__).resolve().parents[2] / "docs" / "changelog.md").read_text(encoding="utf-8")
    (named, more) = re.findall(r"^  ([A-Z][\w ,]+) and (\d+) more agents", changelog, re.MULTILINE)[0]
    assert len(named.split(", ")) + int(more) == len(UNREAD)
