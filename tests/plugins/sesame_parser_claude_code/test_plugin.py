"""The parser of Claude Code as a plugin, and which files it takes for its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sesame_core import Checkpoint, ConfigError, Session, TailParser
from sesame_core.plugin.parser import Expiring, Resuming
from sesame_core.testing import ParserConformance
from sesame_parser_claude_code import create, sesame_register_parsers

from .records import (
    PARSER,
    SESSION,
    Record,
    answer,
    base,
    custom_title,
    lines,
    messages,
    parse,
    session,
    user,
    uuid,
)

# -- the plugin -------------------------------------------------------------------------------------------


def test_the_plugin_provides_a_parser_with_all_abilities() -> None:
    (provider,) = sesame_register_parsers()
    parser = provider.create({"thinking": True, "line_limit": 5000})
    assert provider.name == "claude-code"
    assert isinstance(parser, TailParser)
    assert isinstance(parser, Resuming)
    assert isinstance(parser, Expiring)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"thinkin": True}, "'thinking'"), ({"thinking": 1}, "true or false"), ({"line_limit": 0}, "positive")],
)
def test_a_wrong_option_is_refused_with_what_would_be_right(options: Record, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        create(options)


def test_sessions_lie_under_the_config_directory(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(PARSER.default_roots()) == [home / ".claude" / "projects"]
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "other"))
    assert list(PARSER.default_roots()) == [home / "other" / "projects"]


@pytest.mark.parametrize(
    ("content", "days"),
    [
        (None, 30),
        ('{"cleanupPeriodDays": 99}', 99),
        ('{"cleanupPeriodDays": 0}', 30),
        ('{"cleanupPeriodDays": "soon"}', 30),
        ('{"cleanupPeriodDays": true}', 30),
        ("{}", 30),
        ("[]", 30),
        ("{broken", 30),
        ("\xff", 30),
    ],
)
def test_files_expire_as_the_settings_say(home: Path, content: str | None, days: int) -> None:
    if content is not None:
        (home / ".claude").mkdir()
        (home / ".claude" / "settings.json").write_bytes(content.encode("latin-1"))
    assert PARSER.expires_after_days() == days


class TestConformance(ParserConformance):
    name = "claude-code"

    @pytest.fixture
    def session_file(self, write: Callable[..., Path]) -> Path:
        exchanges = [(user(n, f"ask {n}"), answer(n + 1, f"say {n}"), custom_title(f"T{n}")) for n in range(1, 20, 2)]
        return write(*(record for exchange in exchanges for record in exchange))


# -- which files ------------------------------------------------------------------------------------------


MATCHING = {
    "a prompt": lines(user(1, "hi")),
    "a summary first": lines({"type": "summary", "summary": "Foxes", "leafUuid": uuid(1)}),
    "a snapshot first": lines({"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}),
    "an unknown record first": lines({"type": "new-thing"}, {"type": "mode", "sessionId": "s"}),
    "a damaged line first": b'{"type":"us' + b"\n" + lines(user(1, "hi")),
    "byte order mark and NULs": b"\xef\xbb\xbf" + b"\0" * 9 + lines(user(1, "hi")),
    "no session id": lines({"type": "user", "message": {"content": "hi"}, "timestamp": "2026-01-01T00:00:00Z"}),
    "a long first line": lines(user(1, "x" * 100_000)),
    "a long first line without ids": lines({"type": "user", "message": {"content": "x" * 100_000}}),
    "a long summary": lines({"type": "summary", "summary": "x" * 100_000}),
}


OTHERS = {
    "pi": lines({"type": "session", "id": "s", "version": 3, "cwd": "/p"}, user(1, "hi")),
    "codex": lines({"timestamp": "t", "type": "session_meta", "payload": {"id": "s"}}),
    "a long codex line": lines({"timestamp": "t", "type": "session_meta", "payload": {"x": "y" * 100_000}}),
    "copilot": lines({"type": "session.start", "data": {"sessionId": "s"}, "id": "1"}),
    "qwen": lines(base(1, "user", message={"role": "user", "parts": [{"text": "hi"}]})),
    "gemini": lines({"sessionId": "s", "projectHash": "h", "startTime": "t"}),
    "numbers": b"1\n2\n3\n",
    "odd types": lines({"type": ["user"]}, {"type": None}, [1], "user"),
    "no JSON": b"hello\nworld\n",
    "blank lines": b"\n\n",
}


@pytest.mark.parametrize("kind", MATCHING)
def test_a_transcript_is_recognised_whatever_its_name(kind: str, write: Callable[..., Path]) -> None:
    assert PARSER.matches(write(MATCHING[kind], name="conversation.jsonl"))


@pytest.mark.parametrize("kind", OTHERS)
def test_other_files_are_not_taken_for_transcripts(kind: str, write: Callable[..., Path]) -> None:
    assert not PARSER.matches(write(OTHERS[kind]))


@pytest.mark.parametrize(
    "name",
    [
        "x/subagents/workflows/wf/journal.jsonl",
        "history.jsonl",
        f"{SESSION}/tool-results/out.jsonl",
        "memory/notes.jsonl",
        "session.json",
    ],
)
def test_side_files_are_not_transcripts(name: str, write: Callable[..., Path]) -> None:
    assert not PARSER.matches(write(user(1, "hi"), name=name))


def test_an_empty_file_named_like_a_session_is_an_empty_session(write: Callable[..., Path]) -> None:
    path = write()
    assert PARSER.matches(path)
    events = parse(path)
    assert session(events).id == SESSION
    assert messages(events) == []
    assert not PARSER.matches(write(name="notes.jsonl"))
    assert PARSER.parse_tail(path, Checkpoint(offset=0, line=0, state={"facts": {}})) is None


def test_a_file_without_messages_is_a_session_without_messages(write: Callable[..., Path]) -> None:
    stub = write({"type": "teleported-from", "sessionId": SESSION}, MATCHING["a snapshot first"])
    assert [type(event) for event in parse(stub)] == [Session, Checkpoint]
    assert session(parse(stub)).id == SESSION
    titled = write(MATCHING["a snapshot first"], {"type": "custom-title", "customTitle": "T", "sessionId": SESSION})
    assert session(parse(titled)).title == "T"


def test_a_file_that_cannot_be_read_raises_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="missing"):
        list(PARSER.parse(tmp_path / "missing.jsonl"))
