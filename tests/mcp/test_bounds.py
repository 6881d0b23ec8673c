"""Every answer is as small as promised, valid, and says where to continue, whatever the sessions contain."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

import jsonschema
from pydantic import TypeAdapter

from sesame_core import Selection, Sesame, Source
from sesame_core.config.file import load
from sesame_core.dataclass import replace
from sesame_core.mcp.bounds import ANSWER_BYTES, LEAST_BYTES, MESSAGE, cut, fitted
from sesame_core.mcp.tools import TOOLS, Tools
from sesame_core.rendering.budget import size

from ..conftest import REPOSITORY
from ..support.mcp_client import answered, read_to_its_end, text_of, value_of
from ..support.oversized import KINDS, PIECES, write_all
from ..support.transcripts import Pi, write

pytestmark = pytest.mark.once

Call = Callable[..., dict[str, Any]]
VALID = {
    tool.name: jsonschema.Draft202012Validator(TypeAdapter(tool.answers).json_schema(mode="serialization"))
    for tool in TOOLS.values()
}


@pytest.fixture(scope="module")
def oversized(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tools]:
    """The tools over all oversized sessions, indexed once."""
    place = tmp_path_factory.mktemp("oversized")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(place))
        write_all()
        config = replace(load(), refresh_seconds=0)
        with Sesame(config, data_dir=place / "data") as sesame:
            assert sesame.index().errors == []
            yield Tools(sesame)


def bounded(tools: Tools, name: str, most: int = ANSWER_BYTES, **given: Any) -> dict[str, Any]:
    """Return a tool's answer; it is as small as promised, and valid."""
    arguments = given if most == ANSWER_BYTES else {**given, "max_bytes": most}
    result = answered(tools, name, arguments)
    value = value_of(result)
    assert len(text_of(result).encode()) <= most, (name, given)
    VALID[name].validate(value)
    return value


def test_every_list_is_in_bounds_and_its_pages_have_every_session_once(oversized: Tools) -> None:
    for most in (LEAST_BYTES, 5_000, ANSWER_BYTES, 200_000):
        seen: list[str] = []
        offset: int | None = 0
        while offset is not None:
            page = bounded(oversized, "list_sessions", most, limit=100, offset=offset)
            assert page["sessionCount"] == len(page["sessions"]) > 0
            seen += [session["sessionId"] for session in page["sessions"]]
            offset = page["nextOffset"]
        assert len(seen) == len(set(seen)) == len(KINDS) == page["total"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_session_is_in_bounds(kind: str, oversized: Tools) -> None:
    session = f"{KINDS.index(kind):08x}-fox"
    for most in (LEAST_BYTES, 5_000, ANSWER_BYTES):
        facts = bounded(oversized, "get_session", most, session=session)
        assert facts["sessionId"] == session
        if "toolCounts" in facts.get("shortened", []):
            assert facts["toolCounts"]
        asked = bounded(oversized, "query_session", most, session=session, question="where is the fox 狐狸 füchsÄ?")
        assert asked["passages"]
        bounded(oversized, "query_session", most, session=session, question="zebra " * 5_000)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "fox-messages"])
def test_every_text_is_read_to_its_end_page_by_page(kind: str, oversized: Tools) -> None:
    session = f"{KINDS.index(kind):08x}-fox"
    read: dict[int, str] = {}
    most, pages = ANSWER_BYTES, 0
    for page in read_to_its_end(partial(bounded, oversized, "list_messages", most, session=session, limit=200)):
        for chunk in page["chunks"]:
            read[chunk["position"]] = read.get(chunk["position"], "") + chunk["text"]
        pages += 1
    chunks = oversized._sesame.list_messages(session)
    assert list(read.values()) == [chunk.text for chunk in chunks]
    assert pages <= 3 + 2 * sum(size(chunk.text) + 1_000 for chunk in chunks) // most


def test_the_smallest_pages_also_have_some_text(oversized: Tools) -> None:
    for number in range(len(KINDS)):
        page = bounded(oversized, "list_messages", LEAST_BYTES, session=f"{number:08x}-fox", offset=1)
        assert page["chunks"][0]["text"]


def test_three_thousand_messages_are_read_a_page_at_a_time(oversized: Tools) -> None:
    session = f"{KINDS.index('fox-messages'):08x}-fox"
    page = bounded(oversized, "list_messages", session=session, limit=200, offset=2_000)
    assert len(page["chunks"]) > 60
    assert page["nextOffset"] == page["chunks"][-1]["position"] + 1


def test_a_budget_below_the_least_is_the_least(oversized: Tools) -> None:
    result = answered(oversized, "get_session", {"session": f"{0:08x}-fox", "max_bytes": 1})
    assert len(text_of(result).encode()) <= LEAST_BYTES


def test_a_usual_session_is_whole(demo_sessions: Path) -> None:
    with Sesame() as sesame:
        sesame.index()
        tools = Tools(sesame)
        assert "shortened" not in bounded(tools, "list_sessions")
        assert "shortened" not in bounded(tools, "get_session", session="d6bc")
        assert "shortened" not in bounded(tools, "list_messages", session="d6bc")
        asked = bounded(tools, "query_session", session="d6bc", question="smallest delay")
        assert ("shortened" in asked, asked["cutToBudget"]) == (False, False)


def test_a_title_of_ten_kilobytes_is_shortened_and_whole_where_there_is_room(oversized: Tools) -> None:
    session = f"{KINDS.index('ascii-title'):08x}-fox"
    page = bounded(oversized, "list_messages", session=session)
    assert page["name"].endswith("…")
    assert "name" in page["shortened"]
    whole = bounded(oversized, "get_session", 200_000, session=session)
    assert ("shortened" in whole, len(whole["name"])) == (False, len(" ".join((PIECES["ascii"] * 588).split())))


def test_of_400_tools_the_commonest_stay(home: Path) -> None:
    pi = Pi()
    calls = [pi.call(f"rare_{n}_{'x' * 100}", f"r{n}", a=n) for n in range(300)]
    calls += [pi.call("common", f"c{n}", a=n) for n in range(5)]
    write(pi.path, pi.header(), pi.user("fox"), *calls)
    with Sesame() as sesame:
        sesame.index()
        facts = bounded(Tools(sesame), "get_session", 5_000, session="latest")
    assert next(iter(facts["toolCounts"].items())) == ("common", 5)
    assert facts["shortened"] == ["toolCounts"]


def test_a_command_that_does_not_fit_is_left_out_and_not_cut(home: Path) -> None:
    pi = Pi(cwd="/home/bo/" + "f" * 10_000)
    path = pi.root / "--fox--" / "2026-08-01T10-00-00-000Z_019b0000-fox.jsonl"
    write(path, pi.header(), pi.user("fox"))
    with Sesame() as sesame:
        sesame.index()
        facts = bounded(Tools(sesame), "get_session", session="latest")
        assert facts["resumeCommand"] is None
        assert "larger max_bytes" in facts["resumeProblem"]
        assert bounded(Tools(sesame), "get_session", 200_000, session="latest")["resumeCommand"]


# -- echoes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("piece", PIECES)
def test_an_echo_of_what_was_asked_is_in_bounds(piece: str, oversized: Tools) -> None:
    long = PIECES[piece] * (60_000 // len(PIECES[piece]))
    some = long[:4_000]
    bounded(oversized, "list_sessions", current_session=long, cwd=f"/{some}", repo=some, branch=some, model=some)
    bounded(oversized, "query_session", session=f"{0:08x}-fox", question=long)
    for name, given in (
        ("get_session", {"session": f"zebra {long}"}),
        ("list_sessions", {"after": long}),
        ("list_sessions", {"agent": long}),
        ("list_sessions", {"cwd": long}),
        ("list_sessions", {"limit": long}),
        ("list_sessions", {long: 1}),
        ("search_sessions", {"query": "fox", "role": long}),
        (long, {}),
    ):
        result = answered(oversized, name, given)
        assert result.is_error
        assert len(text_of(result)) <= MESSAGE + 100


# -- the rules -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("piece", PIECES.values())
def test_a_cut_text_is_the_longest_that_fits(piece: str) -> None:
    text = piece * 300
    for most in (0, 1, 2, 7, 100, 101, 102, 5_000, 10**6):
        part = cut(text, most)
        assert text.startswith(part)
        assert size(part) - 2 <= most
        assert part == text or size(text[: len(part) + 1]) - 2 > most


def test_what_fits_stays_as_it_is() -> None:
    value = {"a": "x" * 100, "b": [1, None, {"c": True}]}
    assert fitted(value, size(value)) == (value, [])
    small, names = fitted(value, size(value) - 1)
    assert (names, small["b"]) == (["a"], value["b"])


# -- real sessions ---------------------------------------------------------------------------------------------


@pytest.mark.once
@pytest.mark.parametrize("most", [ANSWER_BYTES, LEAST_BYTES])
def test_every_tool_is_in_bounds_over_real_sessions(most: int, shared: Path, home: Path, evaluated: Path) -> None:
    with Sesame(replace(load(), refresh_seconds=0), data_dir=evaluated) as sesame:
        tools = Tools(sesame)
        offset: int | None = 0
        ids: list[str] = []
        while offset is not None:
            page = bounded(tools, "list_sessions", most, limit=100, offset=offset, all_kinds=True)
            ids += [session["sessionId"] for session in page["sessions"]]
            offset = page["nextOffset"]
        assert len(ids) == page["total"] > 100
        chosen = random.Random(7)
        for session in ids:
            bounded(tools, "get_session", most, session=session)
            page = bounded(tools, "list_messages", most, session=session)
            if (following := page["nextOffset"]) is not None:
                text = page["nextTextOffset"]
                bounded(tools, "list_messages", most, session=session, offset=following, text_offset=text)
            if chosen.random() < 0.2:
                bounded(tools, "query_session", most, session=session, question="why did the test fail?")
        for query in ("git index", "error", "狐", "", "why does the build fail on the server"):
            bounded(tools, "list_sessions", most, repo=query or None)


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An index of every fifth of the shared sessions; skipped without them.  `SESAME_ALL=1` takes all."""
    corpus = Path(os.environ.get("SESAME_SHARED") or REPOSITORY.parent / "shared") / "eval" / "corpus"
    if not corpus.is_dir():
        pytest.skip(f"no shared sessions at {corpus} (set SESAME_SHARED)")
    place = tmp_path_factory.mktemp("evaluated")
    parsers = {"claude": "claude-code", "codex": "codex", "copilot": "copilot", "pi": "pi"}
    for number, path in enumerate(sorted(corpus.rglob("*.jsonl"))):
        if os.environ.get("SESAME_ALL") or number % 5 == 0:
            link = place / "sessions" / path.relative_to(corpus)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(path)
    sources = [
        Source(parser=Selection(name=parser), path=place / "sessions" / name)
        for name, parser in parsers.items()
        if (place / "sessions" / name).is_dir()
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(place))
        with Sesame(sources=sources, data_dir=place) as sesame:
            sesame.index()
    yield place
    shutil.rmtree(place)
