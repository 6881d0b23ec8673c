"""A session with its subagents, and where each was started."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Selection, Sesame, Source

from ..support.every_backend import BACKENDS, opened
from ..support.in_memory import in_memory, plugins_with_memory
from ..support.transcripts import CLAUDE_ID, START, Claude, write


def subagent(own: str, prompt: str, minutes: float, *, dated: bool = True) -> Path:
    """Write the file of a subagent that was started so many minutes after its parent."""
    session = Claude(start=START + timedelta(minutes=minutes))
    records = [session.user(prompt), session.answer(f"report of {own}")]
    for record in records:
        record |= {"isSidechain": True, "agentId": own}
        if not dated:
            del record["timestamp"]
    return write(Claude().path.with_suffix("") / "subagents" / f"agent-{own}.jsonl", *records)


def started(*records: Any) -> dict[str, int | None]:
    """Return where each subagent of a session was started, in the order of the export."""
    write(Claude().path, *records)
    with Sesame() as sesame:
        assert not sesame.index().errors
        parts = sesame.export(CLAUDE_ID, redact=False).parts
    assert parts[0].started_at is None
    return {part.stored.session.id.rpartition("/")[2]: part.started_at for part in parts[1:]}


def test_a_subagent_starts_at_the_call_with_its_prompt(home: Path) -> None:
    subagent("b2", "count the wolves", 2)
    subagent("a1", "count the foxes", 1)
    s = Claude()
    found = started(
        s.user("go"),
        s.call("Agent", "c1", prompt="count the wolves"),
        s.call("Agent", "c2", prompt="count the foxes"),
        s.answer("done"),
    )
    assert found == {"a1": 2, "b2": 1}


def test_two_subagents_with_one_prompt_start_at_two_calls(home: Path) -> None:
    subagent("a1", "count", 1)
    subagent("b2", "count", 2)
    s = Claude()
    found = started(s.user("go"), s.call("Agent", "c1", prompt="count"), s.call("Agent", "c2", prompt="count"))
    assert found == {"a1": 1, "b2": 2}


def test_a_subagent_starts_at_the_call_whose_result_names_it(home: Path) -> None:
    subagent("a1f7", "what the agent made of it", 1)
    s = Claude()
    found = started(
        s.user("go"),
        s.call("Agent", "c1", prompt="one"),
        s.call("Agent", "c2", prompt="two"),
        s.result("agentId: a1f7\nfinished", "c1"),
    )
    assert found == {"a1f7": 1}


def test_without_a_prompt_or_a_name_it_is_the_last_call_before_it(home: Path) -> None:
    subagent("a1f7", "what the agent made of it", 0.02)
    s = Claude()
    calls = [s.call("Agent", f"c{n}", prompt=f"task {n}") for n in range(3)]
    assert started(s.user("go"), *calls) == {"a1f7": 2}


@pytest.mark.parametrize("dated", [True, False])
def test_a_subagent_without_any_trace_is_there_without_a_place(home: Path, dated: bool) -> None:
    subagent("a1f7", "what the agent made of it", -5, dated=dated)
    s = Claude()
    assert started(s.user("go"), s.call("Agent", "c1", prompt="else")) == {"a1f7": None}


def test_the_export_of_a_subagent_has_it_alone(home: Path) -> None:
    subagent("a1f7", "one", 1)
    s = Claude()
    started(s.user("go"), s.call("Agent", "c1", prompt="one"))
    with Sesame() as sesame:
        (part,) = sesame.export(f"{CLAUDE_ID}/a1f7").parts
    assert [chunk.text for chunk in part.chunks] == ["one", "report of a1f7"]
    assert part.parent is None


def test_the_index_in_memory_exports_the_same_and_stays_as_it_was(home: Path) -> None:
    subagent("a1f7", "use ghp_" + "a1B2c3D4e5F6" * 3, 1)
    s = Claude()
    write(s.path, s.user("go"), s.call("Agent", "c1", prompt="use ghp_" + "a1B2c3D4e5F6" * 3))
    root = home / ".claude" / "projects"
    sources = [Source(parser=Selection(name="claude-code"), path=root)]
    with in_memory(sources, home / "data", plugins_with_memory()) as memory, Sesame() as sqlite:
        assert not memory.index().errors
        sqlite.index()
        made = [one.export(CLAUDE_ID) for one in (memory, sqlite)]
        assert [[part.started_at for part in one.parts] for one in made] == [[None, 1], [None, 1]]
        texts = [[chunk.text for part in one.parts for chunk in part.chunks] for one in made]
        assert texts[0] == texts[1]
        assert not [text for text in texts[0] if "ghp_" in text]
        assert "ghp_a1B2" in memory.list_messages(f"{CLAUDE_ID}/a1f7")[0].text


def fork(name: str, copied: list[Any], *texts: str, of: str = CLAUDE_ID, minutes: float = 10) -> None:
    """Write a session that was made from another one, with copies of its records.

    :param name: how its id begins: 8 digits, a dash, 4 digits.
    """
    session = Claude(f"{name}-4111-8111-111111111111", start=START + timedelta(minutes=minutes))
    begun = [
        {**record, "sessionId": session.session, "forkedFrom": {"sessionId": of, "messageUuid": record["uuid"]}}
        for record in copied
    ]
    write(session.path, *begun, *map(session.user, texts))


@pytest.mark.parametrize("kept", BACKENDS, indirect=True)
def test_a_fork_is_placed_after_the_last_message_that_it_repeats(kept: Sesame) -> None:
    s = Claude()
    records = [s.user("go"), s.answer("here"), s.user("and there"), s.answer("done")]
    write(s.path, *records)
    fork("aaaaaaaa-1111", records[:2], "another way", minutes=10)
    fork("bbbbbbbb-2222", records, minutes=20)
    fork("cccccccc-3333", records[:1], "a second one", of="99999999-4111-8111-111111111111")
    subagent("a1", "count the foxes", 1)
    assert not kept.index().errors
    placed = {part.stored.session.id[:8]: part.started_at for part in kept.forks(CLAUDE_ID)}
    assert placed == {"aaaaaaaa": 1, "bbbbbbbb": 3}
    assert kept.forks("bbbbbbbb") == []


@pytest.mark.parametrize("kept", BACKENDS, indirect=True)
def test_a_fork_that_repeats_nothing_has_no_place(kept: Sesame) -> None:
    s = Claude()
    write(s.path, s.user("go"), s.answer("here"))
    other = Claude("dddddddd-4444-4111-8111-111111111111")
    write(other.path, other.user("new", forkedFrom={"sessionId": CLAUDE_ID, "messageUuid": "no-such-message"}))
    assert not kept.index().errors
    assert [(part.stored.session.id[:8], part.started_at) for part in kept.forks(CLAUDE_ID)] == [("dddddddd", None)]


@pytest.fixture
def kept(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> Iterator[Sesame]:
    """Claude Code's sessions in an index on one of the backends."""
    with opened(request, tmp_path, Source(parser=Selection(name="claude-code"), path=home / ".claude")) as sesame:
        yield sesame
