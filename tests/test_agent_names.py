"""The core names no agent but in one table, so that a new agent is a plugin and a line of data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from sesame_core.plugin import agents

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "sesame_core" / "plugin" / "agents.py"
#: Made-up sessions, in a directory of each parser's name, are data of agents' formats.
SAMPLES = ROOT / "sesame_core" / "demo" / "sessions"

#: Parsers whose agents' names are the files' oldest examples: they stand where a reader needs one.
OLDEST = {"claude", "pi"}
#: Files that name other agents, each with its reason.
EXCEPTIONS = {
    "benchmarks/README.md": "it describes the next two",
    "benchmarks/agents.py": "it measures the format of each agent",
    "benchmarks/more_shapes.py": "it writes sessions in the format of each agent",
    "sesame_core/text/titles.py": "prompts carry the marks of the agent that injected them, in whatever agent's file",
}


def written() -> Iterator[Path]:
    """Yield the files of the core, of the benchmarks and of CI but the table."""
    for place in ("sesame_core", "benchmarks", ".ci"):
        for path in sorted((ROOT / place).rglob("*")):
            if path.is_file() and path != TABLE and path.suffix != ".pyc" and not path.is_relative_to(SAMPLES):
                yield path


@cache
def pattern() -> re.Pattern[str]:
    """What names an agent: a bundled one in any case, also in longer words; another one as people write it."""
    parsers = {name for name, module in agents.BUNDLED.items() if module.startswith("sesame_parser_")}
    bundled = {name.partition("-")[0] for name in parsers} - {"sesame"} - OLDEST
    known = " ".join(place for places in agents.UNREAD.values() for place in places)
    variables = set(re.findall(r"\$\{(\w+)", known)) - {"LOCALAPPDATA"}
    directories = {re.escape(name) for name in re.findall(r"(?<=/)\.\w[\w-]*", known)}
    assert {"codex", "copilot", "gemini", "opencode"} <= bundled
    return re.compile(
        rf"(?i:{'|'.join(bundled)})|\b(?:{'|'.join([*map(re.escape, agents.UNREAD), *variables])})\b"
        rf"|(?<![\w)\]])(?:{'|'.join(directories)})\b"
    )


def names(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return []
    return [found[0] for found in pattern().finditer(text)] + pattern().findall(path.name)


def test_no_file_of_the_core_names_an_agent_outside_the_table() -> None:
    naming = {path.relative_to(ROOT).as_posix(): found for path in written() if (found := names(path))}
    assert {path: found for path, found in naming.items() if path not in EXCEPTIONS} == {}
    assert EXCEPTIONS.keys() <= naming.keys(), "an exception that is not needed any more"


def test_a_name_in_any_form_is_found() -> None:
    for text in (
        "codex",
        "CODEX_HOME",
        "sesame_parser_gemini",
        "OpenCode",
        "a Cursor session",
        "AMP_DATA_DIR",
        '".factory"',
    ):
        assert pattern().search(text), text
    for text in ("a cursor of the database", "continue", "an amplifier", "zed", "self.factory"):
        assert not pattern().search(text), text
