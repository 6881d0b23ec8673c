"""The parser of the native format: every record, what other writers get wrong, and whose files are whose."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Checkpoint, ConfigError, Event, Message, ParseError, Session, Skipped, ToolCall, ToolResult
from sesame_core.plugin.manager import PluginManager
from sesame_core.testing import ParserConformance
from sesame_parser_sesame.parser import SesameParser

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "native-format.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```json\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)

HEADER = {"type": "sesame-session", "version": 1, "id": "s-1", "agent": "owl", "createdAt": "2026-05-01T10:00:00Z"}

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write records (or raw lines) to a file behind a header."""

    def write(*records: object, header: object = HEADER) -> Path:
        path = tmp_path / "s.jsonl"
        lines = [r if isinstance(r, bytes) else json.dumps(r).encode() for r in (header, *records)]
        path.write_bytes(b"\n".join(lines) + b"\n")
        return path

    return write


def events(path: Path, **options: Any) -> list[Event]:
    return list(SesameParser(**options).parse(path))


def messages(path: Path) -> list[Message]:
    return [event for event in events(path) if isinstance(event, Message)]


def skipped(path: Path, **options: Any) -> list[tuple[str, int]]:
    return [(event.reason, event.line) for event in events(path, **options) if isinstance(event, Skipped)]


def facts(path: Path, name: str) -> Any:
    """What the sessions among the events say about one thing, the last one that says anything."""
    values = [getattr(event, name) for event in events(path) if isinstance(event, Session)]
    return [value for value in values if value is not None][-1:]


class TestConformance(ParserConformance):
    name = "sesame"

    @pytest.fixture
    def session_file(self, tmp_path: Path) -> Path:
        path = tmp_path / "own" / "b3f0.jsonl"
        path.parent.mkdir()
        path.write_text(BLOCKS[0], encoding="utf-8")
        return path


# -- every record, as the page shows it -------------------------------------------------------------------


def test_the_page_has_an_example_of_every_record_and_all_of_them_are_read(write: Write) -> None:
    header, *others = (json.loads(block) for block in BLOCKS[1:])
    assert {record["type"] for record in others} == {"message", "compaction", "title"}
    path = write(*others, header=header)
    assert skipped(path) == []
    (session,) = [event for event in events(path)[:1] if isinstance(event, Session)]
    assert session == Session(
        id="s-1",
        agent="researcher",
        kind="interactive",
        parent_id="s-0",
        cwd="/home/ann/code/orders",
        title="Slow build",
        model="m-large",
        git_branch="main",
        repository="example.org/ann/orders",
        created=datetime(2026, 11, 27, 14, 30, tzinfo=UTC),
    )
    assert messages(path)[1] == Message(
        session_id="s-1",
        role="assistant",
        text="I will time it.",
        tool_calls=(ToolCall(id="c1", name="bash", arguments={"command": "make"}),),
        tool_results=(ToolResult(call_id="c1", name="bash", text="linking: 540 s", command="make"),),
        timestamp=datetime(2026, 11, 27, 14, 30, 9, tzinfo=UTC),
        entry_id="m2",
        origin_id="s-1/m2",
    )


def test_every_field_on_the_page_is_in_an_example() -> None:
    tables = re.findall(r"^\| field[^\n]*\n\|---.*\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    named = {
        name for table in tables for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])
    }
    assert len(named) >= 15
    assert not {name for name in named if f'"{name}"' not in "".join(BLOCKS[1:])}


def test_the_last_title_and_the_last_summary_count(write: Write) -> None:
    path = write(
        {"type": "title", "title": "first"},
        {"type": "compaction", "summary": "early"},
        {"type": "title", "title": " the\n second "},
        {"type": "compaction", "summary": "late"},
    )
    assert facts(path, "title") == ["the second"]
    assert facts(path, "summary") == ["late"]
    assert [(m.role, m.source_type, m.text) for m in messages(path)] == [
        ("metadata", "title", "first"),
        ("summary", "compaction", "early"),
        ("metadata", "title", "the second"),
        ("summary", "compaction", "late"),
    ]


def test_a_result_knows_its_tool_and_its_command_from_the_call_also_after_a_checkpoint(write: Write) -> None:
    call = {
        "type": "message",
        "role": "assistant",
        "toolCalls": [{"id": "c", "name": "sh", "arguments": {"command": "ls"}}],
    }
    path = write(call)
    (*_, checkpoint) = events(path)
    assert isinstance(checkpoint, Checkpoint)
    with path.open("a") as file:
        file.write('{"type": "message", "role": "tool", "toolResults": [{"callId": "c", "text": "a.py"}]}\n')
    stored = Checkpoint(offset=checkpoint.offset, line=checkpoint.line, state=json.loads(json.dumps(checkpoint.state)))
    for read in (SesameParser().parse(path), SesameParser().parse_tail(path, stored)):
        (result,) = [r for event in read if isinstance(event, Message) for r in event.tool_results]
        assert (result.name, result.command, result.text) == ("sh", "ls", "a.py")


def test_the_calls_that_are_stored_are_bounded(write: Write) -> None:
    calls = [{"id": f"c{n}", "name": "sh", "arguments": {"command": "x" * 9_000}} for n in range(500)]
    checkpoint = events(write({"type": "message", "role": "assistant", "toolCalls": calls}))[-1]
    assert isinstance(checkpoint, Checkpoint)
    assert len(json.dumps(checkpoint.state)) < 50_000


def test_copies_of_a_message_have_one_origin_and_equal_ids_in_two_sessions_have_two(write: Write) -> None:
    said = {"type": "message", "id": "m1", "role": "user", "text": "hi"}
    first = messages(write(said))[0].origin_id
    assert messages(write(said))[0].origin_id == first
    assert messages(write(said, header={**HEADER, "id": "s-2"}))[0].origin_id != first
    assert messages(write({"type": "message", "role": "user", "text": "hi"}))[0].origin_id is None


# -- the world is open, and odd ---------------------------------------------------------------------------


def test_unknown_records_and_fields_are_skipped(write: Write) -> None:
    path = write(
        {"type": "com.example.cost", "usd": 3},
        {"type": "message", "role": "user", "text": "hi", "mood": "good", "toolCalls": None},
        header={**HEADER, "colour": "red", "kind": "from the future"},
    )
    assert skipped(path) == []
    assert [m.text for m in messages(path)] == ["hi"]
    assert facts(path, "kind") == ["interactive"]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"text": "no type"}, "no type"),
        ({"type": "message", "role": "narrator", "text": "x"}, "unknown role"),
        ({"type": "message", "text": "x"}, "unknown role"),
        ({"type": "message", "role": ["user"], "text": "x"}, "unknown role"),
        ({"type": "message", "role": "user", "text": ["blocks"]}, "text is not a string"),
        ({"type": "message", "role": "user", "text": "x", "toolCalls": {"id": 1}}, "invalid tool call"),
        ({"type": "message", "role": "user", "text": "x", "toolCalls": [{"id": "nameless"}]}, "invalid tool call"),
        ({"type": "message", "role": "user", "text": "x", "toolResults": ["done"]}, "invalid tool result"),
        ({"type": "message", "role": "user", "text": "x", "timestamp": "noon"}, "invalid timestamp"),
        ({"type": "message", "role": "user", "text": "x", "timestamp": 1764250000}, "invalid timestamp"),
        ({"type": "compaction"}, "no summary"),
        ({"type": "title", "title": "  "}, "no title"),
        ({**HEADER, "id": "s-2"}, "second header"),
        ([1], "not an object"),
        (b'{"type": "mess', "damaged"),
    ],
)
def test_an_odd_record_is_counted_with_its_line_and_harms_no_neighbour(
    record: object, reason: str, write: Write
) -> None:
    said = {"type": "message", "role": "user", "text": "neighbour"}
    path = write(said, record, said)
    assert skipped(path) == [(reason, 3)]
    assert [m.text for m in messages(path)].count("neighbour") == 2


def test_what_is_good_of_an_odd_message_is_kept(write: Write) -> None:
    calls = [{"name": "", "id": "a"}, {"name": "sh", "id": "b", "arguments": "not an object"}]
    (message,) = messages(write({"type": "message", "role": "assistant", "text": "x", "toolCalls": calls}))
    assert message.text == "x"
    assert message.tool_calls == (ToolCall(id="b", name="sh"),)


def test_a_repeated_header_changes_nothing(write: Write) -> None:
    assert skipped(write(HEADER)) == []


@pytest.mark.parametrize("text", ["2026-05-01T12:00:00+02:00", "2026-05-01T10:00:00", "2026-05-01T10:00:00.000Z"])
def test_times_are_utc_unless_they_tell(text: str, write: Write) -> None:
    (message,) = messages(write({"type": "message", "role": "user", "text": "x", "timestamp": text}))
    assert message.timestamp == datetime(2026, 5, 1, 10, tzinfo=UTC)


def test_a_record_over_the_limit_is_shortened(write: Write) -> None:
    said = {"type": "message", "role": "user", "text": "word " * 100}
    assert skipped(write(said), line_limit=300) == [("shortened", 2)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": None}, "no version"),
        ({"version": True}, "no version"),
        ({"version": 2}, "newer than this program's"),
        ({"id": ""}, "no id"),
        ({"agent": 7}, "no agent"),
    ],
)
def test_a_header_that_means_nothing_is_an_error_with_its_line(
    changes: dict[str, object], message: str, write: Write
) -> None:
    path = write(header={**HEADER, **changes})
    with pytest.raises(ParseError, match=message) as caught:
        events(path)
    assert caught.value.line == 1


def test_a_file_without_a_header_is_an_error(write: Write) -> None:
    with pytest.raises(ParseError, match="sesame-session"):
        events(write(header={"type": "message", "role": "user", "text": "x"}))


# -- whose file is it? ------------------------------------------------------------------------------------

PI_HEADER = {"type": "session", "version": 3, "id": "0199", "timestamp": "2026-03-04T05:06:00Z", "cwd": "/w"}
CLAUDE_RECORD = {
    "type": "user",
    "sessionId": "1",
    "uuid": "2",
    "parentUuid": None,
    "message": {"role": "user", "content": "x"},
}


@pytest.mark.parametrize("records", [BLOCKS[0], *(json.dumps(HEADER) + "\n" + block for block in BLOCKS[2:])])
def test_only_this_parser_takes_a_native_file(records: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(records, encoding="utf-8")
    plugins = PluginManager()
    assert [n for n in ("claude-code", "pi", "sesame") if plugins.parser(n).matches(path)] == ["sesame"]


@pytest.mark.parametrize("kind", ["message", "compaction", "title"])
def test_only_this_parser_takes_one_whose_second_record_is_longer_than_the_part_that_is_checked(
    kind: str, write: Write
) -> None:
    path = write({"type": kind, "role": "user", "text": "sessionId " * 9_000, "summary": "x" * 90_000, "title": "t"})
    plugins = PluginManager()
    assert [n for n in ("claude-code", "pi", "sesame") if plugins.parser(n).matches(path)] == ["sesame"]


@pytest.mark.parametrize("header", [PI_HEADER, {**PI_HEADER, "format": "sesame", "agent": "owl"}, CLAUDE_RECORD])
def test_it_takes_no_file_of_another(header: object, write: Write) -> None:
    assert not SesameParser().matches(write(header=header))


def test_the_name_must_end_in_jsonl(write: Write) -> None:
    path = write()
    assert SesameParser().matches(path)
    assert not SesameParser().matches(path.rename(path.with_suffix(".json")))


def test_its_root_is_in_the_data_directory_and_is_not_made(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert SesameParser().default_roots() == (home / ".local/share/sesame/sessions",)
    assert not (home / ".local").exists()
    monkeypatch.setenv("SESAME_DATA_DIR", str(home / "elsewhere"))
    assert SesameParser().default_roots() == (home / "elsewhere/sessions",)
    assert not (home / "elsewhere").exists()


@pytest.mark.parametrize("value", [0, -1, True, "big", 1.5])
def test_a_limit_that_is_none_is_a_configuration_error(value: object) -> None:
    with pytest.raises(ConfigError, match="positive whole number"):
        SesameParser.from_options({"line_limit": value})


def test_an_unknown_option_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="did you mean 'line_limit'"):
        SesameParser.from_options({"linelimit": 1})
