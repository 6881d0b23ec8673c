"""Conformance tests of what a storage backend's reader knows of words, for other spellings of a query's words."""

from __future__ import annotations

import pytest

from sesame_core.plugin.backend import Counting, SearchesTerms, StorageBackend, Vocabulary
from sesame_core.types.query import Word

from ..builders import NOON, a_file, a_session
from .base import BackendBase, store

TEXTS = ("the fetchQuotaBudget call", "quota of a web socket", "quotas in web_socket", "ошибки в базе", "socket web")


class SpellingConformance(BackendBase):
    """Tests the terms of an index, and how often phrases occur."""

    def test_lists_the_terms_with_a_prefix(self, backend: StorageBackend) -> None:
        """Also of what the latest run has added; words in lower case, stemmed."""
        reader = backend.reader()
        if not isinstance(reader, Vocabulary):
            pytest.skip("the backend lists no terms")
        assert reader.terms("quo", 9) == []
        store(backend, a_file(), *(a_session(text, id=f"s{number}") for number, text in enumerate(TEXTS)))
        assert {term for term, _ in reader.terms("quo", 9)} == {"quota", "quotabudget"}
        assert {term for term, _ in reader.terms("ошиб", 9)} == {"ошибки"}
        assert {term for term, _ in reader.terms("soc", 9)} == {"socket"}
        assert len(reader.terms("", 2)) <= 2, "`limit` is the most terms"
        assert reader.terms("%", 9) == reader.terms("nowhere", 9) == []

    def test_finds_terms_by_a_part(self, backend: StorageBackend) -> None:
        """Anywhere in them; a search may be limited, so terms that the backend has not counted may be left out."""
        reader = backend.reader()
        if not isinstance(reader, SearchesTerms):
            pytest.skip("the backend does not search its terms")
        assert reader.terms_with("chquotab", 9) == []
        with backend.writer() as writer:
            for number, text in enumerate(TEXTS):
                writer.replace(a_file(f"/{number}"), a_session(text, id=f"s{number}"))
            writer.finish(synced_at=NOON)
        assert [term for term, _ in reader.terms_with("chquotab", 9)] == ["fetchquotabudget"]
        assert [term for term, _ in reader.terms_with("шибк", 9)] == ["ошибки"]
        assert len(reader.terms_with("e", 1)) == 1, "`limit` is the most terms"
        for text in ("%", "_", "\\", "'", "nowhere"):
            assert reader.terms_with(text, 9) == [], "any string is one that is compared"

    def test_counts_phrases(self, backend: StorageBackend) -> None:
        """In the order of the arguments, as they are matched: stemmed, in any case, in text and parts of names."""
        reader = backend.reader()
        if not isinstance(reader, Counting):
            pytest.skip("the backend counts no phrases")
        texts = ["web socket", "websocket", "QUOTA", "quota budget", "socket*", "+", "", '"', "socket of"]
        phrases = [Word(text=text, alternatives=(text,)) for text in texts]
        assert reader.frequencies(phrases) == [0] * len(phrases)
        store(backend, a_file(), *(a_session(text, id=f"s{number}") for number, text in enumerate(TEXTS)))
        assert reader.frequencies(phrases) == [2, 0, 3, 1, 3, 0, 0, 0, 0]
        assert reader.frequencies([]) == []
