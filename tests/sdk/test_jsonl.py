"""Records out of files that are long, damaged or torn."""

from __future__ import annotations

import json
import math
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sesame_core.sdk import jsonl
from sesame_core.sdk.jsonl import BLOCK, JsonLines
from sesame_core.sdk.long_lines import PAYLOAD
from sesame_core.sdk.long_records import DEPTH
from sesame_core.types.transcript import Skipped


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "x.jsonl"


def read(file: Path, data: bytes | None = None, **options: Any) -> tuple[list[Any], JsonLines]:
    """Return the records, skipped ones as "reason@line", and the reader."""
    if data is not None:
        file.write_bytes(data)
    lines = JsonLines(file, **options)
    return [f"{r.reason}@{r.line}" if isinstance(r, Skipped) else r for r in lines], lines


def nested(depth: int) -> list[Any]:
    inner: list[Any] = [None]
    for _ in range(depth - 1):
        inner = [inner]
    return inner


#: What is kept of a list that is nested too deeply in a field of a record.
NESTED = nested(DEPTH - 1)
ONE, TWO = {"n": 1}, {"n": 2}

LINES: dict[str, tuple[bytes, list[Any]]] = {
    "nothing": (b"", []),
    "two records": (b'{"n": 1}\n{"n": 2}\n', [ONE, TWO]),
    "no newline at the end": (b'{"n": 1}\n{"n": 2}', [ONE, TWO]),
    "blank lines": (b'\n{"n": 1}\n   \n\n{"n": 2}\n\n', [ONE, TWO]),
    "Windows line ends": (b'{"n": 1}\r\n{"n": 2}\r\n', [ONE, TWO]),
    "byte order mark": (b'\xef\xbb\xbf{"n": 1}\n{"n": 2}\n', [ONE, TWO]),
    "NULs before, inside and alone": (b'\0\0{"n": 1}\n\0\0\0\n{"n\0": 2}\0\n', [ONE, TWO]),
    "glued records": (b'{"n": 1}{"n": 2}\n', [ONE, TWO]),
    "glued with space": (b'{"n": 1} \t {"n": 2}\n', [ONE, TWO]),
    "cut record with the next one glued on": (b'{"m": {"text": "abc{"n": 1}\n{"n": 2}\n', [ONE, "damaged@1", TWO]),
    "whole record before garbage": (b'{"n": 1} xx\n{"n": 2}\n', [ONE, "damaged@1", TWO]),
    "cut in the middle": (b'{"n": 1}\n{"n": "abc\n{"n": 2}\n', [ONE, "damaged@2", TWO]),
    "no JSON": (b'{"n": 1}\nhello\n{"n": 2}\n', [ONE, "damaged@2", TWO]),
    "no objects": (b'null\n[1]\n42\n"x"\n{"n": 2}\n', [f"not an object@{i}" for i in (1, 2, 3, 4)] + [TWO]),
    "no UTF-8": (b'{"n": "\xff"}\n{"n": 2}\n', [{"n": "\ufffd"}, TWO]),
    "lone surrogate": (rb'{"n": "\ud800"}' + b"\n", [{"n": "\ud800"}]),
    "surrogate pair": (rb'{"n": "\ud83e\udd8a"}' + b"\n", [{"n": "\N{FOX FACE}"}]),
    "line separators in a string": ('{"n": "a\u2028b\u2029c\u0085d"}\n'.encode(), [{"n": "a\u2028b\u2029c\x85d"}]),
    "raw control characters in a string": (b'{"n": "a\tb\x01"}\n', [{"n": "a\tb\x01"}]),
    "numbers no standard has": (b'{"n": -Infinity}\n{"n": 2}\n', [{"n": -math.inf}, TWO]),
    "a number of a thousand digits": (b'{"n": 1' + b"0" * 1000 + b"}\n", [{"n": 10**1000}]),
    "deeper than any stack": (b'{"n": ' + b"[" * 100_000 + b'\n{"n": 2}\n', ["damaged@1", TWO]),
    "one field deeper than any stack": (
        b'{"n": 1, "m": ' + b"[" * 100_000 + b"]" * 100_000 + b', "o": "p"}\n{"n": 2}\n',
        [{"n": 1, "m": NESTED, "o": "p"}, "shortened@1", TWO],
    ),
    "objects deeper than any stack, glued": (
        b'{"n": 1}{"m": ' + b'{"k":' * 100_000 + b"0" + b"}" * 100_000 + b"}\n" + b'{"n": 2}\n',
        [ONE, "damaged@1", TWO],
    ),
    "duplicate keys": (b'{"n": 0, "n": 1}\n', [ONE]),
}


@pytest.mark.parametrize(("data", "expected"), LINES.values(), ids=LINES.keys())
def test_everything_that_can_be_saved_is_yielded(file: Path, data: bytes, expected: list[Any]) -> None:
    records, lines = read(file, data)
    assert records == expected
    assert lines.offset == len(data)
    assert lines.line == len(data.split(b"\n")) - data.endswith(b"\n") - (not data)


def test_a_number_longer_than_python_converts_damages_its_line_only(file: Path) -> None:
    records, _ = read(file, b'{"n": 1' + b"0" * 10_000 + b'}\n{"n": 2}\n')
    assert records[-1] == TWO


def test_the_last_line_waits_while_it_is_being_written(file: Path) -> None:
    whole = b'{"n": 1}\n{"n": 2}\n'
    for end in range(len(whole) + 1):
        records, lines = read(file, whole[:end])
        rest, after = read(file, whole, offset=lines.offset, line=lines.line)
        assert records + rest == [ONE, TWO], f"cut after {end} bytes"
        assert (after.offset, after.line) == (len(whole), 2)


def test_a_reader_goes_on_at_an_offset_with_the_right_line_numbers(file: Path) -> None:
    first = b'{"n": 1}\n{"n": 3}\n'
    records, lines = read(file, first + b'oops\n{"n": 2}\n', offset=len(first), line=2)
    assert records == ["damaged@3", TWO]
    assert lines.line == 4


def test_a_byte_order_mark_counts_only_at_the_beginning_of_the_file(file: Path) -> None:
    data = b'{"n": 1}\n\xef\xbb\xbf{"n": 2}\n'
    assert read(file, data)[0][0] == ONE
    assert read(file, data)[0][-1] in (TWO, "damaged@2")


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(JsonLines(tmp_path / "nowhere"))


# -- long lines ------------------------------------------------------------------------------------------------


def record(text: str) -> bytes:
    return json.dumps({"n": text}).encode() + b"\n"


@pytest.mark.seed("004", "INV-006")
def test_a_line_over_the_limit_is_cut(file: Path) -> None:
    at_limit = record("a b " * 500)
    limit = len(at_limit) - 1
    records, lines = read(file, at_limit + record("a b " * 600 + "!") + record("x"), limit=limit)
    assert (records[0], records[2:]) == ({"n": "a b " * 500}, ["shortened@2", {"n": "x"}])
    assert records[1]["n"].startswith("a b a b ")
    assert records[1]["n"].endswith(" a b !")
    assert lines.line == 3


@pytest.mark.seed("004", "INV-006")
def test_the_limit_is_a_megabyte(file: Path) -> None:
    word = "ab " * 400_000
    assert read(file, record(word))[0][1:] == ["shortened@1"]
    assert read(file, record(word[: 1 << 19]))[0] == [{"n": word[: 1 << 19]}]


@pytest.mark.parametrize("terminated", [True, False])
def test_a_screenshot_is_dropped_and_its_record_kept(file: Path, terminated: bool) -> None:
    data = b'{"before": "fox", "image": "' + b"iVBORw0KGgo/+" * 300_000 + b'==", "after": "elk"}'
    records, lines = read(file, data + b"\n" * terminated)
    assert records == [{"before": "fox", "image": "", "after": "elk"}]
    assert lines.offset == len(data) + terminated


@pytest.mark.parametrize("shift", [-1100, -1024, -1023, -10, -2, -1, 0, 1, 2, 10])
def test_a_payload_is_dropped_across_the_end_of_a_block(
    file: Path, shift: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the payload begins before, at or behind the place where one read ends."""
    monkeypatch.setattr(jsonl, "BLOCK", 4096)
    head = b'{"a": "' + b"fox " * 2000
    head = head[: 2 * 4096 + shift - 11] + b'", "image":"'
    data = head + b"A" * 10_000 + b'", "z": "elk"}\n'
    (found, last), lines = read(file, data + b'{"n": 1}\n', limit=9000)
    assert last == ONE
    assert found["image"] == ""
    assert found["z"] == "elk"
    assert found["a"] == json.loads(head + b'"}')["a"]
    assert lines.offset == len(data) + len(b'{"n": 1}\n')


@pytest.mark.parametrize("block", [16, 100, 1023, 1024, 1025, 4096])
def test_the_size_of_a_block_makes_no_difference(file: Path, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    payload = "QUJD" * 400
    data = b"".join(
        [
            record("short"),
            record("words and words " * 300),
            json.dumps({"a": "words " * 100, "image": payload, "b": ["x" * (PAYLOAD - 1)]}).encode() + b"\n",
            b'{"cut": "' + b"y z " * 400 + b"\n",
            record("short"),
            b"\n" + record("w " * 1000),
        ]
    )
    expected, whole = read(file, data, limit=3000)
    monkeypatch.setattr(jsonl, "BLOCK", block)
    records, lines = read(file, limit=3000)
    assert records == expected
    assert (lines.offset, lines.line) == (whole.offset, whole.line) == (len(data), 7)


def test_short_records_keep_their_base64(file: Path) -> None:
    text = "QUJD" * 1000
    assert read(file, record(text))[0] == [{"n": text}]


@pytest.mark.once
@pytest.mark.parametrize(
    "unit", [b"A", b"a b ", b"\0", b"{", b'{"a":', b'"\\'], ids=["payload", "words", "NULs", "braces", "keys", "quotes"]
)
def test_memory_is_bounded_whatever_a_line_holds(file: Path, unit: bytes) -> None:
    size = 24 << 20
    with file.open("wb") as out:
        for _ in range(24):
            out.write((unit * ((1 << 20) // len(unit) + 1))[: 1 << 20])
        out.write(b'\n{"n": 2}\n')
    tracemalloc.start()
    try:
        records, lines = read(file)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert records[-1] == TWO
    assert lines.offset == size + 10
    assert peak < 16 * BLOCK


def test_a_damaged_line_full_of_beginnings_takes_no_quadratic_time(file: Path) -> None:
    data = b'{"a' * 200_000 + b"\n" + b'{"a":{"a' * 100_000 + b'\n{"n": 2}\n'
    records, _ = read(file, data)
    assert records[-1] == TWO


# -- anything at all -------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [b"{", b"}", b'"', b"\n", b"\0", b"\\", b'{"n": 1}', b'{"a": "', b"[", b",", b"\xff", b"1", b" "]
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200) | st.lists(PIECES, max_size=40).map(b"".join), limit=st.integers(1, 60))
def test_no_bytes_raise_and_all_are_consumed_but_an_unfinished_last_line(file: Path, data: bytes, limit: int) -> None:
    records, lines = read(file, data, limit=limit)
    last = data.rfind(b"\n") + 1
    assert lines.offset in (len(data), last)
    assert lines.line == data[: lines.offset].count(b"\n") + (lines.offset == len(data) and last < len(data))
    for value in records:
        assert isinstance(value, dict | str)


#: Larger ones are read as floats, which is orjson's way.
INTEGERS = st.integers(-(2**63), 2**64 - 1)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=20) | INTEGERS | st.none()), max_size=5))
def test_whatever_was_written_is_read(file: Path, records: list[dict[str, Any]]) -> None:
    data = b"".join(json.dumps(record, ensure_ascii=True).encode() + b"\n" for record in records)
    assert read(file, data)[0] == json.loads(json.dumps(records))
