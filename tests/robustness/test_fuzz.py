"""Any text is a query, and no damage to one record takes a neighbour with it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sesame_core.text.tokens import clean
from sesame_core.types.query import Filters

pytestmark = pytest.mark.once

RELAXED = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)

#: What a query may be made of, beside any character at all.
PIECES = [
    '"', "'", "*", "-", "+", "(", ")", ":", "^", "{", "}", "\\", "%", "_", ";", "--", "\0", "\ud800", "\udfff",
    "\ufeff", "NEAR", "AND", "OR", "NOT", "NEAR(fox, 3)",
    "content:fox", "chunks_fts", "rank", "fox", "beetle1", "fox*", "*fox",
    '"fox met', '-"fox met"', "+fox0", "-beetle1", "caf\u00e9", "cafe\u0301", "\u65e5\u672c\u8a9e",
    "\ud55c\uad6d\uc5b4", "\U0001f98a", "\u200d", "\u2028", "camelCaseWord", "snake_case_word", "/usr/lib/x.py",
    "C:\\x", "https://a.b/c?d=e&f", "1e999", "the", "a", " ",
]  # fmt: skip
ANY_CHARACTER = st.characters(exclude_categories=())
QUERIES = st.one_of(
    st.text(ANY_CHARACTER),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(ANY_CHARACTER, max_size=3)), max_size=30).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join),
)
FILTERS = st.builds(
    Filters,
    cwd=st.none() | st.sampled_from(["/home/ann", "", "/", "relative", "/home/\ud800"]),
    after=st.none() | st.datetimes(timezones=st.just(UTC)),
    before=st.none() | st.datetimes(timezones=st.just(UTC)),
    agents=st.sampled_from([(), ("pi",), ("pi", "claude-code"), ("claude",)]),
    tools_only=st.booleans(),
    tool=st.none() | st.sampled_from(["bash", "", "%", "\ud800"]),
    path=st.none() | st.sampled_from(["x.py", "/", "", "%", "\ud800"]),
    exclude=st.sampled_from([(), ("0199",), ("\ud800",)]),
    all_kinds=st.booleans(),
)


@pytest.fixture
def populated(world: Any) -> Iterator[Any]:
    """An open library on an index with something of everything."""
    world.populate(4)
    world.write(
        4,
        "caf\u00e9 \u65e5\u672c\u8a9e\u306e\u30c6\u30b9\u30c8 \U0001f98a camelCaseWord",
        'NEAR AND OR NOT "quoted" 100% under_score',
    )
    world.index()
    with world.sesame() as sesame:
        yield sesame


@RELAXED
@given(QUERIES, FILTERS, st.integers(0, 20), st.integers(0, 20))
@example("fox " * 2500, Filters(), 10, 0)
@example('"' * 10_000, Filters(), 10, 0)
@example("(" * 10_000, Filters(), 10, 0)
@example("\u65e5\u672c" * 5_000, Filters(), 10, 0)
@example("x" * 10_000, Filters(), 10, 0)
@example("-" * 10_000, Filters(), 10, 0)
@example(" ".join(f"w{n}" for n in range(2_000)), Filters(), 10, 0)
@example(" ".join(f"-w{n} +v{n}" for n in range(2_000)), Filters(), 10, 0)
@example("\U0001f98a" * 5_000, Filters(), 10, 0)
@example("\0", Filters(), 10, 0)
@example("fox\0met", Filters(), 10, 0)
@example("\ud83e fox", Filters(), 10, 0)
@example("fox", Filters(after=datetime.min.replace(tzinfo=UTC), before=datetime.max.replace(tzinfo=UTC)), 10, 0)
def test_any_text_is_a_query(populated: Any, text: str, filters: Filters, limit: int, offset: int) -> None:
    from sesame_core.rendering.answers import answer_json, answer_text
    from sesame_core.rendering.text import as_json

    answer = populated.search(text, filters, limit=limit, offset=offset)
    assert len(answer.hits) <= limit
    for hit in answer.hits:
        assert hit.stored.session.id
        assert all(0 <= start < end <= len(hit.snippet.text) for start, end in hit.snippet.marks)
    answer_text(answer, abbreviate=populated.abbreviate, has_color=True)
    as_json(answer_json(answer))


@RELAXED
@given(st.text(ANY_CHARACTER))
@example("\ud800")
@example("\0")
@example("%")
@example("0" * 10_000)
@example("1")
@example("latest")
def test_any_text_may_be_asked_for_as_a_session(populated: Any, text: str) -> None:
    from sesame_core import UnknownSessionError

    try:
        stored = populated.get_session(text)
    except UnknownSessionError as error:
        str(error).encode("utf-8", "backslashreplace")
    else:
        (reference,) = populated.resolve([text])
        assert reference.stored is not None
        assert reference.stored.session.id == stored.session.id
        written = re.sub(r"^\W+|\W+$", "", clean(text)).rpartition(":")[2].lower()
        assert reference.by != "id" or stored.session.id.startswith(written) or written in stored.path


# -- parsers ----------------------------------------------------------------------------------------------

Mutation = tuple[str, int, int]
MUTATIONS = st.lists(
    st.tuples(
        st.sampled_from(["flip", "cut", "duplicate", "glue", "insert", "retype", "drop", "nest", "nul"]),
        st.integers(0, 10**6),
        st.integers(0, 10**6),
    ),
    min_size=1,
    max_size=4,
)
VALUES: list[Any] = [
    None, True, -1, 1e308, 2**70, "", "x", "\ud800", [], [[]], {}, {"a": []}, [None], ["x"], [{"type": 7}],
    [{"type": "text"}], [{"type": "toolCall", "arguments": 3}], [{"type": "tool_use", "input": "x"}],
    [{"type": "tool_result", "content": 1}], "9999-99-99T99:99:99Z", "0001-01-01T00:00:00Z", "../../etc",
]  # fmt: skip
TYPES = [
    "session", "message", "model_change", "thinking_level_change", "compaction", "branch_summary", "custom", "label",
    "custom_message", "session_info", "user", "assistant", "system", "summary", "ai-title", "custom-title", "pr-link",
    "attachment", "queue-operation", "file-history-snapshot", "progress", "last-prompt", "agent-name", 7,
]  # fmt: skip


def damaged(line: bytes, kind: str, one: int, two: int) -> bytes:
    """Return a damaged record; it may be several lines, or none."""
    if kind == "flip":
        at = one % len(line)
        return line[:at] + bytes([line[at] ^ (1 << two % 8)]) + line[at + 1 :]
    if kind == "cut":
        return line[: one % len(line)]
    if kind == "duplicate":
        return line + b"\n" + line
    if kind == "glue":
        return line[: one % len(line)] + line
    if kind == "insert":
        at = one % len(line)
        return line[:at] + bytes([two % 256]) * (two % 5 + 1) + line[at:]
    if kind == "nul":
        return b"\0" * (one % 5000) + line
    if kind == "drop":
        return b""
    record = decoded(line)
    if kind == "nest":
        return b'{"type":"message","message":' * (one % 2000) + line
    places: list[tuple[Any, Any]] = []

    def collect(value: Any) -> None:
        for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            places.append((value, key))
            collect(value[key])

    collect(record)
    holder, key = places[one % len(places)]
    holder[key] = TYPES[two % len(TYPES)] if key == "type" else VALUES[two % len(VALUES)]
    return json.dumps(record).encode()


@pytest.mark.parametrize("number", [0, 1], ids=["pi", "claude-code"])
@RELAXED
@given(mutations=MUTATIONS, at=st.integers(1, 8), is_append=st.booleans())
def test_no_damage_to_a_record_takes_a_neighbour_with_it(
    new_world: Callable[[], Any], number: int, mutations: list[Mutation], at: int, is_append: bool
) -> None:
    """One record among ten is damaged; the nine others, and the files beside it, are found."""
    world = new_world()
    world.populate(4, texts=10)
    path = world.path(number)
    lines = path.read_bytes().splitlines()
    first = len(lines) - 10  # pi's header stays
    line = lines[first + at]
    for kind, one, two in mutations:
        pieces = line.split(b"\n")
        if pieces[0] and (kind not in ("retype", "nest") or is_json(pieces[0])):
            pieces[0] = damaged(pieces[0], kind, one, two)
        line = b"\n".join(pieces)
    lines[first + at] = line
    data = b"\n".join(lines) + b"\n"
    if is_append:
        path.write_bytes(b"".join(line + b"\n" for line in lines[: first + at]))
        world.index()
    path.write_bytes(data)
    report = world.index()
    assert report.errors == []
    for other in set(range(4)) - {number}:
        assert world.session_id(other) in world.found(f"+fox{other}")
    said = "\n".join(text for texts in world.content().values() for text in texts)
    for n in range(10):
        # A damaged line may swallow what it was glued to, which is itself.
        assert n == at or f"met beetle{n} in session {number}" in said, f"record {n} is lost"
    pieces = [piece for piece in line.split(b"\n") if piece.strip(b"\0 ")]
    if f"met beetle{at} in session {number}" not in said and any(not is_json(piece) for piece in pieces):
        assert report.skipped, "what is lost is counted"
    world.check()


def decoded(line: bytes) -> Any:
    """Decode a record as kindly as possible."""
    return json.loads(line.replace(b"\0", b"").decode("utf-8", "replace"), strict=False)


def is_json(line: bytes) -> bool:
    try:
        return isinstance(decoded(line), dict)
    except (ValueError, RecursionError):
        return False


@pytest.mark.parametrize("number", [0, 1], ids=["pi", "claude-code"])
def test_lone_surrogates_anywhere_in_a_record_are_taken(world: Any, number: int) -> None:
    """As JSON escapes, which a strict decoder refuses and a lenient one lets through."""
    path = world.write(number, "the fox", "the owl")
    bad = "\ud800"
    if number:
        call: Any = {
            "type": "tool_use",
            "id": bad,
            "name": f"Edit{bad}",
            "input": {"file_path": f"/a/{bad}.py", bad: bad},
        }
        result: Any = {"type": "tool_result", "tool_use_id": bad, "content": f"the otter {bad}"}
    else:
        call = {"type": "toolCall", "id": bad, "name": f"edit{bad}", "arguments": {"path": f"/a/{bad}.py", bad: bad}}
        result = {"type": "text", "text": f"the otter {bad}"}
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    for role, content, name in (("assistant", call, "x"), ("user", result, "y")):
        record = json.loads(json.dumps(records[-1]))
        record.update({"id": f"{name}{bad}", "uuid": f"{name}{bad}", "cwd": f"/{bad}", "gitBranch": bad})
        record["message"].update(role=role, content=[content], id=f"{name}{bad}", model=bad)
        if not number and role == "user":
            record["message"].update(role="toolResult", toolCallId=bad, toolName=f"edit{bad}")
        if number:
            record["type"] = role
        records.append(record)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert world.index().errors == []
    assert world.found("otter") == {world.session_id(number)}
    assert world.found("owl") == {world.session_id(number)}
    world.check()


def test_a_lone_surrogate_in_a_session_id_costs_only_that_file(world: Any) -> None:
    world.populate(4)
    header, *lines = world.path(2).read_text().splitlines(keepends=True)
    world.path(2).write_text("".join([header.replace("0199bbbb", "\\ud800"), *lines]))
    report = world.index()
    assert [problem.path for problem in report.errors] in ([], [str(world.path(2))])
    for number in (0, 1, 3):
        assert world.found(f"fox{number}") == {world.session_id(number)}
    world.check()


@pytest.mark.parametrize("name", ["0199bbbb-0000-7000-8000-000000000077.jsonl", "x.jsonl"])
@RELAXED
@given(
    data=st.binary(max_size=3000)
    | st.lists(st.sampled_from([json.dumps(v) for v in VALUES])).map("\n".join).map(str.encode)
)
@example(b"[" * 200_000)
@example(b'{"a":' * 200_000)
@example(b"\xef\xbb\xbf")
@example(b"\0" * 100_000)
def test_a_file_of_anything_hinders_no_other(new_world: Callable[[], Any], name: str, data: bytes) -> None:
    world = new_world()
    world.populate(2)
    for directory in (world.pi, world.claude):
        (directory / name).write_bytes(data)
    world.index()
    assert world.found("+fox0") == {world.session_id(0)}
    assert world.found("+fox1") == {world.session_id(1)}
    world.check()
