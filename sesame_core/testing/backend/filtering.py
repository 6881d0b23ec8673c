"""Conformance tests of a storage backend's reader: filters."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import Any

import pytest

from sesame_core.plugin.backend import StorageBackend, Values
from sesame_core.types.index import Chunk, ChunkKind
from sesame_core.types.query import Filters, Is, Mark, Not
from sesame_core.types.transcript import Notes, Role

from ..builders import NOON, a_call, a_chunk, a_file, a_query, a_session
from .base import EVERYTHING, BackendBase, found, store


class FilteringConformance(BackendBase):
    """Tests every filter but those on directories and times, at its boundaries, and each before any limit."""

    def test_agents_are_alternatives(self, backend: StorageBackend) -> None:
        """A session of any of them matches."""
        store(
            backend,
            a_file(),
            *(a_session("fox", id=agent, agent=agent) for agent in ("pi", "claude-code", "xyz")),
        )
        assert found(backend, "fox", Filters(agents=("pi", "xyz"))) == {"pi", "xyz"}

    def test_tools_only_leaves_what_was_said_out(self, backend: StorageBackend) -> None:
        """Calls and results stay; titles do not count."""
        store(
            backend,
            a_file(),
            a_session("fox", id="said", title="fox"),
            a_session(a_call("fox"), id="called"),
            a_session(a_chunk("fox", kind="tool_result", role="tool", tool_name="read"), id="answered"),
        )
        heads = "`tool`, `role` and `tools_only` narrow chunks: heads and conversations do not count under them"
        assert found(backend, "fox", Filters(tools_only=True)) == {"called", "answered"}, heads
        assert found(backend, "fox", Filters(tool="bash")) == {"called"}
        assert found(backend, "fox", Filters(tool="read")) == {"answered"}
        assert found(backend, "fox", Filters(tool="ba%")) == set()

    @pytest.mark.parametrize(
        ("path", "is_found"),
        [
            ("/w/app/src/main.py", True),
            ("src/main.py", True),
            ("main.py", True),
            ("ain.py", False),
            ("c/main.py", False),
            ("src/main", False),
            ("src/m_in.py", False),
            ("%", False),
            ("main%", False),
        ],
    )
    def test_a_path_is_asked_for_by_its_last_parts(self, backend: StorageBackend, path: str, is_found: bool) -> None:
        """Whole parts match; wildcards are literal.  Any chunk of such a session may match the query."""
        session = a_session("fox", a_call("tool: edit", tool="edit", paths=("/w/app/src/main.py",)))
        store(backend, a_file(), session, a_session("fox, said of src/main.py", id="s2"))
        assert found(backend, "fox", Filters(path=path)) == ({"s1"} if is_found else set())

    @pytest.mark.parametrize(
        ("filters", "expected"),
        [
            (Filters(repo="fox"), {"remote", "directory"}),
            (Filters(repo="ANN/Fox"), {"remote"}),
            (Filters(repo="example.org"), {"remote"}),
            (Filters(repo="/w"), set()),
            (Filters(repo="f_x"), set()),
            (Filters(branch="main"), {"remote"}),
            (Filters(branch="MAIN"), {"remote"}),
            (Filters(branch="login"), {"directory"}),
            (Filters(branch="fix/login"), {"directory"}),
            (Filters(branch="ogin"), set()),
            (Filters(branch="%"), set()),
            (Filters(model="opus"), {"remote"}),
            (Filters(model="OPUS-5"), {"remote"}),
            (Filters(model="o_us"), set()),
            (Filters(model="opus", branch="login"), set()),
        ],
        # The repr of a set has another order in each process, and all test processes must collect the same names.
        ids=lambda value: str(sorted(value)) if isinstance(value, set) else str(value),
    )
    def test_facts_of_a_session_narrow(self, backend: StorageBackend, filters: Filters, expected: set[str]) -> None:
        """In any case; wildcards are literal; an unknown fact does not match."""
        remote = {"cwd": "/w/x", "repository": "example.org/ann/fox", "git_branch": "main", "model": "opus-5"}
        store(
            backend,
            a_file(),
            a_session("den", id="remote", **remote),
            a_session("den", id="directory", cwd="/w/foxes", git_branch="fix/login", model="sonnet"),
            a_session("den", id="below", cwd="/foxes/den"),
            a_session("den", id="unknown", cwd=None),
        )
        assert found(backend, "den", dataclasses.replace(filters, all_kinds=True)) == expected
        listed, total = backend.reader().list_sessions(filters, limit=10)
        assert ({stored.session.id for stored in listed}, total) == (expected, len(expected))
        inverted = a_query("den", condition=Not(Is(filters)))
        assert found(backend, inverted) == {"remote", "directory", "below", "unknown"} - expected

    @pytest.mark.parametrize(
        ("cmd", "expected"),
        [("push", {"ran"}), ("git push", {"ran"}), ("push git", set()), ("git pu*", {"ran"}), ("pushed", {"ran"})],
    )
    def test_a_command_is_asked_for_by_its_words(self, backend: StorageBackend, cmd: str, expected: set[str]) -> None:
        """Only calls of shells count, neither messages nor other tools."""
        store(
            backend,
            a_file(),
            a_session("fox", a_call("tool: run_command\ncommand: git push origin", tool="run_command"), id="ran"),
            a_session("fox: git push", id="said"),
            a_session("fox", a_call("tool: write\ncontent: git push", tool="write"), id="wrote"),
        )
        assert found(backend, "fox", Filters(cmd=cmd)) == expected
        assert {s.session.id for s in backend.reader().list_sessions(Filters(cmd=cmd), limit=9)[0]} == expected

    def test_an_error_is_asked_for_by_itself_or_of_a_tool(self, backend: StorageBackend) -> None:
        """Any failure in the session matches; with a tool, only a failed call of that tool."""

        def result(tool: str, is_error: bool) -> Chunk:
            return a_chunk("fox", kind="tool_result", role="tool", tool_name=tool, is_error=is_error)

        store(
            backend,
            a_file(),
            a_session("fox", result("bash", True), id="failed", tool_counts={"bash": 1}),
            a_session("fox", result("bash", False), result("edit", True), id="other failed"),
            a_session("fox", result("bash", False), id="worked"),
        )
        assert found(backend, "fox", Filters(is_error=True)) == {"failed", "other failed"}
        assert found(backend, "fox", Filters(is_error=True, tool="Bash")) == {"failed"}
        listed, _ = backend.reader().list_sessions(Filters(is_error=True, tool="bash"), limit=9)
        assert [stored.session.id for stored in listed] == ["failed"]
        assert found(backend, a_query("fox", condition=Not(Is(Filters(is_error=True))))) == {"worked"}

    def test_a_tag_is_in_the_notes_of_a_session_or_a_mark_of_its_reader(self, backend: StorageBackend) -> None:
        """In any case, and whole; of several tags all count.  A mark also names sessions that do not have it."""
        store(
            backend,
            a_file(),
            a_session("fox", id="noted", notes=Notes(name="", description="", summary="", tags=("Nix", "50%"))),
            a_session("fox", id="marked", notes=Notes(name="n", description="", summary="", tags=("rust",))),
            a_session("fox", id="plain"),
        )
        cases: list[tuple[Filters, set[str]]] = [
            (Filters(tags=("nix",)), {"noted"}),
            (Filters(tags=("ni",)), set()),
            (Filters(tags=("50%", "NIX")), {"noted"}),
            (Filters(tags=("nix", "rust")), set()),
            (Filters(tags=(Mark("nix", ("marked",)),)), {"noted", "marked"}),
            (Filters(tags=(Mark("nix", ("plain", "nobody"), ("noted",)), Mark("nix", ("plain",)))), {"plain"}),
            (Filters(starred=Mark("starred", ("plain", "noted"))), {"plain", "noted"}),
            (Filters(starred=Mark("starred", ("plain", "noted")), tags=("nix",)), {"noted"}),
            (Filters(starred=True), set()),
        ]
        for filters, expected in cases:
            assert found(backend, "fox", filters) == expected, filters
            listed, total = backend.reader().list_sessions(filters, limit=9)
            assert ({stored.session.id for stored in listed}, total) == (expected, len(expected)), filters
            rest = {"noted", "marked", "plain"} - expected
            assert found(backend, a_query("fox", condition=Not(Is(filters)))) == rest, filters
        reader = backend.reader()
        if isinstance(reader, Values):
            assert dict(reader.values("tags", 9)) == {"Nix": 1, "50%": 1, "rust": 1}

    @pytest.mark.parametrize("role", ["user", "assistant", "system", "summary", "tool"])
    def test_a_role_narrows_to_what_has_it(self, backend: StorageBackend, role: Role) -> None:
        """Titles and prompts of the head do not count."""
        kinds: dict[str, ChunkKind] = {"summary": "metadata", "tool": "tool_result"}
        roles: tuple[Role, ...] = ("user", "assistant", "system", "summary", "tool")
        sessions = [a_session(a_chunk("fox", kind=kinds.get(r, "message"), role=r), id=r, title="fox") for r in roles]
        store(backend, a_file(), *sessions)
        heads = "`tool`, `role` and `tools_only` narrow chunks: heads and conversations do not count under them"
        assert found(backend, "fox", Filters(role=role)) == {role}, heads
        listed, total = backend.reader().list_sessions(Filters(role=role), limit=9)
        assert ([stored.session.id for stored in listed], total) == ([role], 1)

    def test_sessions_may_be_ruled_out_by_id(self, backend: StorageBackend) -> None:
        """By full ids, not by prefixes."""
        store(backend, a_file(), *(a_session("fox", id=id) for id in ("s1", "s12", "s2")))
        assert found(backend, "fox", Filters(exclude=("s1", "s2", "no-such-id"))) == {"s12"}

    def test_headless_sessions_are_left_out_and_counted(self, backend: StorageBackend) -> None:
        """Unless the filters include them."""
        kinds = ("interactive", "subagent", "headless")
        store(backend, a_file(), *(a_session("fox", id=kind, kind=kind) for kind in kinds))
        assert found(backend, "fox", Filters()) == {"interactive", "subagent"}
        left_out = backend.reader().candidates(a_query("fox"), Filters()).left_out
        assert left_out == {"headless": 1}, '`left_out["headless"]` counts the headless sessions that match'
        assert found(backend, "fox", Filters(all_kinds=True)) == set(kinds)
        left_out = backend.reader().candidates(a_query("fox"), EVERYTHING).left_out
        assert left_out == {}, "a reason for which no session was left out is absent"

    @pytest.mark.parametrize(
        "filters",
        [
            Filters(cwd="/wanted"),
            Filters(places=("/elsewhere", "/wanted")),
            Filters(after=NOON + timedelta(days=1)),
            Filters(before=NOON - timedelta(days=1)),
            Filters(agents=("wanted",)),
            Filters(tools_only=True),
            Filters(tool="wanted"),
            Filters(path="wanted.py"),
            Filters(repo="wanted"),
            Filters(branch="wanted"),
            Filters(model="wanted"),
            Filters(role="assistant"),
            Filters(cmd="make wanted"),
            Filters(is_error=True),
            Filters(starred=Mark("starred", ("wanted",))),
            Filters(tags=("wanted",)),
            Filters(exclude=tuple(f"crowd{number}" for number in range(40))),
        ],
        ids=lambda filters: next(name for name in filters.__slots__ if getattr(filters, name)),
    )
    def test_filters_come_before_any_limit(self, backend: StorageBackend, filters: Filters) -> None:
        """The weakest match is found when a filter excludes the thousand better ones."""
        crowd = [a_session(*["fox fox fox"] * 30, id=f"crowd{number}") for number in range(40)]
        store(backend, a_file("/crowd"), *crowd)
        wanted = a_call("fox " + "padding " * 200, tool="wanted", paths=("/w/wanted.py",))
        failed = a_chunk("it failed", kind="tool_result", role="tool", is_error=True)
        facts: dict[str, Any] = {"cwd": "/wanted", "agent": "wanted", "git_branch": "wanted", "model": "wanted"}
        facts["notes"] = Notes(name="", description="", summary="", tags=("wanted",))
        last = NOON + timedelta(days=2)
        first = NOON - timedelta(days=2)
        session = a_session(wanted, a_call("make wanted"), failed, id="wanted", created=first, modified=last, **facts)
        store(backend, a_file(), session)
        assert found(backend, "fox", filters) == {"wanted"}
