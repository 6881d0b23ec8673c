"""The shared corpus of Codex's files: real ones, and those that real versions of the program made."""

from __future__ import annotations

from pathlib import Path

import pytest

from sesame_core import Skipped

from .records import PARSER, check, everything, messages, said, session, skipped

VERSIONS = ["0.21.0", "0.36.0", "0.50.0", "0.80.0", "0.101.0", "0.125.0", "0.146.0", "0.171.0"]
#: What Codex adds to prompts and outputs in every file that it made.
NOISE = (
    "AGENTSFILE",
    "environment_context",
    "user_instructions",
    "approval_policy",
    "sandbox_mode",
    "encrypted_content",
    "Chunk ID",
    "Original token count",
    "Another language model started",
    "Skills",
)


def files(shared: Path, part: str) -> list[Path]:
    found = [path for path in sorted((shared / "corpus" / "codex" / part).rglob("*")) if PARSER.matches(path)]
    assert found
    return found


@pytest.mark.parametrize("version", VERSIONS)
def test_what_each_version_wrote_is_read_once_and_without_noise(version: str, shared: Path) -> None:
    needles = {"zebra exporter", "zebra patched"}
    for path in files(shared, f"generated/v{version}"):
        events = list(PARSER.parse(path))
        check(events)
        text = everything(events)
        assert [noise for noise in NOISE if noise in text] == [], path
        assert [one for one in events if isinstance(one, Skipped) and one.is_loss] == []
        assert session(events).git_branch == "main"
        answers = [text for role, text in said(events) if role == "assistant"]
        assert len(set(answers)) == len(answers), path
        needles -= {needle for needle in needles if needle in text}
    assert needles == set()


@pytest.mark.parametrize(
    ("part", "needle"),
    [
        ("legacy-resumed-by-0.171", "pangolin"),
        ("legacy-migrated-by-0.171", "pangolin"),
        ("zst-by-0.171", "narwhal"),
        ("v0.171.0-tui", "aardvark"),
    ],
)
def test_sessions_that_another_version_changed_are_read(part: str, needle: str, shared: Path) -> None:
    found = [everything(list(PARSER.parse(path))) for path in files(shared, f"generated/{part}")]
    assert any(needle in text for text in found)


def test_real_files_lose_nothing_and_say_nothing_twice(shared: Path) -> None:
    place = shared / "eval" / "corpus" / "codex"
    count = 0
    for path in sorted(place.rglob("*.jsonl")):
        events = list(PARSER.parse(path))
        check(events)
        assert set(skipped(events)) <= {"copied from the session that it continues"}, path
        assert session(events).cwd
        origins = [m.origin_id for m in messages(events) if m.origin_id]
        assert len(set(origins)) == len(origins), path
        count += len(messages(events))
    assert count > 15_000
