"""Real files of the shared corpus."""

from __future__ import annotations

from pathlib import Path

import pytest

from sesame_parser_copilot.parser import CopilotParser

from .reading import read


@pytest.fixture
def files(shared: Path) -> list[Path]:
    found = sorted((shared / "corpus" / "copilot").glob("**/*.jsonl"))
    assert len(found) >= 13
    return found


def test_every_real_session_is_read_without_loss(files: list[Path]) -> None:
    for file in files:
        assert CopilotParser().matches(file), file
        reading = read(file)
        assert reading.skipped == [], file
        assert reading.messages, file
        assert reading.session.cwd, file
        assert reading.session.created, file
        assert all(message.timestamp for message in reading.messages if message.entry_id and "real" not in file.parts)


def test_no_text_of_a_real_session_is_the_programs(files: list[Path]) -> None:
    noise = ("SYSPROMPTMARK", "current_datetime", "You are a terminal assistant", "shellId", "diff --git")
    for file in files:
        for message in read(file).messages:
            texts = [message.text, *(result.text for result in message.tool_results)]
            assert not any(word in text for word in noise for text in texts), (file, texts)


def test_real_subagents_forks_and_compactions_are_told_apart(files: list[Path]) -> None:
    readings = [read(file) for file in files if "generated" in file.parts]
    children = [s for reading in readings for s in reading.sessions.values() if s.kind == "subagent"]
    assert [child.title for child in children] == ["zebra sub task"]
    assert [r.session.title for r in readings if r.session.parent_id] == ["knotfork"]
    assert len([r for r in readings if r.session.summary]) == 1
    assert len([result for r in readings for result in r.results if result.is_error]) == 4
