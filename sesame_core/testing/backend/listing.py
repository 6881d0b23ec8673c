"""Conformance tests of a storage backend's reader: lists of sessions."""

from __future__ import annotations

from datetime import timedelta

from sesame_core.plugin.backend import (
    StorageBackend,
)
from sesame_core.types.query import AllOf, AnyOf, Condition, Filters, Not

from ..builders import NOON, a_file, a_query, a_session, a_word
from .base import EVERYTHING, BackendBase, store


class ListingConformance(BackendBase):
    """Tests which sessions are listed, in which order, and how many there are."""

    def test_lists_sessions_newest_first_in_stable_pages(self, backend: StorageBackend) -> None:
        """Also with equal times; the total counts all of them."""
        moments = [NOON - timedelta(hours=number // 3) for number in range(10)]
        sessions = [a_session("x", id=f"s{number}", modified=moment) for number, moment in enumerate(moments)]
        store(backend, a_file(), *sessions)
        reader = backend.reader()
        whole, total = reader.list_sessions(EVERYTHING, limit=100)
        assert total == 10
        times = [stored.session.modified for stored in whole]
        assert times == sorted(moments, reverse=True)
        pages = []
        for offset in range(0, 12, 3):
            page, total = reader.list_sessions(EVERYTHING, limit=3, offset=offset)
            assert total == 10
            pages += page
        assert [stored.number for stored in pages] == [stored.number for stored in whole]

    def test_lists_one_of_the_copies_of_a_session(self, backend: StorageBackend) -> None:
        """A session in several files has one key; the copy whose file exists, then the longest, represents it."""
        store(backend, a_file("/a"), a_session("fox"))
        store(backend, a_file("/b"), a_session("fox", "dog"))
        reader, rule = backend.reader(), "of sessions with one key, `list_sessions` returns and counts one"
        listed, total = reader.list_sessions(EVERYTHING, limit=9)
        assert ([stored.path for stored in listed], total) == (["/b"], 1), f"{rule}: the one with most chunks"
        with backend.writer() as writer:
            writer.update_files([a_file("/b", missing_since=NOON)])
        listed, total = reader.list_sessions(EVERYTHING, limit=9)
        assert ([stored.path for stored in listed], total) == (["/a"], 1), f"{rule}: the one whose file exists"

    def test_lists_what_another_agent_has_imported_only_without_the_original(self, backend: StorageBackend) -> None:
        """An import names itself as its parent (`Session.is_imported`), and may have more chunks than the original."""
        store(backend, a_file("/a"), a_session("fox", id="s1", agent="owl"))
        store(backend, a_file("/b"), a_session("fox", "dog", id="s1", agent="elk", parent_id="s1"))
        reader, rule = backend.reader(), "of the copies of a session, `list_sessions` returns the one not imported"
        listed, total = reader.list_sessions(EVERYTHING, limit=9)
        assert ([stored.session.agent for stored in listed], total) == (["owl"], 1), rule
        listed, total = reader.list_sessions(EVERYTHING, limit=9, condition=a_word("fox"))
        assert ([stored.session.agent for stored in listed], total) == (["owl"], 1), f"{rule}, under a condition"
        with backend.writer() as writer:
            writer.update_files([a_file("/a", missing_since=NOON)])
        listed, total = reader.list_sessions(EVERYTHING, limit=9)
        assert ([stored.path for stored in listed], total) == (["/b"], 1), f"{rule}, unless its file is missing"

    def test_lists_what_the_filters_leave(self, backend: StorageBackend) -> None:
        """In both page and total."""
        store(
            backend,
            a_file(),
            a_session("x", id="a", cwd="/w/app"),
            a_session("x", id="b", cwd="/w/app-v2"),
            a_session("x", id="c", cwd="/w/app", kind="headless"),
        )
        listed, total = backend.reader().list_sessions(Filters(cwd="/w/app"), limit=10)
        assert ([stored.session.id for stored in listed], total) == (["a"], 1)
        listed, total = backend.reader().list_sessions(Filters(cwd="/w/app", all_kinds=True), limit=1)
        assert (len(listed), total) == (1, 2)

    def test_lists_sessions_without_an_excluded_word(self, backend: StorageBackend) -> None:
        """In both page and total."""
        store(backend, a_file(), a_session("fox", id="a"), a_session("dog", "a quick fox", id="b"))
        condition = a_query(excluded=["quick fox", "unicorn"]).condition
        listed, total = backend.reader().list_sessions(EVERYTHING, limit=10, condition=condition)
        assert ([stored.session.id for stored in listed], total) == (["a"], 1), "a condition is about the whole session"

    def test_counts_one_of_the_copies_under_a_condition(self, backend: StorageBackend) -> None:
        """In page and total alike; without headless sessions."""
        store(backend, a_file("/a"), a_session("fox"))
        store(backend, a_file("/b"), a_session("fox", "dog"))
        store(backend, a_file("/c"), a_session("fox", id="c", kind="headless"))
        fox, dog, elk = map(a_word, ("fox", "dog", "elk"))
        rule = "`list_sessions` counts one of the copies of a session, whatever the condition"
        cases: list[tuple[Condition, Filters, int]] = [
            (fox, Filters(), 1),
            (fox, EVERYTHING, 2),
            (Not(elk), Filters(), 1),
            (Not(fox), EVERYTHING, 0),
            (AllOf((fox, dog)), Filters(), 1),
            (AllOf((fox, Not(elk))), EVERYTHING, 2),
            (AnyOf((dog, elk)), Filters(agents=("test", "pi")), 1),
        ]
        for condition, filters, expected in cases:
            for limit in (0, 9):
                listed, total = backend.reader().list_sessions(filters, limit=limit, condition=condition)
                assert (len(listed), total) == (min(limit, expected), expected), rule
