"""Real files of the shared corpus."""

from __future__ import annotations

from pathlib import Path

from sesame_parser_pi.parser import PiParser

from .reading import read


def test_every_real_session_is_read_without_loss(shared: Path) -> None:
    parser = PiParser()
    for file in sorted((shared / "corpus" / "pi").glob("**/*.jsonl")):
        if "torn" in file.name:
            continue
        assert parser.matches(file)
        reading = read(file)
        assert reading.skipped == []
        assert reading.said("user")
        origins = [m.origin_id for m in reading.messages]
        assert None not in origins
        assert len(origins) == len(set(origins)), file


def test_migrating_a_real_session_changes_no_words(shared: Path) -> None:
    before = read(shared / "corpus/pi/badlogic__pi-mono/before-compaction.jsonl")
    after = read(shared / "corpus/pi/migrated-by-pi/before-compaction.migrated-v3.jsonl")
    assert [(m.role, m.text, m.tool_calls, m.tool_results) for m in before.messages if m.source_type != "bash"] == [
        (m.role, m.text, m.tool_calls, m.tool_results) for m in after.messages if m.source_type != "bash"
    ]
