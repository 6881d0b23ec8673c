"""Filters and conditions mean the same in plain Python as in every database's SQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sesame_core.plugin.backend import IndexReader, StorageBackend
from sesame_core.plugin.manager import PluginManager
from sesame_core.query.parser import MAX_DEPTH
from sesame_core.sdk.filtering import SessionFilter, chunk_matches, has_chunk, is_hidden, standing
from sesame_core.testing import a_call, a_chunk, a_file, a_query, a_session
from sesame_core.testing.builders import NOON, Content
from sesame_core.testing.memory.words import Document
from sesame_core.text.words import word_of
from sesame_core.types.index import Chunk, StoredSession
from sesame_core.types.query import ROLES, AllOf, AnyOf, Condition, Filters, Has, Is, Not, Word

HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)
#: No two of them have one stem, so that the test needs no stemmer.
VOCABULARY = ("fox", "dog", "cow", "den", "git", "push", "pull", "log")


def said(text: str, role: Any = "user", **fields: Any) -> Chunk:
    kind = {"tool": "tool_result", "summary": "metadata", "metadata": "metadata"}.get(role, "message")
    return a_chunk(text, kind=kind, role=role, **fields)


#: Files and what they hold: the second one holds a copy of a session of the first, the third is gone.
FILES: dict[str, list[Content]] = {
    "/one": [
        a_session(
            said("den fox dog", timestamp=NOON - 9 * HOUR),
            said("den cow", "assistant", timestamp=NOON - 4 * HOUR),
            a_call("den git push", paths=("/w/app/src/main.py", "C:\\w\\Other.TXT")),
            said("den log", "tool", tool_name="bash", is_error=True),
            id="a",
            key="ws1:p:a",
            cwd="/w/app",
            repository="example.org/Ann/fox",
            git_branch="main",
            model="Opus-5",
            created=NOON - 9 * HOUR,
            modified=NOON,
            tool_counts={"bash": 1},
            owner="Ann",
            host="box",
        ),
        a_session(
            said("den dog fox", timestamp=NOON - HOUR),
            a_call("den git pull", tool="Run_Command"),
            a_call("den git push", tool="write", paths=("src/main.py",)),
            said("den fox", "tool", tool_name="write", is_error=True),
            # Odd ones: a person's shell, a result that an agent has, a message with a tool's name.
            a_chunk("den log", kind="tool_call", role="user", tool_name="bash"),
            a_chunk("den cow", kind="tool_result", role="assistant", tool_name="grep"),
            said("den", "assistant", tool_name="read"),
            id="a/sub",
            key="ws1:p:a/sub",
            kind="subagent",
            cwd="/w/app/sub/",
            git_branch="fix/main",
            agent="pi",
            modified=NOON - HOUR,
            tool_counts={"Run_Command": 1, "write": 1},
            owner="ann",
            host="BOX",
        ),
    ],
    "/two": [
        a_session(said("den fox"), id="a", key="ws1:p:a", cwd="/w/app-v2", modified=NOON + HOUR),
        a_session(
            said("den cow fox", "summary"),
            said("den dog", "metadata", timestamp=NOON - 12 * HOUR),
            said("den log push", "system", timestamp=NOON - 2 * HOUR),
            created=NOON - 12 * HOUR,
            id="b",
            key="ws2:p:b",
            kind="headless",
            cwd="C:\\w\\foxes",
            model="sonnet_4",
            git_branch="f%x",
            modified=NOON - 2 * HOUR,
        ),
        a_session(id="empty", key="ws2:p:empty", cwd=None, modified=NOON),
    ],
    "/gone": [
        a_session(
            said("den git push"),
            said("den pull", "tool", tool_name="read"),
            id="c",
            key="ws10:p:c",
            agent="pi",
            cwd="/",
            repository="example.org/bob/a_b",
            git_branch="MAIN",
            created=None,
            modified=NOON - 3 * HOUR,
            tool_counts={"read": 2},
        ),
        a_session(
            *(said(f"den {w}") for w in ("cow", "fox", "git", "log")),
            id="b",
            key="ws2:p:b",
            kind="headless",
            modified=NOON,
        ),
    ],
}


@pytest.fixture(params=["sqlite", "postgres"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StorageBackend]:
    if request.param == "sqlite":
        options: dict[str, Any] = {"directory": str(tmp_path / "index")}
    else:
        options = {"dsn": request.getfixturevalue("database")}
    with closing(PluginManager().backend(request.param, options)) as backend:
        with backend.writer() as writer:
            for path, sessions in FILES.items():
                writer.replace(a_file(path), [item for session in sessions for item in session])
            writer.update_files([a_file("/gone", missing_since=NOON)])
            writer.finish(synced_at=NOON)
        yield backend


def contains(stored: StoredSession, chunk: Chunk, word: Word) -> bool:
    """Look for a word as the backend in memory does: the word before a `*` is stemmed, so that `pus*` finds `pull`."""
    return Document(chunk.text).contains(word)


def held(reader: IndexReader) -> list[tuple[StoredSession, list[Chunk]]]:
    """Return each session as the index has it, with the chunks it was given."""
    given = {(path, content[0].id): content for path, sessions in FILES.items() for content in sessions}  # type: ignore[union-attr]
    stored = [session for id in ("a", "a/sub", "b", "c", "empty") for session in reader.find_sessions(id)]
    of_all = [(one, [c for c in given[one.path, one.session.id] if isinstance(c, Chunk)]) for one in stored]
    assert len({one.number for one, _ in of_all}) == len(given)
    return list({one.number: (one, chunks) for one, chunks in of_all}.values())


words = st.builds(
    lambda terms, is_prefix: word_of(" ".join(terms)[: -1 if is_prefix else None] + "*" * is_prefix),
    st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=2),
    st.booleans(),
)
#: What each field may ask for, apart from nothing.
ASKED: dict[str, tuple[Any, ...]] = {
    "cwd": ("/w/app", "/w/app/", "/w", "/", "C:\\w", "C:\\w\\", "app", "/w/%"),
    "places": (("/w/app",), ("/w/app/", "C:\\w"), ("/",), ("/no",)),
    "repo": ("FOX", "ann", "sub", "app", "example", "a_b", "f_x", "/w"),
    "branch": ("main", "fix/Main", "ain", "fix/", "/main", "f%x", "%"),
    "model": ("opus", "SONNET_4", "o_us", "5"),
    "after": (NOON + HOUR, NOON, NOON - HOUR, NOON - 2 * HOUR + SECOND, NOON - 8 * HOUR),
    "before": (NOON + HOUR, NOON, NOON - HOUR, NOON - 3 * HOUR - SECOND, NOON - 6 * HOUR),
    "agents": (("pi",), ("test",), ("pi", "test"), ("Pi",)),
    "tools_only": (True,),
    "tool": ("bash", "BASH", "run_command", "write", "read", "grep", "ba%"),
    "role": ROLES,
    "path": ("main.py", "/w/app/src/main.py", "src/", "Src/main.py", "src\\main.py", "ain.py", "w/other.txt"),
    "cmd": ("git", "git push", "push git", "git pu*", "log"),
    "is_error": (True,),
    "workstation": ("ws1", "ws2", "ws", "WS1"),
    "host": ("box", "Box", "bo"),
    "owner": ("ann", "ANN", "bob"),
    "exclude": (("a",), ("a/sub", "b"), ("A",), ("c", "empty")),
    "all_kinds": (True,),
}
ALONE = [Filters(**{name: value}) for name, values in ASKED.items() for value in values]
ALONE += [Filters(is_error=True, tool=tool) for tool in ("bash", "Write", "read")]
ALONE += [Filters(after=after, before=before) for after in ASKED["after"] for before in ASKED["before"]]
filters = st.lists(st.sampled_from([(name, value) for name in ASKED for value in ASKED[name]]), max_size=3).map(
    lambda pairs: Filters(**dict(pairs))
)
conditions: st.SearchStrategy[Condition] = st.recursive(
    st.one_of(st.builds(Has, words), st.builds(Is, filters)),
    lambda parts: st.one_of(
        st.builds(Not, parts),
        st.lists(parts, max_size=3).map(lambda found: AllOf(tuple(found))),
        st.lists(parts, max_size=3).map(lambda found: AnyOf(tuple(found))),
    ),
    max_leaves=MAX_DEPTH,
)
EVERYTHING = Filters(all_kinds=True)
keeps = SessionFilter(contains)


def expect_same_sessions(reader: IndexReader, filters: Filters, condition: Condition | None) -> None:
    sessions = held(reader)
    speaking = standing(stored for stored, _ in sessions)
    expected = {
        stored.number
        for stored, chunks in sessions
        if stored.number in speaking
        and not is_hidden(filters, stored.session)
        and keeps.matches(filters, stored, chunks)
        and keeps.meets(condition, stored, chunks)
        and has_chunk(filters, stored, chunks)
    }
    listed, total = reader.list_sessions(filters, limit=99, condition=condition)
    assert ({stored.number for stored in listed}, total) == (expected, len(expected)), (filters, condition)


def expect_same_chunks(reader: IndexReader, filters: Filters, condition: Condition | None) -> None:
    met = [
        (stored, position)
        for stored, chunks in held(reader)
        if keeps.matches(filters, stored, chunks) and keeps.meets(condition, stored, chunks)
        for position, chunk in enumerate(chunks)
        if chunk_matches(filters, chunk)
    ]
    shown = {(stored.number, position) for stored, position in met if not is_hidden(filters, stored.session)}
    hidden = {stored.number for stored, _ in met if is_hidden(filters, stored.session)}
    found = reader.candidates(a_query("den", condition=condition), filters)
    assert {(chunk.session, chunk.seq) for chunk in found.chunks} == shown, (filters, condition)
    assert found.left_out.get("headless", 0) == len(hidden), (filters, condition)


def test_each_field_alone_means_the_same(index: StorageBackend) -> None:
    reader = index.reader()
    for asked in ALONE:
        for of_kind in (asked, replace(asked, all_kinds=True)):
            expect_same_sessions(reader, of_kind, None)
            expect_same_chunks(reader, of_kind, None)
        for condition in (Is(asked), Not(Is(asked))):
            expect_same_sessions(reader, EVERYTHING, condition)
            expect_same_chunks(reader, EVERYTHING, condition)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(filters=filters, condition=st.none() | conditions)
def test_fields_and_conditions_mean_the_same_together(
    index: StorageBackend, filters: Filters, condition: Condition | None
) -> None:
    reader = index.reader()
    expect_same_sessions(reader, filters, condition)
    expect_same_chunks(reader, filters, condition)


@pytest.mark.parametrize(
    "asked", ["den pus*", "pus*", "den pul*", "den push*", "git pus*", "git pu*", "lo*", "den dogs*"]
)
def test_a_word_that_is_begun_means_the_same(index: StorageBackend, asked: str) -> None:
    """The stem of `pus` is `pu`, which `pull` begins with as well as `push`."""
    word = Word(text=asked, alternatives=(asked,))
    for condition in (Has(word), Not(Has(word))):
        expect_same_sessions(index.reader(), EVERYTHING, condition)
        expect_same_chunks(index.reader(), EVERYTHING, condition)
