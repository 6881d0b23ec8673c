"""The shared corpus of Claude Code's files."""

from __future__ import annotations

from pathlib import Path

import pytest

from sesame_core import Checkpoint, Event

from .records import (
    PARSER,
    SESSION,
    atoms,
    check,
    everything,
    facts,
    messages,
    parse,
    roundtrip,
    session,
    skipped,
    texts,
)


def pitfall(shared: Path, name: str) -> list[Path]:
    return sorted((shared / "corpus" / "claude-code-synthetic" / "pitfalls" / name).rglob("*.jsonl"))


@pytest.mark.parametrize(
    ("name", "needles"),
    [
        ("01-truncated-splice", ["alphaneedle", "betaneedle", "gammaneedle"]),
        ("02-missing-newline", ["alphaneedle", "betaneedle", "gammaneedle"]),
        ("04-bad-line-mid-file", ["alphaneedle", "betaneedle"]),
        ("05-unicode-line-separators", ["end needle"]),
        ("06-lone-surrogate-and-nul-escape", ["here needle"]),
        ("07-one-message-many-lines-interleaved", ["zetaneedle", "etaneedle out", "thetaneedle"]),
        ("09-no-requestId", ["dupneedle"]),
        ("12-background-fork-copy", ["alphaneedle", "onlyinforkneedle"]),
        ("14-subagents-layout", ["needlesub", "subanswer"]),
        ("19-queued-command", ["midturnneedle", "blockneedle", "nouuidneedle", "bgneedle"]),
        ("20-rewind-dead-branch", ["deadneedle", "liveneedle"]),
        ("23-compaction", ["sumneedle", "afterneedle"]),
        ("24-titles", ["real first prompt", "AI two", "Mine"]),
        ("27-odd-shapes", ["ok", "nots needle"]),
        ("29-huge-lines", ["imgneedle", "tailneedle"]),
        ("30-crlf-bom-no-final-newline", ["alphaneedle", "betaneedle"]),
        ("32-old-1x-shape", ["oldneedle", "inline sidechain"]),
    ],
)
def test_the_shared_pitfalls_say_what_is_expected(shared: Path, name: str, needles: list[str]) -> None:
    files = [path for path in pitfall(shared, name) if path.name != "journal.jsonl"]
    assert files
    assert all(PARSER.matches(path) for path in files)
    found = "\n".join(everything(parse(path)) for path in files)
    assert [needle for needle in needles if needle not in found] == []
    if name == "20-rewind-dead-branch":
        events = parse(files[0])
        abandoned = session(events).abandoned or ()
        assert [m.text for m in messages(events) if m.segment in abandoned] == ["deadneedle", "dead answer"]
    if name in ("09-no-requestId", "19-queued-command"):
        assert found.count(needles[0]) == 1


def test_the_shared_record_types_are_all_read(shared: Path) -> None:
    events = parse(shared / "corpus" / "claude-code-synthetic" / "all_types.jsonl")
    assert skipped(events) == []
    found = everything(events)
    for needle in ("off-by-one", "I'll list the files.", "looks fine", "and hide the bash lines", "queued as blocks"):
        assert needle in found
    assert "While you were away" in found
    assert "[Request interrupted" not in found
    assert "Caveat" not in found
    assert texts(events, "user").count("now run the tests") == 1


def test_every_shared_session_is_recognised_and_no_other_agents(shared: Path) -> None:
    claude = [*(shared / "eval/corpus/claude").rglob("*.jsonl"), *(shared / "corpus/claude-code").rglob("*.jsonl")]
    others = [
        path
        for place in ("eval/corpus/codex", "eval/corpus/copilot", "eval/corpus/pi", "corpus/pi", "corpus/pi-synthetic")
        for path in (shared / place).rglob("*.jsonl")
    ]
    assert len(claude) > 700
    assert len(others) > 80
    assert [path for path in claude if not PARSER.matches(path)] == []
    assert [path for path in others if PARSER.matches(path)] == []


def test_shared_sessions_are_read_without_loss(shared: Path) -> None:
    for path in sorted((shared / "corpus/claude-code").rglob("*.jsonl"))[:30]:
        events = parse(path)
        assert messages(events)
        assert session(events).cwd
        assert [reason for reason in skipped(events) if reason not in ("oversized", "shortened")] == []


@pytest.mark.parametrize("name", ["a", "b"])
def test_the_shared_growing_files_say_the_same_in_parts(shared: Path, name: str, tmp_path: Path) -> None:
    steps = sorted((shared / "corpus/claude-code-growing" / name).glob("*.jsonl"))
    assert len(steps) > 4
    path = tmp_path / f"{SESSION}.jsonl"
    before, events, checkpoint = b"", list[Event](), None
    for step in steps:
        content = step.read_bytes()
        grew = content.startswith(before)
        path.write_bytes(content)
        if checkpoint is None or not grew:
            events = parse(path)
        else:
            tail = list(PARSER.parse_tail(path, roundtrip(checkpoint)) or ())
            check(tail)
            events += tail
        assert isinstance(events[-1], Checkpoint)
        checkpoint, before = events[-1], content
        assert sorted(atoms(events)) == atoms(parse(path))
        assert facts(events) == facts(parse(path))
