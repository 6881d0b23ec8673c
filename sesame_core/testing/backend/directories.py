"""Conformance tests of a storage backend's reader: the directories of sessions."""

from __future__ import annotations

import pytest

from sesame_core.plugin.backend import (
    Directories,
    StorageBackend,
    Values,
)
from sesame_core.types.query import Directory, Filters, Is, Not

from ..builders import a_file, a_query, a_session
from .base import BackendBase, found, store


class DirectoriesConformance(BackendBase):
    """Tests the filters on directories, at their boundaries."""

    @pytest.mark.parametrize(
        ("cwd", "expected"),
        [
            ("/w/app", {"app", "below"}),
            ("/w/app/", {"app", "below"}),
            ("/w/app-v2", {"other"}),
            ("/w", {"app", "below", "other", "percent"}),
            ("/", {"app", "below", "other", "percent"}),
            ("/w/a_p", set()),
            ("/w/%", {"percent"}),
            ("app", set()),
        ],
    )
    def test_cwd_is_a_directory_not_a_prefix(self, backend: StorageBackend, cwd: str, expected: set[str]) -> None:
        """The directory and those below it match; wildcards are literal."""
        places = {
            "app": "/w/app",
            "below": "/w/app/sub",
            "other": "/w/app-v2",
            "percent": "/w/%",
            "none": None,
        }
        store(backend, a_file(), *(a_session("fox", id=id, cwd=place) for id, place in places.items()))
        assert found(backend, "fox", Filters(cwd=cwd, all_kinds=True)) == expected

    def test_places_are_alternatives(self, backend: StorageBackend) -> None:
        """A session in any of the directories, or below it, matches."""
        places = {"app": "/w/app", "below": "/w/app/sub", "other": "/w/app-v2", "tree": "/trees/app", "none": None}
        store(backend, a_file(), *(a_session("fox", id=id, cwd=place) for id, place in places.items()))
        both = Filters(places=("/w/app", "/trees/app"))
        assert found(backend, "fox", both) == {"app", "below", "tree"}
        assert found(backend, "fox", Filters(places=("/w/app", "/trees/app"), cwd="/w")) == {"app", "below"}
        assert found(backend, a_query("fox", condition=Not(Is(both)))) == {"other", "none"}
        listed, total = backend.reader().list_sessions(both, limit=9)
        assert ({stored.session.id for stored in listed}, total) == ({"app", "below", "tree"}, 3)

    def test_all_directories_of_a_session_count(self, backend: StorageBackend) -> None:
        """Those besides its first one, too, and all names of the directory in the filter."""
        sessions = {
            "stayed": ("/w/app", ()),
            "moved": ("/old/app", ("/w/app/sub", "/z", "/a")),
            "windows": ("/old", ("C:\\Users\\Ann\\Api",)),
            "none": (None, ()),
        }
        content = [a_session("fox", id=id, cwd=cwd, directories=others) for id, (cwd, others) in sessions.items()]
        store(backend, a_file(), *content)
        assert found(backend, "fox", Filters(cwd="/w/app")) == {"stayed", "moved"}
        assert found(backend, "fox", Filters(cwd="/old/app")) == {"moved"}
        assert found(backend, "fox", Filters(cwd="C:\\Users\\Ann")) == {"windows"}
        assert found(backend, "fox", Filters(places=("/z", "C:\\Users"))) == {"moved", "windows"}
        assert found(backend, "fox", Filters(cwd="/nowhere")) == set()
        named = Filters(cwd=Directory("/nowhere", ("/w/ap", "/w/app/sub", "C:\\")))
        assert found(backend, "fox", named) == {"moved", "windows"}
        assert found(backend, a_query("fox", condition=Not(Is(named)))) == {"stayed", "none"}
        (moved,) = (s for s in backend.reader().find_by_id(["moved"]))
        assert moved.session.places == ("/old/app", "/w/app/sub", "/z", "/a")
        reader = backend.reader()
        if isinstance(reader, Values):
            assert ("/w/app/sub", 1) in reader.values("cwd", 9)
        if isinstance(reader, Directories):
            places = {"/w/app", "/old/app", "/w/app/sub", "/z", "/a", "/old", "C:\\Users\\Ann\\Api"}
            assert sorted(reader.directories(9)) == sorted(places), "each once, and none of a session without one"
            assert len(set(reader.directories(2)) & places) == 2
