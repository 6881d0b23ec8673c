"""The parser of Codex as a plugin, and which files it takes for its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sesame_core import Checkpoint, ConfigError, ParseError, TailParser
from sesame_core.plugin.parser import Explaining, Integrable, Naming, Resuming
from sesame_core.testing import ParserConformance
from sesame_parser_codex import create, sesame_register_parsers

from .records import PARSER, RICH, THREAD, Record, lines, meta, model_user, name, parse, prompt, record, session


def test_the_plugin_provides_a_parser_with_all_abilities() -> None:
    (provider,) = sesame_register_parsers()
    parser = provider.create({"thinking": True, "line_limit": 5000})
    assert provider.name == "codex"
    for ability in (TailParser, Resuming, Integrable, Naming, Explaining):
        assert isinstance(parser, ability)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"thinkin": True}, "'thinking'"), ({"thinking": 1}, "true or false"), ({"line_limit": 0}, "positive")],
)
def test_a_wrong_option_is_refused_with_what_would_be_right(options: Record, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        create(options)


def test_sessions_lie_in_two_directories_of_the_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CODEX_HOME", raising=False)
    assert list(PARSER.default_roots()) == [home / ".codex" / "sessions", home / ".codex" / "archived_sessions"]
    monkeypatch.setenv("CODEX_HOME", str(home / "other"))
    assert list(PARSER.default_roots()) == [home / "other" / "sessions", home / "other" / "archived_sessions"]


class TestConformance(ParserConformance):
    name = "codex"

    @pytest.fixture
    def session_file(self, write: Callable[..., Path]) -> Path:
        return write(*RICH)


BARE = {"id": THREAD, "timestamp": "2025-06-01T10:00:00Z", "instructions": None, "git": {"branch": "main"}}

MATCHING = {
    "a header": lines(meta()),
    "a bare header": lines(BARE),
    "a prompt first": lines(prompt("hi")),
    "a damaged header": b'{"timestamp":"2026' + b"\n" + lines(prompt("hi")),
    "a torn header": b'{"timestamp":"2026-03-01T09:00:00.000Z","type":"session_meta","payload":{"id":"x\n',
    "byte order mark and NULs": b"\xef\xbb\xbf" + b"\0" * 9 + lines(meta()),
    "a long header": lines(meta(base_instructions={"text": "x" * 300_000})),
    "a long header of a paginated file": lines(meta(x="y" * 300_000)).replace(
        b', "type"', b', "ordinal": 0, "type"', 1
    ),
    "a blank line first": b"\n\n" + lines(meta()),
}
OTHERS = {
    "claude code": lines({"type": "user", "sessionId": "s", "message": {"content": "hi"}, "uuid": "u"}),
    "pi": lines({"type": "session", "id": "s", "version": 3, "cwd": "/p"}),
    "copilot": lines({"type": "session.start", "data": {"sessionId": "s"}, "id": "1"}),
    "gemini": lines({"sessionId": "s", "projectHash": "h", "startTime": "t"}),
    "another program's payload": lines({"type": "metric", "payload": {"id": "x"}}),
    "the index of names": lines({"id": THREAD, "thread_name": "n", "updated_at": "t"}),
    "the history of prompts": lines({"session_id": THREAD, "ts": 1, "text": "hi"}),
    "odd types": lines({"type": ["session_meta"]}, {"type": None}, [1], "user"),
    "no JSON": b"hello\nworld\n",
    "blank lines": b"\n\n",
    "nothing": b"",
}


@pytest.mark.parametrize("kind", MATCHING)
@pytest.mark.parametrize("file", [name(), f"{THREAD}.jsonl", "notes.jsonl"])
def test_a_session_is_recognised_whatever_its_name(kind: str, file: str, write: Callable[..., Path]) -> None:
    assert PARSER.matches(write(MATCHING[kind], name=file))


@pytest.mark.parametrize("kind", OTHERS)
def test_other_files_are_not_taken_for_sessions(kind: str, write: Callable[..., Path]) -> None:
    assert not PARSER.matches(write(OTHERS[kind]))


def test_codexs_other_files_are_not_reported(write: Callable[..., Path]) -> None:
    rows = lines({"id": THREAD, "thread_name": "n", "updated_at": "t"})
    for file in ("session_index.jsonl", "history.jsonl"):
        assert PARSER.why_not(write(rows, name=file)) is None
    assert PARSER.why_not(write(rows, name="notes.jsonl")) == "records of no agent with a parser"
    write(meta())
    assert PARSER.why_not(write(b"\x28\xb5\x2f\xfd", name=name(end=".jsonl.zst"))) is None


@pytest.mark.parametrize("file", ["history.json", "notes.txt", "rollout.zst", f"rollout-{THREAD}.jsonl.tmp"])
def test_a_name_that_is_no_sessions_is_not_opened(file: str, write: Callable[..., Path]) -> None:
    path = write(meta(), name=file)
    assert not PARSER.may_match(file)
    assert not PARSER.matches(path)


def test_an_id_comes_from_the_name_when_the_header_is_lost(write: Callable[..., Path]) -> None:
    for damage in (b'{"timestamp":"2026-03-01T0\n', b"", b"\0\0\0\n", lines({"type": "session_meta", "payload": {}})):
        events = parse(write(damage, prompt("hi")))
        assert session(events).id == THREAD
        assert session(events).agent == "codex"


def test_a_file_without_header_and_without_id_in_its_name_is_refused(write: Callable[..., Path]) -> None:
    with pytest.raises(ParseError, match="no session header"):
        list(PARSER.parse(write(model_user("hi"), name="notes.jsonl")))
    with pytest.raises(ParseError, match="no session header"):
        list(PARSER.parse(write(record("future_thing", {"a": 1}), name="notes.jsonl")))


def test_a_session_without_messages_is_a_session(write: Callable[..., Path]) -> None:
    events = parse(write(meta()))
    assert session(events).id == THREAD
    assert isinstance(events[-1], Checkpoint)


def test_a_file_that_cannot_be_read_raises_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="missing"):
        list(PARSER.parse(tmp_path / "missing.jsonl"))
