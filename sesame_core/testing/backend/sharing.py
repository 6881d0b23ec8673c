"""Conformance tests of a backend that others can read: what is stored of one installation, under each of its ids."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from sesame_core.plugin.backend import StorageBackend
from sesame_core.plugin.shared import Belongings, Fingerprinted
from sesame_core.types.transcript import Session

from ..builders import a_file, a_session
from .base import BackendBase, found, store, the


class SharingConformance(BackendBase):
    """Tests fingerprints, forgotten sessions and former ids; only where a backend has these abilities."""

    def test_a_fingerprint_changes_with_what_is_stored(self, backend: StorageBackend, other: StorageBackend) -> None:
        """And only then, whoever asks: it detects that a backup was restored."""

        def fingerprint(of: StorageBackend = backend) -> str:
            with of.writer() as writer:
                if not isinstance(writer, Fingerprinted):
                    pytest.skip("the backend's writer has no fingerprint")
                return writer.fingerprint()

        seen = [fingerprint()]
        store(backend, a_file(), a_session("fox", id="s1"), a_session("dog", id="s2"))
        seen.append(fingerprint())
        assert fingerprint(other) == seen[-1], "`fingerprint` depends on what is stored alone"
        store(backend, a_file("/b"), a_session("fox", id="s3"))
        seen.append(fingerprint())
        with backend.writer() as writer:
            writer.delete_file("/b")
            writer.finish(synced_at=None)
        seen.append(fingerprint())
        with backend.writer() as writer:
            writer.forget(the(backend, "s1").number)
            writer.finish(synced_at=None)
        seen.append(fingerprint())
        for before, after in itertools.pairwise(seen):
            assert before != after, "`fingerprint` changes when sessions are stored or deleted"

    def test_forgotten_sessions_are_listed(self, backend: StorageBackend) -> None:
        """By agent and id, with their subagents."""
        reader = backend.reader()
        if not isinstance(reader, Belongings):
            pytest.skip("the backend's reader does not list forgotten sessions")
        assert reader.forgotten() == set()
        store(backend, a_file(), a_session("fox", id="s1"), a_session("fox", id="s1/a"), a_session("fox", id="s2"))
        agent = the(backend, "s1").session.agent
        with backend.writer() as writer:
            writer.forget(the(backend, "s1").number)
            writer.finish(synced_at=None)
            if isinstance(writer, Fingerprinted):
                assert writer.forgotten() == {(agent, "s1"), (agent, "s1/a")}
        assert reader.forgotten() == {(agent, "s1"), (agent, "s1/a")}

    def test_what_was_stored_under_a_former_id_is_this_workstation_s(
        self, backend: StorageBackend, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It is deleted with the file, narrowed with it, and forgotten."""
        reader = backend.reader()
        if not isinstance(reader, Belongings):
            pytest.skip("the backend's reader does not know former ids")
        assert reader.former_ids() == ()
        files = {name: a_file(f"/{name}") for name in ("kept", "deleted", "narrowed", "forgotten")}

        def fill(id: str) -> None:
            monkeypatch.setenv("SESAME_WORKSTATION_ID", id)
            for name, file in files.items():
                session, *chunks = a_session(f"fox {id}", id=name)
                assert isinstance(session, Session)
                session.key = f"{id}:p:{name}"
                store(backend, file, [session, *chunks])

        fill("one")
        fill("two")
        assert reader.former_ids() == ("one",)
        with backend.writer() as writer:
            narrowed = Session(id="narrowed", agent="a", visibility="metadata", key="two:p:narrowed")
            writer.replace(replace(files["narrowed"], size=9), [narrowed])
            writer.delete_file("/deleted")
            chosen = next(one for one in reader.find_by_id(["forgotten"]) if one.session.key.startswith("two:"))
            writer.forget(chosen.number)
            writer.finish(synced_at=None)
        assert found(backend, "one") == {"kept"}, "`delete_file`, `forget` and metadata reach former ids"
        assert found(backend, "two") == {"kept"}
