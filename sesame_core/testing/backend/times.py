"""Conformance tests of a storage backend's reader: when something was said."""

from __future__ import annotations

from datetime import timedelta

from sesame_core.plugin.backend import (
    StorageBackend,
)
from sesame_core.types.query import Filters

from ..builders import NOON, a_chunk, a_file, a_query, a_session
from .base import BackendBase, found, store


class TimesConformance(BackendBase):
    """Tests the filters on times, at their boundaries."""

    def test_after_and_before_include_their_bounds(self, backend: StorageBackend) -> None:
        """A session belongs to the time from its first message to its last."""
        second = timedelta(seconds=1)
        begin = NOON - timedelta(hours=2)
        store(backend, a_file(), a_session("fox", created=begin))
        assert found(backend, "fox", Filters(after=NOON)) == {"s1"}
        assert found(backend, "fox", Filters(before=begin)) == {"s1"}
        assert found(backend, "fox", Filters(after=NOON, before=NOON)) == {"s1"}
        assert found(backend, "fox", Filters(after=begin + second, before=NOON - second)) == {"s1"}
        assert found(backend, "fox", Filters(after=NOON + second)) == set()
        assert found(backend, "fox", Filters(before=begin - second)) == set()

    def test_a_session_belongs_to_the_days_on_which_something_was_said(self, backend: StorageBackend) -> None:
        """Not to silent days between; one whose chunks have no times belongs to all of them."""
        day = timedelta(days=1)
        begin = NOON - 4 * day
        said = [a_chunk(f"fox of day {n}", timestamp=begin + n * day) for n in (0, 2, 4)]
        store(
            backend,
            a_file(),
            a_session(*said, id="timed", created=begin),
            a_session("fox", id="timeless", created=begin),
            a_session("fox", id="unknown", created=None),
        )
        expected = [
            {"timed", "timeless"},
            {"timeless"},
            {"timed", "timeless"},
            {"timeless"},
            {"timed", "timeless", "unknown"},
        ]
        for n, ids in enumerate(expected):
            around = Filters(after=begin + n * day - day / 4, before=begin + n * day + day / 4)
            listed, total = backend.reader().list_sessions(around, limit=9)
            assert ({stored.session.id for stored in listed}, total) == (ids, len(ids)), n
            assert found(backend, "fox", around) == ids, n

    def test_with_words_the_time_of_what_was_said_counts(self, backend: StorageBackend) -> None:
        """A chunk of another time is not a match, nor is the head of a session that lasted beyond the interval."""
        hour = timedelta(hours=1)
        chunks = [
            a_chunk("the fox", timestamp=NOON - 24 * hour),
            a_chunk("thanks", timestamp=NOON),
            a_chunk("a den", kind="metadata", role="metadata", source_type="title"),
        ]
        session = a_session(*chunks, created=NOON - 24 * hour, title="fox", prompts=("the fox",))
        store(backend, a_file(), session)
        first, last = Filters(before=NOON - 23 * hour), Filters(after=NOON - hour)
        assert (found(backend, "fox", first), found(backend, "fox", last)) == ({"s1"}, set())
        assert (found(backend, "thanks", first), found(backend, "thanks", last)) == (set(), {"s1"})
        assert found(backend, "den", first) == found(backend, "den", last) == {"s1"}, "a chunk without a time matches"
        scored = backend.reader().candidates(a_query("fox thanks"), last)
        assert ([chunk.seq for chunk in scored.chunks], scored.heads) == ([1], {})
        assert backend.reader().candidates(a_query("fox"), Filters(after=NOON - 25 * hour)).heads
