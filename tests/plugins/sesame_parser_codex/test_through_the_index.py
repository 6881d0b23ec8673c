"""Codex's files run through the product: what is found, in which session, on every backend's own terms."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Filters, Sesame

from ...support.transcripts import found, library, said
from .records import (
    CHILD,
    PARENT,
    SEGMENT,
    THREAD,
    answer,
    call,
    event,
    item,
    lines,
    meta,
    name,
    new_answer,
    new_prompt,
    output,
    patch_call,
    prompt,
    started,
)


@pytest.fixture
def codex(home: Path) -> Path:
    return home / ".codex"


@pytest.fixture
def put(codex: Path) -> Callable[..., Path]:
    """Write a session file to Codex's home."""

    def put(*records: Any, file: str = name(), place: str = "sessions/2026/03/01") -> Path:
        path = codex / place / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(lines(*records))
        return path

    return put


def only(sesame: Sesame, words: str, **filters: Any) -> str:
    (session,) = found(sesame.search(words, Filters(**filters)))
    return session


def test_codex_is_found_without_configuration(put: Callable[..., Path], cli: Callable[..., Any]) -> None:
    put(meta(), prompt("where is the ocelot"), answer("in the den"))
    put(meta(CHILD), prompt("where is the margay"), answer("up the tree"), file=name(CHILD), place="archived_sessions")
    assert cli("index").code == 0
    for word, thread in (("ocelot", THREAD), ("margay", CHILD)):
        hits = json.loads(cli("search", word, "--json").out)["results"]
        assert [hit["sessionId"] for hit in hits] == [thread]
    assert json.loads(cli("search", "ocelot", "--agent", "codex", "--json").out)["results"]
    assert not json.loads(cli("search", "ocelot", "--agent", "pi", "--json").out)["results"]
    assert "codex" in cli("search", "ocelot").out
    told = json.loads(cli("resume", THREAD, "--json").out)
    assert told["command"] == ["codex", "resume", THREAD]


def test_filters_find_commands_files_errors_branches_and_repositories(
    put: Callable[..., Path], codex: Path, home: Path
) -> None:
    put(
        meta(),
        prompt("tame the fox"),
        call("c1", "exec_command", cmd="git rebase -i den"),
        output("c1", "Chunk ID: 1\nWall time: 0 seconds\nProcess exited with code 1\nOutput:\nconflict in burrow"),
        patch_call("c2", "*** Begin Patch\n*** Update File: src/den.py\n@@\n-fox\n+vixen\n*** End Patch"),
        answer("done", 9),
    )
    with library(codex, home / "data", parser="codex") as sesame:
        sesame.index()
        assert only(sesame, "rebase", cmd="git rebase") == THREAD
        assert only(sesame, "vixen", path="src/den.py") == THREAD
        assert only(sesame, "conflict", is_error=True) == THREAD
        assert only(sesame, "fox", branch="burrow") == THREAD
        assert only(sesame, "fox", repo="bo/fox") == THREAD
        assert found(sesame.search("fox", Filters(branch="other"))) == []
        for noise in ("INSTRUCTIONSNOISE", "CONTEXTNOISE", "Chunk"):
            assert found(sesame.search(noise)) == []


def test_the_history_of_a_fork_is_found_in_its_parent_only(put: Callable[..., Path], codex: Path, home: Path) -> None:
    put(meta(PARENT), prompt("old ocelot"), answer("old reply"), file=name(PARENT))
    copies = [meta(PARENT), *prompt("old ocelot", 0), *answer("old reply", 0)]
    own = [started("019a2001-0000-7000-8000-0000000000ff", 1), *prompt("new margay", 2), *answer("fine", 3)]
    put(meta(CHILD, forked_from_id=PARENT), copies, own, file=name(CHILD))
    with library(codex, home / "data", parser="codex") as sesame:
        report = sesame.index()
        assert report.skipped == {"copied from the session that it continues": 5}
        assert report.losses == []
        assert said(sesame).count("old ocelot") == 1
        assert only(sesame, "ocelot") == PARENT
        assert only(sesame, "margay") == CHILD


def test_a_subagent_is_shown_with_the_session_that_started_it(
    put: Callable[..., Path], codex: Path, home: Path
) -> None:
    put(meta(), prompt("find all cats"), answer("I ask Ada"))
    head = meta(CHILD, session_id=THREAD, parent_thread_id=THREAD, thread_source="subagent")
    put(head, prompt("look for an ocelot"), answer("there is one"), file=name(CHILD))
    with library(codex, home / "data", parser="codex") as sesame:
        sesame.index()
        assert only(sesame, "ocelot") == THREAD
        sesame.forget(THREAD)
        sesame.index()
        assert said(sesame) == []


def test_the_turns_before_and_after_a_rewind_are_found(put: Callable[..., Path], codex: Path, home: Path) -> None:
    put(meta(history_mode="paginated"), new_prompt("regret the serval"), new_answer("hm"))
    base = {"thread_id": THREAD, "end_ordinal_exclusive": 1, "end_byte_offset": 1}
    put(meta(history_base=base), new_prompt("after the caracal", 9), new_answer("ok", 10), file=name(THREAD, SEGMENT))
    with library(codex, home / "data", parser="codex") as sesame:
        sesame.index()
        assert only(sesame, "serval") == THREAD
        assert only(sesame, "caracal") == f"{THREAD}/{SEGMENT}"


def test_a_session_left_behind_in_two_directories_is_one(put: Callable[..., Path], codex: Path, home: Path) -> None:
    records = [meta(), prompt("one ocelot"), answer("reply")]
    put(*records)
    put(*records, place="archived_sessions")
    with library(codex, home / "data", parser="codex") as sesame:
        sesame.index()
        assert only(sesame, "ocelot") == THREAD
        assert sesame.list_sessions()[1] == 1


@pytest.mark.skipif(shutil.which("zstd") is None, reason="the program zstd is not installed")
def test_a_session_that_codex_compressed_meanwhile_is_one(put: Callable[..., Path], codex: Path, home: Path) -> None:
    path = put(meta(), prompt("one ocelot"), answer("reply"))
    with library(codex, home / "data", parser="codex") as sesame:
        sesame.index()
        subprocess.run(["zstd", "-q", "--rm", str(path)], check=True)
        sesame.index()
        assert only(sesame, "ocelot") == THREAD
        assert sesame.get_session(THREAD).path == f"{path}.zst"
        subprocess.run(["zstd", "-dq", "--rm", f"{path}.zst"], check=True)
        with path.open("ab") as file:
            file.write(lines(prompt("and a margay", 90), answer("yes", 91)))
        sesame.index()
        assert only(sesame, "margay") == THREAD
        assert only(sesame, "ocelot") == THREAD


def test_a_file_that_grows_is_appended_and_one_that_was_migrated_is_read_anew(
    put: Callable[..., Path], codex: Path, home: Path
) -> None:
    path = put(meta(), prompt("keep the ocelot"), answer("kept"), prompt("regret the serval", 9))
    with library(codex, home / "data", parser="codex") as sesame:
        sesame.index()
        with path.open("ab") as file:
            file.write(lines(event("thread_rolled_back", 10, num_turns=1), prompt("then the caracal", 20)))
        assert sesame.index().appended == 1
        assert only(sesame, "caracal") == THREAD
        moved = path.with_suffix(".new")
        moved.write_bytes(
            lines(meta(history_mode="paginated"), new_prompt("keep the ocelot"), new_prompt("then the caracal", 20))
        )
        moved.rename(path)
        assert sesame.index().updated == 1
        assert found(sesame.search("serval")) == []
        assert only(sesame, "caracal") == THREAD
        assert said(sesame).count("keep the ocelot") == 1


def test_a_line_with_a_hundred_megabytes_of_base64_costs_no_memory(put: Callable[..., Path]) -> None:
    import tracemalloc

    from .records import PARSER

    picture = item("message", 3, role="user", content=[{"type": "input_image", "image_url": "PAYLOAD"}])
    path = put(meta(), prompt("ask"), picture, answer("reply"))
    whole = path.read_bytes()
    head, tail = whole.split(b"PAYLOAD")
    with path.open("wb") as file:
        file.write(head + b"data:image/png;base64,")
        for _ in range(40):
            file.write(b"iVBORw0KGgo" * 95_000)
        file.write(tail)
    tracemalloc.start()
    texts = [message.text for message in PARSER.parse(path) if hasattr(message, "text")]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert texts == ["ask", "reply"]
    assert peak < 16 << 20
