"""Conformance tests of a storage backend's reader: scores and document frequencies."""

from __future__ import annotations

from sesame_core.plugin.backend import (
    StorageBackend,
)

from ..builders import a_call, a_chunk, a_file, a_query, a_session
from .base import EVERYTHING, BackendBase, store, the


class ScoringConformance(BackendBase):
    """Tests what is known of a match for ranking it."""

    def test_higher_score_is_better_and_comes_first(self, backend: StorageBackend) -> None:
        """More occurrences in less text score higher."""
        store(
            backend,
            a_file(),
            a_session("fox " + "padding " * 80, id="far"),
            a_session("fox fox fox", id="near"),
            a_session("nothing of it", id="none"),
        )
        reader = backend.reader()
        chunks = reader.candidates(a_query("fox"), EVERYTHING).chunks
        assert [chunk.session for chunk in chunks] == [the(backend, id).number for id in ("near", "far")]
        assert chunks[0].score > chunks[1].score

    def test_chunks_are_returned_with_their_weight_class(self, backend: StorageBackend) -> None:
        """0 human prompt, 1 other text and metadata, 2 tool call, 3 tool result."""
        store(
            backend,
            a_file(),
            a_session(
                "fox",
                a_chunk("fox", role="assistant"),
                a_chunk("fox", kind="metadata", role="summary"),
                a_call("fox"),
                a_chunk("fox", kind="tool_result", role="tool"),
            ),
        )
        chunks = backend.reader().candidates(a_query("fox"), EVERYTHING).chunks
        assert sorted((chunk.seq, chunk.weight_class) for chunk in chunks) == [
            (0, 0),
            (1, 1),
            (2, 1),
            (3, 2),
            (4, 3),
        ]

    def test_titles_summaries_and_prompts_score_as_heads(self, backend: StorageBackend) -> None:
        """Separately from the chunks."""
        store(
            backend,
            a_file(),
            a_session("x", id="s1", title="the kettle"),
            a_session("x", id="s2", summary="a kettle was fixed"),
            a_session("x", id="s3", prompts=("fix the kettle", "and the lid")),
            a_session("x", id="s4"),
        )
        candidates = backend.reader().candidates(a_query("kettle"), EVERYTHING)
        assert candidates.chunks == [], "titles, summaries and prompts are not chunks"
        assert set(candidates.heads) == {the(backend, id).number for id in ("s1", "s2", "s3")}
        assert all(score > 0 for score in candidates.heads.values())

    def test_counts_the_chunks_of_each_word(self, backend: StorageBackend) -> None:
        """In the order of the query's words."""
        store(
            backend,
            a_file(),
            a_session("fox dog", "fox fox"),
            a_session("fox", id="s2"),
            a_session("x", id="s3"),
        )
        candidates = backend.reader().candidates(a_query("fox unicorn dog"), EVERYTHING)
        assert candidates.document_frequencies == [3, 0, 1]
        assert candidates.chunk_total == 4
        assert candidates.session_total == 2
        assert not candidates.is_truncated

    def test_returns_which_words_a_chunk_contains(self, backend: StorageBackend) -> None:
        """By position in the query, for the given chunks, in their order."""
        store(backend, a_file(), a_session("a quick fox", "the running dog", "nothing"))
        number = the(backend, "s1").number
        asked = [(number, 2), (number, 1), (number, 0)]
        query = a_query("fox run unicorn quick")
        assert backend.reader().matching(query, asked) == [frozenset(), frozenset({1}), frozenset({0, 3})]
        assert backend.reader().matching(query, []) == []
