"""The pi parser, on files of every version of the format and on everything that went wrong with such files."""

from __future__ import annotations

import json
import random
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sesame_core import Checkpoint, ConfigError, Event, Message, ParseError, Session, Skipped
from sesame_core.plugin.manager import PluginManager
from sesame_core.plugin.parser import Resumer, TailParser
from sesame_core.testing import ParserConformance
from sesame_parser_pi import sesame_register_parsers
from sesame_parser_pi.parser import PiParser

DATA = Path(__file__).resolve().parents[1] / "data" / "pi"
OWN = sorted(path.name for path in DATA.glob("*.jsonl"))
HEADER = {
    "type": "session",
    "version": 3,
    "id": "0199bbbb-0000-7000-8000-000000000001",
    "timestamp": "2026-03-04T05:06:00.000Z",
    "cwd": "/home/ann/lighthouse",
}


@dataclass
class Reading:
    """What came out of a parser, with the session as an indexer would know it."""

    messages: list[Message] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    session: Session = field(default_factory=lambda: Session(id="", agent=""))
    checkpoint: Checkpoint | None = None

    def take(self, events: Iterable[Event]) -> Reading:
        """Take events in; they come as the protocol promises."""
        self.checkpoint = None
        introduced = False
        for event in events:
            assert self.checkpoint is None, "the checkpoint comes last"
            if isinstance(event, Session):
                known = {f.name: value for f in fields(event) if (value := getattr(event, f.name)) is not None}
                self.session = replace(self.session, **known)
                introduced = True
            elif isinstance(event, Message):
                assert introduced, "the session comes before its messages"
                assert event.session_id == self.session.id
                self.messages.append(event)
            elif isinstance(event, Skipped):
                self.skipped.append(event)
            else:
                # As a backend would keep it.
                self.checkpoint = replace(event, state=orjson.loads(orjson.dumps(event.state)))
        assert self.checkpoint is not None
        return self

    def said(self, role: str) -> list[str]:
        return [message.text for message in self.messages if message.role == role]

    def of(self, source_type: str) -> list[Message]:
        return [message for message in self.messages if message.source_type == source_type]


def read(path: Path, **options: Any) -> Reading:
    return Reading().take(PiParser(**options).parse(path))


def own(name: str) -> Reading:
    return read(DATA / name)


def line(record: object) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass")


def message(role: object, number: int = 1, **values: object) -> dict[str, Any]:
    return {
        "type": "message",
        "id": f"e{number:07x}",
        "parentId": f"e{number - 1:07x}" if number > 1 else None,
        "timestamp": f"2026-03-04T05:07:{number % 60:02d}.000Z",
        "message": {"role": role, **values},
    }


Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write records (or raw lines) to a session file behind a header."""

    def write(*records: object, header: object = HEADER, name: str = "s.jsonl") -> Path:
        lines = [record if isinstance(record, bytes) else line(record) for record in (header, *records)]
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\n".join(lines) + b"\n")
        return path

    return write


@pytest.fixture
def one(write: Write) -> Callable[..., list[Message]]:
    """Return the messages that records make."""
    return lambda *records, **options: read(write(*records), **options).messages


# -- what each kind of entry says -------------------------------------------------------------------------


class TestConformance(ParserConformance):
    name = "pi"

    @pytest.fixture
    def session_file(self) -> Path:
        return DATA / "every-entry.jsonl"


def test_only_what_a_person_typed_is_said_by_the_user() -> None:
    assert own("every-entry.jsonl").said("user") == ["make the beacon blink", "what is in this picture?"]


def test_an_assistant_speaks_in_blocks_or_in_a_string_and_fails_in_a_message() -> None:
    reading = own("every-entry.jsonl")
    assert reading.said("assistant") == [
        "I will edit the beacon.",
        "a plain string answer",
        "529: overloaded lantern",
        "half an answ\nRequest was aborted",
    ]
    spoken = [m for m in reading.messages if m.role == "assistant"]
    assert [m.is_error for m in spoken] == [False, False, True, True]
    assert [m.source_type for m in spoken] == ["message", "message", "error", "message"]


def test_edits_of_pi_arrive_intact() -> None:
    call = own("every-entry.jsonl").of("message")[1].tool_calls[0]
    assert (call.id, call.name) == ("call-1", "edit")
    assert call.arguments == {
        "path": "beacon.py",
        "edits": [{"oldText": "steady()", "newText": "blink()"}, {"oldText": "a", "newText": "b"}],
    }


def test_a_tool_result_carries_name_command_and_failure() -> None:
    edit, bash, codemode = (m.tool_results[0] for m in own("every-entry.jsonl").messages if m.role == "tool")
    assert (edit.call_id, edit.name, edit.text, edit.is_error) == (
        "call-1",
        "edit",
        "Replaced 2 blocks.",
        False,
    )
    assert (bash.name, bash.command, bash.is_error) == ("bash", "make beacon", True)
    assert (codemode.name, codemode.command) == ("codemode", "")


def test_nested_calls_name_the_tool_that_made_them() -> None:
    codemode = [m for m in own("every-entry.jsonl").messages if m.role == "tool"][2]
    assert [(c.name, c.via, c.arguments) for c in codemode.tool_calls] == [
        ("bash", "codemode", {"command": "ls lamps"}),
        ("read", "codemode", {}),
    ]


def test_nested_calls_stand_in_the_details_of_codemode_and_of_no_other_tool(one: Any) -> None:
    calls = [{"id": "x/1", "name": "bash", "args": '{"command":"ls"}'}, {"id": "x/2", "name": "w", "args": '{"cut'}]
    made = one(
        message("toolResult", 1, toolName="codemode", toolCallId="x", details={"calls": calls}),
        message("toolResult", 2, toolName="phone", toolCallId="y", details={"calls": calls}),
    )
    assert [[(c.name, dict(c.arguments)) for c in m.tool_calls] for m in made] == [
        [("bash", {"command": "ls"}), ("w", {"arguments": '{"cut'})],
        [],
    ]


@pytest.mark.parametrize(
    "odd", [None, 7, "x", [], {"calls": None}, {"calls": {"a": 1}}, {"calls": [None, 1, {"name": 4}, {}]}]
)
def test_odd_nested_calls_are_ignored(one: Any, odd: object) -> None:
    (result,) = one(message("toolResult", toolName="codemode", content="kept", nestedCalls=odd, details=odd))
    assert (result.tool_calls, result.tool_results[0].text) == ((), "kept")


def test_a_shell_command_of_the_user_is_a_call_with_its_output() -> None:
    listing, failing = own("every-entry.jsonl").of("bash")
    assert listing.role == "system"
    assert listing.tool_calls[0].arguments == {"command": "ls -la"}
    result = listing.tool_results[0]
    assert (result.text, result.command, result.is_error) == ("total 0\n", "ls -la", False)
    assert result.call_id == listing.tool_calls[0].id != ""
    assert failing.tool_results[0].is_error


def test_a_shell_command_kept_from_the_model_is_private_unless_asked_for() -> None:
    path = DATA / "every-entry.jsonl"
    assert "hunter2" not in repr(read(path).messages)
    assert "hunter2" in repr(read(path, excluded_bash=True).messages)


def test_thoughts_are_left_out_unless_asked_for() -> None:
    path = DATA / "every-entry.jsonl"
    assert "blinking needs a timer" not in repr(read(path).messages)
    answer, without = read(path, thinking=True).messages, read(path).messages
    assert [m.text for m in answer if m.source_type == "thinking"] == ["blinking needs a timer"]
    assert [m for m in answer if m.source_type != "thinking"] == without
    origins = [m.origin_id for m in answer]
    assert len(origins) == len(set(origins))


def test_injected_text_is_the_systems_and_named_by_its_source() -> None:
    reading = own("every-entry.jsonl")
    assert [(m.source_type, m.text) for m in reading.messages if m.role == "system" and m.text] == [
        ("old-hook", "a hook said this"),
        ("custom", "a nameless hook said this"),
        ("narrator", "meanwhile, at the harbour"),
        ("tide-table", "high tide at noon"),
    ]


def test_a_skill_that_was_invoked_is_told_from_what_the_person_typed(one: Any) -> None:
    body = '<skill name="tides" location="/s/tides/SKILL.md">\nReferences are relative to /s.\n\nRead it.\n</skill>'
    skill, typed, skill_alone, bare, quoted = one(
        message("user", 1, content=f"{body}\n\nwhen is high tide?"),
        message("user", 2, content=[{"type": "text", "text": body}]),
        message("user", 3, content=f"what does {body} mean?"),
    )
    assert (skill.role, skill.source_type, skill.text, skill.is_new) == ("system", "skill", body, False)
    assert (typed.role, typed.text) == ("user", "/skill:tides when is high tide?")
    assert (skill_alone.text, bare.text) == (body, "/skill:tides")
    assert (quoted.role, quoted.text) == ("user", f"what does {body} mean?")
    assert skill.origin_id != typed.origin_id


def test_summaries_are_reported_and_the_last_compaction_sums_up_the_session() -> None:
    reading = own("every-entry.jsonl")
    assert [(m.source_type, m.text) for m in reading.messages if m.role == "summary"] == [
        ("compaction", "summary kept in a message"),
        ("compaction", "Goal: a beacon that blinks"),
        ("branch_summary", "Tried a steady light first"),
    ]
    assert reading.session.summary == "Goal: a beacon that blinks"


def test_a_branch_summary_sums_up_a_session_without_compaction(write: Write) -> None:
    assert read(write({"type": "branch_summary", "summary": "left"})).session.summary == "left"


def test_a_title_is_reported_once_and_cleared_by_an_empty_one() -> None:
    reading = own("every-entry.jsonl")
    assert [(m.role, m.text) for m in reading.of("title")] == [("metadata", "Blinking beacon project")]
    assert reading.session.title == ""


def test_the_latest_title_wins(write: Write) -> None:
    reading = read(write(*({"type": "session_info", "name": name} for name in ("one", "two", "one"))))
    assert reading.session.title == "one"
    assert [m.text for m in reading.of("title")] == ["one", "two", "one"]


def test_a_session_that_was_never_named_has_no_title() -> None:
    assert own("branched.jsonl").session.title is None


def test_a_label_is_reported_once_per_target() -> None:
    (label,) = own("every-entry.jsonl").of("label")
    assert (label.role, label.text) == ("metadata", "checkpoint one")


def test_a_label_is_reported_again_when_it_changed(one: Any) -> None:
    labels = [("a", "x"), ("b", "x"), ("a", "x"), ("a", "y"), ("a", None), ("a", "y")]
    made = one(*({"type": "label", "targetId": target, "label": label} for target, label in labels))
    assert [m.text for m in made] == ["x", "x", "y", "y"]


def test_the_last_model_is_the_sessions() -> None:
    assert own("every-entry.jsonl").session.model == "lamp-2"


@pytest.mark.parametrize(
    "hidden",
    [
        "boilerplate",
        "never indexed",
        "c2ln",
        "iVBORw0KGgo",
        "+blink()",
        "cache_warm",
        "from_the_future",
    ],
)
def test_prompts_payloads_details_signatures_and_images_are_never_reported(hidden: str) -> None:
    reading = read(DATA / "every-entry.jsonl", thinking=True, excluded_bash=True)
    assert hidden in (DATA / "every-entry.jsonl").read_text(encoding="utf-8")
    assert hidden not in repr(reading.messages) + repr(reading.session)


def test_unknown_entry_types_are_counted_as_nothing() -> None:
    assert own("every-entry.jsonl").skipped == []


def test_the_header_describes_the_session() -> None:
    session = next(PiParser().parse(DATA / "every-entry.jsonl"))
    assert session == Session(
        id="0199aaaa-0000-7000-8000-000000000001",
        agent="pi",
        kind="interactive",
        cwd="/home/ann/lighthouse",
        created=datetime(2026, 3, 4, 5, 6, tzinfo=UTC),
    )


def test_a_file_with_nothing_but_a_header_is_an_empty_session(write: Write) -> None:
    reading = read(write())
    assert (reading.session.id, reading.session.abandoned, reading.messages) == (HEADER["id"], (), [])


# -- versions of the format -------------------------------------------------------------------------------


def test_version_1_has_no_entry_ids_but_origins() -> None:
    reading = own("version-1.jsonl")
    assert [(m.role, m.text) for m in reading.messages] == [
        ("user", "fire the kiln"),
        ("assistant", "It is firing."),
        ("tool", ""),
        ("summary", "The kiln was fired."),
        ("user", "undated words"),
    ]
    assert {m.entry_id for m in reading.messages} == {None}
    assert [m.origin_id for m in reading.messages] == [
        "2025-11-02T10:00:01.000Z:1762077601000:user",
        "2025-11-02T10:00:02.000Z:1762077602000:assistant",
        "2025-11-02T10:00:03.000Z:1762077603000:toolResult",
        "2025-11-02T10:00:04.000Z::compaction",
        None,
    ]
    assert reading.messages[2].tool_results[0].command == "kiln --fire"
    assert reading.session.abandoned == ()
    assert (reading.session.model, reading.session.summary) == ("lamp-0", "The kiln was fired.")


def test_version_1_branched_from_is_the_parent() -> None:
    assert own("version-1.jsonl").session.parent_id == "5e1f0000-aaaa-4bbb-8ccc-000000000000"


def test_version_2_hook_messages_are_the_systems() -> None:
    assert [(m.role, m.source_type, m.text) for m in own("version-2.jsonl").messages] == [
        ("system", "listener", "the hook of version 2"),
        ("user", "message", "glaze the bowl"),
    ]


# -- damage -----------------------------------------------------------------------------------------------


def test_torn_fused_and_unicode_records_cost_only_themselves() -> None:
    reading = own("torn-and-unicode.jsonl")
    assert reading.said("user") == [
        "line\u2028separator, para\u2029graph, next\u0085line",
        "written right behind it",
        "lone surrogate \ufffd end",
        "no newline behind me",
    ]
    assert reading.said("assistant") == ["nul  inside"]
    assert [(s.reason, s.line) for s in reading.skipped] == [
        ("damaged", 4),
        ("not an object", 8),
        ("damaged", 9),
    ]
    assert reading.session.cwd is None


def test_a_record_glued_to_the_header_is_read(tmp_path: Path) -> None:
    path = tmp_path / "glued.jsonl"
    path.write_bytes(line(HEADER) + line(message("user", content="right behind the header")) + b"\n")
    assert read(path).said("user") == ["right behind the header"]


def test_a_second_header_changes_nothing(write: Write) -> None:
    reading = read(write(message("user", 1, content="a"), {**HEADER, "id": "x"}, message("user", 2, content="b")))
    assert (reading.session.id, reading.said("user"), reading.session.abandoned) == (HEADER["id"], ["a", "b"], ())


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("2026-03-04T05:06:07Z", datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)),
        ("2026-03-04T05:06:07+02:00", datetime(2026, 3, 4, 3, 6, 7, tzinfo=UTC)),
        ("2026-03-04T05:06:07", datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)),
        (None, datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
        ("yesterday", datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
        (True, datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
        (1e300, datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
        ("0001-01-01T00:00:00+14:00", datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
    ],
)
def test_a_message_is_dated_by_its_entry_else_by_itself(one: Any, stamp: object, expected: datetime) -> None:
    (made,) = one({**message("user", content="hello", timestamp=1000), "timestamp": stamp})
    assert made.timestamp == expected


def test_a_message_without_any_date_has_none_and_no_origin(one: Any) -> None:
    (made,) = one({**message("user", content="hello"), "timestamp": None})
    assert (made.timestamp, made.origin_id) == (None, None)


def test_thirty_megabytes_in_one_custom_entry_need_no_memory(write: Write) -> None:
    path = write(
        message("user", 1, content="before"),
        {"type": "custom", "id": "e0000002", "parentId": "e0000001", "data": "tide " * 6_000_000},
        message("user", 3, content="after"),
    )
    tracemalloc.start()
    reading = read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size > 30_000_000
    assert peak < 8_000_000
    assert reading.said("user") == ["before", "after"]
    assert [s.reason for s in reading.skipped] == ["oversized"]
    assert reading.session.abandoned == ()


def test_a_screenshot_does_not_hide_the_prompt_beside_it(one: Any) -> None:
    image = {"type": "image", "data": "iVBORw0KGgo" * 400_000, "mimeType": "image/png"}
    (made,) = one(message("user", content=[{"type": "text", "text": "what is this?"}, image]))
    assert made.text == "what is this?"


def test_the_line_limit_is_an_option(write: Write) -> None:
    path = write(message("user", 1, content="tide " * 1000), message("user", 2, content="short"))
    assert read(path, line_limit=2000).said("user") == ["short"]


# -- what upstream gets wrong (facts/upstream-sesame.md, 4.1) ---------------------------------------------


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "compaction", "id": "e0000002", "parentId": "e0000001"},
        message("assistant", 2, content=[{"type": "toolCall", "id": "c", "name": "ls", "arguments": None}]),
        message("assistant", 2, content=[{"type": "toolCall", "id": None, "name": 5, "arguments": [1]}, None, 3]),
        message("assistant", 2, content=[{"type": "text"}, {"type": "text", "text": None}]),
        message(None, 2),
        message(["user"], 2, content={"a": 1}),
        {"type": "message", "message": "user"},
        {"type": None, "id": 4, "parentId": {}, "timestamp": []},
        {},
    ],
)
def test_weakness_1_one_odd_record_does_not_lose_the_session(write: Write, odd: object) -> None:
    path = write(message("user", 1, content="before"), odd, message("user", 3, content="after"))
    assert read(path).said("user") == ["before", "after"]


def test_weakness_1_null_arguments_are_none(one: Any) -> None:
    blocks = [
        {"type": "toolCall", "id": str(n), "name": "ls", "arguments": value}
        for n, value in enumerate([None, [1], 7, "", "[1]", '{"path": "a"}', {"path": "b"}])
    ]
    (made,) = one(message("assistant", content=blocks))
    assert [dict(c.arguments) for c in made.tool_calls] == [{}, {}, {}, {}, {}, {"path": "a"}, {"path": "b"}]


@pytest.mark.parametrize("header", [{"type": "session"}, {"type": "session", "id": 5}, {"type": "session", "id": ""}])
def test_weakness_1_a_header_without_an_id_is_refused(write: Write, header: object) -> None:
    path = write(message("user", content="x"), header=header)
    assert not PiParser().matches(path)
    with pytest.raises(ParseError, match="no session header"):
        read(path)


def test_weakness_2_an_edit_array_is_not_reduced_to_its_path(one: Any) -> None:
    arguments = {"path": "a.py", "edits": [{"oldText": "x", "newText": "y"}]}
    call = {"type": "toolCall", "id": "c", "name": "edit", "arguments": arguments}
    (made,) = one(message("assistant", content=[call]))
    assert made.tool_calls[0].arguments == arguments


def test_weakness_3_content_as_a_string_and_unusual_roles_are_kept(one: Any) -> None:
    made = one(
        message("assistant", 1, content="a string"),
        message("custom", 2, content="from a hook"),
        message("toolResult", 3, content="a string result"),
    )
    assert [m.text or m.tool_results[0].text for m in made] == ["a string", "from a hook", "a string result"]


def test_weakness_3_a_command_without_output_does_not_say_undefined(one: Any) -> None:
    (made,) = one(message("bashExecution", command="sleep 1"))
    assert (made.tool_results[0].text, made.tool_results[0].is_error) == ("", False)


@pytest.mark.parametrize(
    ("parent", "expected"),
    [
        ("/gone/2026-01-02T03-04-05-678Z_my_custom_id.jsonl", "my_custom_id"),
        ("2026-01-02T03-04-05-678Z_my-custom.id_1.jsonl", "my-custom.id_1"),
        ("C:\\Users\\ann\\2026-01-02T03-04-05-678Z_0199.jsonl", "0199"),
        ("my_custom_id", "my_custom_id"),
        ("/gone/without-an-id.jsonl", None),
        ("/gone/directory", None),
        ("nonsense, with spaces", None),
        ("nul\0inside", "nulinside"),
        ("x" * 5000, "x" * 5000),
        ("", None),
        (None, None),
        (HEADER["id"], None),
    ],
)
def test_weakness_6_the_parent_is_found_by_name_or_by_id(write: Write, parent: object, expected: object) -> None:
    assert read(write(header={**HEADER, "parentSession": parent})).session.parent_id == expected


@pytest.mark.parametrize("key", ["parentSession", "branchedFrom"])
def test_weakness_6_a_parent_that_exists_is_asked_for_its_id(write: Write, key: str) -> None:
    parent = write(header={**HEADER, "id": "real_id"}, name="2026-01-02T03-04-05-678Z_other.jsonl")
    for value in (str(parent), parent.name):
        assert read(write(header={**HEADER, key: value})).session.parent_id == "real_id"


def test_weakness_7_a_header_longer_than_4096_bytes_is_seen(write: Write) -> None:
    path = write(message("user", content="x"), header={"padding": "tide " * 2000, **HEADER})
    assert PiParser().matches(path)
    assert read(path).said("user") == ["x"]


@pytest.mark.parametrize("before", [b"\xef\xbb\xbf", b"\n\n", b"\xef\xbb\xbf\r\n", b'{"type":"sess\n', b"\0\0\0\n"])
def test_weakness_7_a_bom_and_blank_or_malformed_lines_before_the_header_are_fine(
    tmp_path: Path, before: bytes
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(before + line(HEADER) + b"\r\n" + line(message("user", content="x")) + b"\r\n")
    assert PiParser().matches(path)
    assert read(path).said("user") == ["x"]


def test_weakness_8_nested_flat_and_symlinked_layouts_are_recognised(write: Write, tmp_path: Path) -> None:
    nested = write(name="sessions/--home-ann--/2026-03-04T05-06-00-000Z_x.jsonl")
    flat = write(name="flat/2026-03-04T05-06-00-000Z_x.jsonl")
    deep = write(name="sessions/--home-ann--/2026-03-04T05-06-00-000Z_x/run/run-1/session.jsonl")
    (tmp_path / "link").symlink_to(flat.parent)
    (tmp_path / "file-link.jsonl").symlink_to(flat)
    linked = tmp_path / "link" / flat.name
    parser = PiParser()
    assert all(parser.matches(path) for path in (nested, flat, deep, linked, tmp_path / "file-link.jsonl"))


def test_weakness_8_a_run_beside_a_session_is_its_subagent(write: Write) -> None:
    write(name="sessions/--home-ann--/one.jsonl", header={**HEADER, "id": "the-parent"})
    run = read(write(name="sessions/--home-ann--/one/run/run-1/session.jsonl"))
    assert (run.session.kind, run.session.parent_id) == ("subagent", "the-parent")


def test_weakness_10_a_line_is_read_without_the_rest_of_the_file(write: Write) -> None:
    path = write(*(message("user", n, content=f"{n} " + "tide " * 2000) for n in range(1, 2001)))
    tracemalloc.start()
    count = sum(1 for event in PiParser().parse(path) if isinstance(event, Message))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (count, path.stat().st_size > 20_000_000, peak < 8_000_000) == (2000, True, True)


def test_weakness_12_dates_come_from_the_records_not_from_the_file(write: Write) -> None:
    reading = read(write(message("user", content="x")))
    assert reading.session.created == datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
    assert reading.messages[0].timestamp == datetime(2026, 3, 4, 5, 7, 1, tzinfo=UTC)


def test_weakness_15_a_header_with_a_nonsense_date_is_undated(write: Write) -> None:
    assert read(write(header={**HEADER, "timestamp": "Invalid Date"})).session.created is None


# -- recognising files ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"not json\n",
        b"[1]\n" + line(HEADER),
        line(message("user", content="x")) + b"\n" + line(HEADER),
        b'{"type":"user","sessionId":"x"}\n',
        b"[" * 100_000,
        b" " * (1 << 20) + line(HEADER),
    ],
)
def test_other_files_are_not_taken_for_sessions(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    assert not PiParser().matches(path)


def test_other_names_directories_and_dangling_links_are_not_taken_for_sessions(tmp_path: Path, write: Write) -> None:
    (tmp_path / "directory.jsonl").mkdir()
    (tmp_path / "dangling.jsonl").symlink_to(tmp_path / "gone")
    names = (write(name="s.json"), tmp_path / "directory.jsonl", tmp_path / "dangling.jsonl", tmp_path / "no.jsonl")
    assert not any(PiParser().matches(path) for path in names)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("sessions/--home-ann--/s.jsonl", "interactive"),
        ("sessions/subagents/--home-ann--/s.jsonl", "subagent"),
        ("sessions/--home-ann--/subagent-artifacts/run/s.jsonl", "subagent"),
        ("subagent-sessions/--home-ann--/s.jsonl", "subagent"),
        ("sessions/--home-ann-pi-subagents--/s.jsonl", "interactive"),
    ],
)
def test_a_directory_of_the_layout_makes_a_subagent_but_not_a_projects_name(home: Path, name: str, kind: str) -> None:
    path = home / ".pi" / "agent" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(line(HEADER) + b"\n")
    assert read(path).session.kind == kind


def test_a_root_named_after_subagents_makes_no_subagents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Write
) -> None:
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(tmp_path / "pi-subagents"))
    assert read(write(name="pi-subagents/s.jsonl")).session.kind == "interactive"


# -- where sessions are -----------------------------------------------------------------------------------


def test_the_default_root_is_below_the_home_directory(home: Path) -> None:
    assert list(PiParser().default_roots()) == [home / ".pi" / "agent" / "sessions"]


def test_the_agent_directory_can_be_moved(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_CODING_AGENT_DIR", "~/elsewhere")
    assert list(PiParser().default_roots()) == [home / "elsewhere" / "sessions"]


def test_a_session_directory_comes_before_the_agents_own(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(home, json.dumps({"sessionDir": "/from/settings"}))
    own_root = home / ".pi" / "agent" / "sessions"
    assert list(PiParser().default_roots()) == [Path("/from/settings"), own_root]
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", "~/flat")
    assert list(PiParser().default_roots()) == [home / "flat", own_root]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"sessionDir": 5}', '{"sessionDir": ""}', '{"sessionDir": "relative/dir"}']
)
def test_settings_that_name_no_absolute_directory_are_passed_over(home: Path, text: str) -> None:
    configure(home, text)
    assert list(PiParser().default_roots()) == [home / ".pi" / "agent" / "sessions"]


def configure(home: Path, text: str) -> None:
    agent = home / ".pi" / "agent"
    agent.mkdir(parents=True)
    (agent / "settings.json").write_text(text, encoding="utf-8")


# -- branches and forks -----------------------------------------------------------------------------------


def lost(reading: Reading) -> list[str]:
    abandoned = reading.session.abandoned
    assert abandoned is not None
    return [m.text for m in reading.messages if m.segment in abandoned]


def test_a_branch_in_the_same_file_abandons_what_it_leaves() -> None:
    assert lost(own("branched.jsonl")) == ["a red one", "A red one is planted."]


def test_a_second_root_abandons_the_first() -> None:
    reading = own("second-root.jsonl")
    kept = [m.text for m in reading.messages if m.text not in lost(reading)]
    assert kept == ["start over with pears", "Pears it is."]


def test_a_parent_that_nobody_knows_abandons_nothing(write: Write) -> None:
    records = [message("user", n, content=str(n)) | {"parentId": f"tool-call-{n}"} for n in range(1, 4)]
    assert lost(read(write(*records))) == []


def test_a_fork_shares_its_origins_with_its_source() -> None:
    source, fork = own("branched.jsonl"), own("fork.jsonl")
    assert fork.session.parent_id == source.session.id
    of_source = {m.origin_id: m.text for m in source.messages}
    of_fork = {m.origin_id: m.text for m in fork.messages}
    shared = of_source.keys() & of_fork.keys()
    assert {of_source[origin] for origin in shared} == {of_fork[origin] for origin in shared}
    assert sorted(of_fork[origin] for origin in of_fork.keys() - shared) == ["and a plum tree"]
    assert len(shared) == 4
    assert lost(fork) == []


# -- going on where it stopped ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("options", [{}, {"thinking": True, "excluded_bash": True}], ids=["plain", "all"])
def test_the_tail_says_what_the_whole_would_have_at_every_line(
    tmp_path: Path, name: str, options: dict[str, bool]
) -> None:
    raw = (DATA / name).read_bytes()
    whole = read(DATA / name, **options)
    path = DATA / name
    parser = PiParser(**options)
    boundaries = [i + 1 for i, byte in enumerate(raw) if byte == 0x0A]
    assert boundaries
    prefix = tmp_path / name
    (tmp_path / "branched.jsonl").write_bytes((DATA / "branched.jsonl").read_bytes())
    for boundary in boundaries:
        prefix.write_bytes(raw[:boundary])
        reading = Reading().take(parser.parse(prefix))
        assert reading.checkpoint is not None
        assert reading.checkpoint.offset == boundary
        tail = parser.parse_tail(path, reading.checkpoint)
        assert tail is not None
        reading.take(tail)
        assert reading == whole


def test_the_tail_of_real_sessions_says_what_the_whole_would_have(shared: Path, tmp_path: Path) -> None:
    files = sorted((shared / "corpus").glob("pi*/**/*.jsonl"))
    assert len(files) > 20
    parser = PiParser()
    for number, file in enumerate(files):
        directory = tmp_path / str(number)
        directory.mkdir()
        path = directory / file.name
        reading, unknown = Reading(), 0
        for _ in whole_lines(path, file.read_bytes()):
            tail = parser.parse_tail(path, reading.checkpoint) if reading.checkpoint else None
            if tail is None:
                unknown += 1
                reading, tail = Reading(), parser.parse(path)
            reading.take(tail)
        assert reading == Reading().take(parser.parse(path)), file
        assert unknown == 1 or "openclaw" in file.name, file


def whole_lines(path: Path, raw: bytes) -> Iterator[None]:
    """Append a file's lines to a new one, one by one."""
    with path.open("wb", buffering=0) as file:
        for piece in raw.split(b"\n"):
            file.write(piece + b"\n")
            yield


def test_a_branch_off_an_entry_that_is_not_remembered_is_left_to_a_full_reading(write: Write) -> None:
    records = [message("user", n, content=str(n)) for n in range(1, 301)]
    path = write(*records)
    checkpoint = read(path).checkpoint
    assert checkpoint is not None
    write(*records, message("user", 301, content="on") | {"parentId": "e0000005"})
    assert PiParser().parse_tail(path, checkpoint) is None
    write(*records, message("user", 301, content="on") | {"parentId": "e000012c"})
    assert PiParser().parse_tail(path, checkpoint) is not None


def test_an_entry_behind_one_that_could_not_be_read_does_not_force_a_full_reading(write: Write) -> None:
    path = write(message("user", 1, content="a"))
    checkpoint = read(path).checkpoint
    assert checkpoint is not None
    big = {"type": "custom", "id": "e0000002", "parentId": "e0000001", "data": "tide " * 300_000}
    write(message("user", 1, content="a"), big, message("user", 3, content="b"))
    tail = PiParser().parse_tail(path, checkpoint)
    assert tail is not None
    assert Reading(session=Session(id=str(HEADER["id"]), agent="pi")).take(tail).said("user") == ["b"]


def test_a_tool_result_in_the_tail_knows_the_command_of_its_call(write: Write) -> None:
    call = {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "x" * 9000}}
    path = write(message("assistant", 1, content=[call]))
    first = read(path)
    assert first.checkpoint is not None
    write(message("assistant", 1, content=[call]), message("toolResult", 2, toolCallId="c", content="done"))
    tail = PiParser().parse_tail(path, first.checkpoint)
    assert tail is not None
    (result,) = first.take(tail).messages[-1].tool_results
    assert (result.name, result.command) == ("bash", "x" * 500)


def test_the_state_stays_small(write: Write) -> None:
    records: list[dict[str, Any]] = []
    for n in range(1, 2001):
        call = {"type": "toolCall", "id": f"c{n}", "name": "bash", "arguments": {"command": "y" * 5000}}
        records += [message("assistant", n, content=[call]), {"type": "label", "targetId": f"{n}", "label": f"l{n}"}]
    checkpoint = read(write(*records)).checkpoint
    assert checkpoint is not None
    assert len(orjson.dumps(checkpoint.state)) < 64_000


# -- real files -------------------------------------------------------------------------------------------


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


# -- anything at all --------------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
LINES = [raw for raw in (DATA / "every-entry.jsonl").read_bytes().split(b"\n") if raw]


def places(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every value inside a record."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(inner, (*path, key))


def said_by(path: Path) -> list[tuple[str | None, str, str]]:
    """Return what each entry says; titles and labels depend on the ones before them."""
    reading = read(path, thinking=True, excluded_bash=True)
    return [(m.entry_id, m.role, m.text) for m in reading.messages if m.role != "metadata"]


def harms_no_neighbour(path: Path, entry_id: str) -> bool:
    """Tell whether all entries but one say in this file, in order, what they said before it was damaged."""
    found = iter(said_by(path))
    return all(said in found for said in said_by(DATA / "every-entry.jsonl") if said[0] != entry_id)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_any_value_in_any_place_harms_no_neighbour(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    number = data.draw(st.integers(1, len(LINES) - 1))
    record = json.loads(LINES[number])
    *way, last = data.draw(st.sampled_from(list(places(record))))
    target = record
    for step in way:
        target = target[step]
    target[last] = data.draw(VALUES)
    path = tmp_path_factory.getbasetemp() / "mutated.jsonl"
    mutated = json.dumps(record).encode()
    path.write_bytes(b"\n".join([*LINES[:number], mutated, *LINES[number + 1 :]]))
    assert harms_no_neighbour(path, json.loads(LINES[number])["id"])


@settings(max_examples=200, deadline=None)
@given(
    number=st.integers(1, len(LINES) - 1),
    cut=st.tuples(st.integers(0, 400), st.integers(0, 400)),
    junk=st.binary(max_size=20),
)
def test_any_bytes_in_a_line_harm_no_neighbour(
    tmp_path_factory: pytest.TempPathFactory, number: int, cut: tuple[int, int], junk: bytes
) -> None:
    raw, (first, last) = LINES[number], sorted(cut)
    damaged = raw[:first] + junk.replace(b"\n", b"") + raw[last:]
    path = tmp_path_factory.getbasetemp() / "damaged.jsonl"
    path.write_bytes(b"\n".join([*LINES[:number], damaged, *LINES[number + 1 :], b""]))
    assert harms_no_neighbour(path, json.loads(LINES[number])["id"])


def test_a_header_of_any_shape_is_read_or_refused(tmp_path: Path) -> None:
    source = random.Random(3)
    odd = [None, True, 7, -1.5, "", "x", [], {}, "\ud83d", "a\0b"]
    path = tmp_path / "s.jsonl"
    refused = 0
    for _ in range(300):
        header = {**HEADER, source.choice([*HEADER, "parentSession", "modelId"]): source.choice(odd)}
        path.write_bytes(json.dumps(header).encode() + b"\n")
        try:
            reading = read(path)
        except ParseError:
            refused += 1
            assert not PiParser().matches(path)
        else:
            assert PiParser().matches(path)
            assert reading.session.id
    assert 0 < refused < 300


# -- the plugin -------------------------------------------------------------------------------------------


def test_the_plugin_is_found_by_its_name() -> None:
    parser = PluginManager().parser("pi", {"line_limit": 5, "thinking": True, "excluded_bash": True})
    assert isinstance(parser, PiParser)
    assert parser.version == 1
    assert isinstance(parser, TailParser)
    assert isinstance(parser, Resumer)
    assert [provider.name for provider in sesame_register_parsers()] == ["pi"]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"thinkin": True}, "no option 'thinkin'; did you mean 'thinking'"),
        ({"thinking": "yes"}, "must be true or false"),
        ({"excluded_bash": 1}, "must be true or false"),
        ({"line_limit": 0}, "positive whole number"),
        ({"line_limit": True}, "positive whole number"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        PluginManager().parser("pi", options)


def test_a_session_is_resumed_by_its_file_and_by_its_id_when_that_is_gone(tmp_path: Path) -> None:
    session, path = Session(id="x", agent="pi"), DATA / "branched.jsonl"
    assert list(PiParser().resume_command(session, path)) == ["pi", "--session", str(path)]
    assert list(PiParser().resume_command(session, tmp_path / "gone.jsonl")) == ["pi", "--session", "x"]
