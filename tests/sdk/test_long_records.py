"""Records over the limit: their beginning, their end, and everything that is short survive."""

from __future__ import annotations

import json
import random
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from sesame_core.sdk import jsonl
from sesame_core.sdk.jsonl import BLOCK, JsonLines
from sesame_core.sdk.kept_json import bytes_left_out
from sesame_core.sdk.long_records import LongRecord
from sesame_core.types.transcript import SHORTENED, Skipped

LIMIT = 20_000


def cut(record: Any, limit: int = LIMIT, *, piece: int = 1 << 16, ensure_ascii: bool = True) -> tuple[Any, int]:
    """Return what is left of a record, and the number of bytes cut out."""
    data = json.dumps(record, ensure_ascii=ensure_ascii).encode("utf-8", "surrogatepass")
    assert len(data) > limit
    long = LongRecord(limit)
    found = [each for start in range(0, len(data), piece) for each in long.feed(data[start : start + piece])]
    assert len(found) == 1
    assert not long.is_hopeless
    assert not long.rest()
    assert len(found[0][0]) < limit * 1.25
    return json.loads(found[0][0]), found[0][1]


def read(file: Path, data: bytes, limit: int = LIMIT) -> list[Any]:
    file.write_bytes(data)
    return [f"{r.reason}@{r.line}" if isinstance(r, Skipped) else r for r in JsonLines(file, limit=limit)]


def test_of_a_prompt_the_beginning_the_end_and_all_fields_survive() -> None:
    prompt = "Why does narwhal restart? " + "INFO worker handled request\n" * 45_000 + "It ends with zebra."
    record = {"type": "user", "uuid": "u0", "message": {"role": "user", "content": prompt}, "isMeta": False, "n": 1.5}
    found, left_out = cut(record)
    text = found["message"].pop("content")
    assert found == {"type": "user", "uuid": "u0", "message": {"role": "user"}, "isMeta": False, "n": 1.5}
    assert text.startswith("Why does narwhal restart? INFO worker")
    assert text.endswith("handled request\nIt ends with zebra.")
    assert left_out == bytes_left_out(text) > 1_200_000


def test_a_tool_call_keeps_its_path_and_a_result_its_error_flag() -> None:
    call = {
        "type": "tool_use",
        "name": "Write",
        "input": {"content": "x y\n" * 400_000, "file_path": "/w/fixture.json"},
    }
    found, _ = cut({"content": [call, {"type": "tool_result", "content": "z " * 90_000, "is_error": True}], "end": 1})
    written, result = found["content"]
    assert (written["name"], written["input"]["file_path"], result["is_error"]) == ("Write", "/w/fixture.json", True)
    assert found["end"] == 1


def test_two_long_strings_share_the_space() -> None:
    found, _ = cut({"a": "fox " * 20_000, "b": "elk " * 20_000, "c": "short"})
    assert min(len(found["a"]), len(found["b"])) > LIMIT // 4
    assert found["c"] == "short"


def test_a_long_string_keeps_more_than_half_of_the_limit() -> None:
    found, _ = cut({"a": "fox " * 5_001})
    assert len(found["a"]) > LIMIT // 2


@pytest.mark.parametrize("unit", ['"', "\\", "\n", "é", "漢", "🦊", 'a\\"\n🦊é\x01', "\\u0041", "\\\\\\"], ids=ascii)
@pytest.mark.parametrize("ensure_ascii", [True, False])
@pytest.mark.parametrize("piece", [61, 1 << 16])
def test_no_character_is_cut_in_two(unit: str, piece: int, ensure_ascii: bool) -> None:
    for shift in range(0, 12, 1 + 2 * (piece == 61)):
        found, _ = cut(
            {"a": "x" * shift + unit * (40_000 // len(unit)) + "end"}, piece=piece, ensure_ascii=ensure_ascii
        )
        head, _, tail = found["a"].partition("\n[… ")
        tail = tail.partition("left out …]\n")[2]
        assert head.removeprefix("x" * shift).replace(unit, "") in {unit[:n] for n in range(len(unit))}
        assert tail.removesuffix("end").replace(unit, "") in {unit[n:] for n in range(1, len(unit) + 1)} | {""}


def test_lone_surrogates_and_invalid_utf_8_cost_nothing_but_themselves(tmp_path: Path) -> None:
    for odd in (rb"\ud83e", rb"\udd8a", b"\xff", b"\xf0\x9f", b"\x01", b"\0"):
        line = b'{"a": "fox ' + b"word " * 8_000 + odd + b'", "b": "' + odd + b' elk"}\n'
        record, shortened, after = read(tmp_path / "x.jsonl", line + b'{"n": 1}\n')
        assert record["a"].startswith("fox word")
        assert record["b"].endswith("elk")
        assert (shortened, after) == ("shortened@1", {"n": 1})


LISTS: dict[str, list[Any]] = {
    "numbers": list(range(50_000)),
    "short strings": [f"line {n}" for n in range(20_000)],
    "objects": [{"n": n, "text": f'say "{n}"'} for n in range(9_000)],
    "texts": [{"type": "text", "text": f"{n} " * 300} for n in range(300)],
    "lists": [[n, [n]] for n in range(20_000)],
}


@pytest.mark.parametrize("values", LISTS.values(), ids=LISTS)
def test_a_list_of_very_many_keeps_the_first_and_the_last(values: list[Any]) -> None:
    found, left_out = cut({"type": "user", "message": {"text": "badger", "list": values}, "uuid": "u1"})
    kept = found["message"]["list"]
    for one, other in ((kept[0], values[0]), (kept[-1], values[-1])):
        assert json.dumps(one)[:50] == json.dumps(other)[:50]
        assert json.dumps(one)[-9:] == json.dumps(other)[-9:]
    assert 2 <= len(kept) < len(values)
    assert left_out > 0
    assert (found["message"]["text"], found["uuid"]) == ("badger", "u1")


def test_an_object_of_very_many_members_keeps_the_first_and_the_last() -> None:
    found, _ = cut({"a": 1, "files": {f"/src/{n}.py": {"version": n} for n in range(9_000)}, "z": 2})
    assert (found["a"], found["z"]) == (1, 2)
    assert "/src/0.py" in found["files"]
    assert "/src/8999.py" in found["files"]


def test_what_a_list_of_no_interest_holds_does_not_shorten_the_prompt() -> None:
    found, _ = cut({"message": {"content": "fox " * 2_000}, "details": list(range(100_000)), "end": True})
    assert found["message"]["content"] == "fox " * 2_000
    assert found["end"] is True


def test_what_is_nested_too_deeply_is_dropped_and_its_neighbours_stay() -> None:
    deep: Any = "core"
    for _ in range(200):
        deep = {"in": [deep, 'a "]} quote']}
    found, left_out = cut({"a": "fox", "deep": deep, "text": "y z " * 9_000, "b": "elk"})
    assert (found["a"], found["b"]) == ("fox", "elk")
    assert "core" not in json.dumps(found["deep"])
    assert left_out > 0


def test_keys_and_numbers_of_any_length_are_cut() -> None:
    data = b'{"' + b"key " * 9_000 + b'": 1, "n": ' + b"9" * 9_000 + b', "z": "elk"}'
    [(record, _)] = LongRecord(LIMIT).feed(data)
    found = json.loads(record)
    assert (found["n"], found["z"]) == (None, "elk")


def test_glued_records_over_the_limit_are_all_read(tmp_path: Path) -> None:
    glued = b"".join(json.dumps({"n": n, "text": "fox " * 100}).encode() for n in range(500))
    records = read(tmp_path / "x.jsonl", glued + b"\n" + b'{"n": 1}\n')
    assert [record["n"] for record in records] == [*range(500), 1]


def test_a_torn_record_over_the_limit_loses_no_neighbour(tmp_path: Path) -> None:
    torn = b'{"a": "' + b"fox " * 9_000
    assert read(tmp_path / "x.jsonl", torn + b'\n{"n": 1}\n') == ["damaged@1", {"n": 1}]
    assert read(tmp_path / "x.jsonl", torn + b'{"n": 1}\n{"n": 2}\n')[-2:] == ["damaged@1", {"n": 2}]


def test_a_record_over_the_limit_waits_while_it_is_being_written(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    whole = b'{"n": 1}\n' + json.dumps({"a": "fox " * 9_000, "b": 1}).encode()
    for end in (len(whole) // 2, len(whole) - 1, len(whole)):
        file.write_bytes(whole[:end])
        lines = JsonLines(file, limit=LIMIT)
        found = list(lines)
        assert len(found) == (3 if end == len(whole) else 1)
        assert lines.offset == (end if end == len(whole) else 9)
    file.write_bytes(whole + b'\n{"n": 2}\n')
    rest = JsonLines(file, offset=lines.offset, line=lines.line, limit=LIMIT)
    assert list(rest) == [{"n": 2}]
    assert rest.line == 3


def test_a_cut_record_is_followed_by_an_event_that_counts_it(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text('{"n": 1}\n' + json.dumps({"a": "fox " * 9_000}) + "\n")
    _, record, skipped = JsonLines(file, limit=LIMIT)
    assert isinstance(record, dict)
    assert skipped == Skipped(reason=SHORTENED, line=2, is_loss=True)


def test_an_image_next_to_a_text_does_not_cut_the_text(tmp_path: Path) -> None:
    image = "iVBORw0KGgo" * 20_000
    content = [{"type": "image", "source": {"data": image}}, {"type": "text", "text": "fox " * 1_000}]
    assert read(tmp_path / "x.jsonl", json.dumps({"content": content}).encode()) == [
        {"content": [{"type": "image", "source": {"data": ""}}, content[1]]}
    ]


def test_an_image_in_lines_of_base64_is_cut_like_a_text() -> None:
    image = "\r\n".join(["iVBORw0KGgo" * 6] * 2_000)
    found, _ = cut({"image": image, "text": "fox"})
    assert found["text"] == "fox"
    assert len(found["image"]) < LIMIT


@pytest.mark.parametrize("piece", [7, 100, 4096])
def test_the_size_of_pieces_makes_no_difference(piece: int) -> None:
    draw = random.Random(4)

    def value(depth: int) -> Any:
        kind = draw.random()
        if depth > 3 or kind < 0.4:
            return "".join(
                draw.choice(["fox ", "\\", '"', "\n", "é", "🦊"]) for _ in range(draw.choice([3, 300, 1500]))
            )
        if kind < 0.6:
            return draw.choice([1, -2.5e3, True, None, 12345678901234])
        if kind < 0.8:
            return [value(depth + 1) for _ in range(draw.choice([0, 1, 9]))]
        return {f"k{n}": value(depth + 1) for n in range(draw.choice([0, 2, 5]))}

    for _ in range(12):
        record = {"type": "user", "values": [value(0) for _ in range(9)], "text": "fox " * 9_000, "uuid": "end"}
        found, _ = cut(record, piece=piece)
        assert (found["type"], found["uuid"]) == ("user", "end")
        json.dumps(found, ensure_ascii=False).encode()  # no surrogate is alone


@pytest.mark.once
@pytest.mark.parametrize(
    "unit",
    [
        b'"INFO worker handled request\\n',
        b"1,22,",
        b'"a b",',
        b'{"a":"\\"b"},',
        b'{"a":',
        b"[",
        b"\\",
        b'"',
        b":",
        b"}",
    ],
    ids=repr,
)
def test_memory_is_bounded_whatever_a_record_contains(
    unit: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = BLOCK // 4  # memory is a multiple of it, and so is the time that counting takes
    monkeypatch.setattr(jsonl, "BLOCK", limit)
    file = tmp_path / "x.jsonl"
    with file.open("wb") as out:
        out.write(b'{"type": "user", "message": [')
        for _ in range(3):
            out.write((unit * (limit // len(unit) + 1))[:limit])
        out.write(b'\n{"n": 2}\n')
    tracemalloc.start()
    try:
        records = list(JsonLines(file, limit=limit))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert records[-1] == {"n": 2}
    assert peak < 30 * limit


def test_blocks_of_any_size_give_the_same_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "x.jsonl"
    data = json.dumps({"a": 'fox "🦊" ' * 4_000, "b": "z"}).encode() + b"\n"
    whole = read(file, data)
    for block in (31, 100, 4096):
        monkeypatch.setattr(jsonl, "BLOCK", block)
        found = read(file, data)
        assert (found[0]["a"][:500], found[0]["a"][-500:]) == (whole[0]["a"][:500], whole[0]["a"][-500:])
        assert (found[0]["b"], found[1:]) == ("z", whole[1:])
