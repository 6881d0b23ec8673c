"""Every version of the format: bare records, the legacy envelope, paginated files, compressed ones, and mixtures."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Checkpoint, ParseError
from sesame_parser_codex import compressed

from .records import (
    CHILD,
    PARSER,
    RICH,
    THREAD,
    Record,
    answer,
    calls,
    completed,
    event,
    lines,
    messages,
    meta,
    model_answer,
    model_user,
    name,
    new_answer,
    new_prompt,
    output,
    parse,
    prompt,
    results,
    said,
    session,
    skipped,
)

BARE_ID = "0b0b0b0b-1111-4222-8333-444444444444"


def bare(*records: Any) -> list[Record]:
    """A file of versions up to 0.31: no envelope, no time, states in between."""
    head = {
        "id": BARE_ID,
        "timestamp": "2025-06-01T10:00:00.000Z",
        "instructions": "# Rules: NOISE",
        "git": {"commit_hash": "c0ffee", "branch": "burrow", "repository_url": "https://github.com/bo/fox.git"},
    }
    found: list[Record] = [head]
    for one in records:
        found += [{"record_type": "state"}, one["payload"]]
    return found


def test_a_bare_file_is_read_without_what_is_injected(write: Callable[..., Path]) -> None:
    context = model_user("<environment_context>\nNOISE\n</environment_context>")
    made = {"payload": {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "c"}}
    given = {"payload": {"type": "function_call_output", "call_id": "c", "output": "unsupported call: shell"}}
    path = write(*bare(context, model_user("ask"), made, given, model_answer("reply")), name=name(BARE_ID))
    events = parse(path)
    found = session(events)
    assert (found.id, found.git_branch, found.repository) == (BARE_ID, "burrow", "github.com/bo/fox")
    assert found.created is not None
    assert said(events) == [("user", "ask"), ("assistant", "reply")]
    assert calls(events) == [("shell", {"command": "ls"})]
    assert results(events) == [("shell", "unsupported call: shell", True)]
    assert {m.segment for m in messages(events)} == {1}
    assert skipped(events) == []


def test_a_bare_file_without_a_header_is_read(write: Callable[..., Path]) -> None:
    path = write(*bare(model_user("ask"), model_answer("reply"))[2:], name=name(BARE_ID))
    assert PARSER.matches(path)
    assert session(parse(path)).id == BARE_ID
    assert said(parse(path)) == [("user", "ask"), ("assistant", "reply")]


def test_a_legacy_session_that_a_new_version_resumed_is_read_whole(write: Callable[..., Path]) -> None:
    path = write(
        meta(),
        prompt("a"),
        answer("b"),
        event("thread_settings_applied", 20, thread_id=THREAD, thread_settings={"model": "fox-2"}),
        new_prompt("c", 21),
        new_answer("d", 22),
    )
    assert [text for _, text in said(parse(path))] == ["a", "b", "c", "d"]


def test_records_without_ordinals_and_ordinals_that_are_used_twice_are_read(write: Callable[..., Path]) -> None:
    records = [*new_prompt("a"), *new_answer("b"), *new_prompt("c", 9), *new_answer("d", 10)]
    for n, one in enumerate(records):
        if n % 3:
            one["ordinal"] = n % 2
    assert [text for _, text in said(parse(write(meta(history_mode="paginated"), records)))] == ["a", "b", "c", "d"]


def test_a_migrated_file_says_what_is_left_of_it(write: Callable[..., Path]) -> None:
    path = write(
        meta(), prompt("keep"), answer("kept"), prompt("regret", 9), event("thread_rolled_back", 10, num_turns=1)
    )
    before = list(PARSER.parse(path))
    path = write(meta(history_mode="paginated"), new_prompt("keep"), new_answer("kept"))
    assert said(parse(path)) == said(before)[:2]
    assert session(parse(path)).id == session(before).id


# -- compressed -------------------------------------------------------------------------------------------

needs_zstd = pytest.mark.skipif(
    shutil.which("zstd") is None
    and not any(importlib.util.find_spec(m.split(".")[0]) for m in ("pyzstd", "zstandard")),
    reason="nothing here compresses with zstd",
)


@pytest.fixture
def compress(write: Callable[..., Path]) -> Callable[..., Path]:
    """Write records to a compressed session file."""

    def compress(*records: Any, **more: Any) -> Path:
        plain = write(*records, **more)
        subprocess.run(["zstd", "-q", "-3", "--rm", str(plain)], check=True)
        return plain.with_name(f"{plain.name}.zst")

    return compress


@needs_zstd
def test_a_compressed_file_says_what_the_plain_one_did(
    write: Callable[..., Path], compress: Callable[..., Path]
) -> None:
    whole = parse(write(*RICH))
    path = compress(*RICH)
    assert PARSER.matches(path)
    assert PARSER.may_match(path.name)
    assert [m for m in parse(path) if not isinstance(m, Checkpoint)] == whole[:-1]


@needs_zstd
def test_a_compressed_file_is_read_whole_again(compress: Callable[..., Path]) -> None:
    path = compress(*RICH)
    checkpoint = parse(path)[-1]
    assert isinstance(checkpoint, Checkpoint)
    assert PARSER.parse_tail(path, checkpoint) is None


@needs_zstd
def test_of_a_plain_and_a_compressed_file_the_plain_one_is_the_session(
    write: Callable[..., Path], compress: Callable[..., Path]
) -> None:
    path = compress(*RICH)
    plain = write(*RICH)
    assert not PARSER.matches(path)
    assert PARSER.matches(plain)


@needs_zstd
def test_the_parent_of_a_fork_may_be_compressed(compress: Callable[..., Path], write: Callable[..., Path]) -> None:
    compress(meta(), prompt("old"))
    path = write(meta(CHILD, forked_from_id=THREAD), meta(), prompt("old", 0), prompt("new", 5), name=name(CHILD))
    assert said(parse(path)) == [("user", "new")]


@needs_zstd
@pytest.mark.parametrize("damage", ["cut", "garbled"])
def test_a_damaged_compressed_file_is_an_error(damage: str, compress: Callable[..., Path]) -> None:
    path = compress(*RICH)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if damage == "cut" else whole[:20] + os.urandom(len(whole) - 20))
    assert PARSER.matches(path)
    with pytest.raises((ParseError, OSError), match=r"damaged|zst"):
        list(PARSER.parse(path))


@needs_zstd
def test_without_a_decompressor_a_compressed_file_is_reported_and_not_passed_over(
    compress: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = compress(*RICH)
    monkeypatch.setattr(compressed, "_MODULES", ())
    monkeypatch.setenv("PATH", "")
    assert PARSER.matches(path)
    with pytest.raises(ParseError, match="compressed with zstd, which nothing here reads; install the program zstd"):
        list(PARSER.parse(path))


def test_another_file_that_is_named_like_a_compressed_one_is_none(write: Callable[..., Path]) -> None:
    assert not PARSER.matches(write(*RICH, name=name(end=".jsonl.zst")))
    assert not PARSER.matches(write(b"", name=name(end=".jsonl.zst")))


def test_what_a_compressed_file_has_is_read_from_a_private_directory(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = write(b"\x28\xb5\x2f\xfdnothing", name=name(end=".jsonl.zst"))
    with pytest.raises((ParseError, OSError)):
        list(PARSER.parse(path))
    assert list(tmp_path.glob("sesame-*")) == []


def test_each_kind_of_item_is_known_in_both_modes(write: Callable[..., Path]) -> None:
    legacy = parse(write(meta(), prompt("ask"), output("c", "out"), answer("reply")))
    paginated = parse(
        write(
            meta(),
            new_prompt("ask"),
            output("c", "out"),
            completed("Reasoning", id="r", summary_text=["NOISE"], raw_content=[]),
            completed("ImageView", id="i", path="/w/NOISE.png"),
            completed("ContextCompaction", id="x"),
            completed("Sleep", id="s"),
            completed("HookPrompt", id="h", fragments=["NOISE"]),
            completed("SubAgentActivity", id="a", text="NOISE"),
            completed("ImageGeneration", id="g", result="NOISE"),
            new_answer("reply"),
        )
    )
    assert said(legacy) == said(paginated)
    assert results(legacy) == results(paginated)


def test_a_file_of_only_damage_is_an_empty_session(write: Callable[..., Path]) -> None:
    path = write(lines(meta()), b"\0" * 100 + b"\n", b"{{{\n", b"[1,2]\n")
    assert said(parse(path)) == []
    assert skipped(parse(path)) == ["damaged", "not an object"]
