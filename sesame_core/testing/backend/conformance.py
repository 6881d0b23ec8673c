"""Conformance tests of a storage backend."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from sesame_core.plugin.backend import StorageBackend

from ..builders import a_file, a_query, a_session
from .base import EVERYTHING, found, store
from .counting import CountingConformance
from .directories import DirectoriesConformance
from .filtering import FilteringConformance
from .listing import ListingConformance
from .reading import ReadingConformance
from .rebuilding import RebuildingConformance
from .remembering import RememberingConformance
from .scoring import ScoringConformance
from .searching import SearchingConformance
from .sharing import SharingConformance
from .spelling import SpellingConformance
from .times import TimesConformance
from .writing import WritingConformance


class BackendConformance(
    WritingConformance,
    RememberingConformance,
    RebuildingConformance,
    ReadingConformance,
    ListingConformance,
    CountingConformance,
    SearchingConformance,
    ScoringConformance,
    SpellingConformance,
    FilteringConformance,
    DirectoriesConformance,
    TimesConformance,
    SharingConformance,
):
    """Subclass it, set `name`, override the fixture `options` with the options of an empty index for each test.

    The rules are the docstrings of `sesame_core.plugin.backend`; a failure names the broken one.  Tests of an ability
    (`Vocabulary`, `SearchesTerms`, `Phrases`, `Bounding`, `Turns`, `Counting`, `Values`, `Directories`, `Abbreviating`,
    `Tallying`, `Lineage`, `Withholding`, `TracksFiles`, `Annotating`, `Fingerprinted`, `Belongings`, `Monitored`,
    `Granted`) are skipped for a backend without it.
    """

    def test_starts_empty(self, backend: StorageBackend) -> None:
        """An index that does not exist, or a shared one that was only prepared, reads as an empty one."""
        reader = backend.reader()
        candidates = reader.candidates(a_query("anything"), EVERYTHING)
        assert (candidates.chunks, candidates.heads, candidates.chunk_total) == ([], {}, 0)
        assert candidates.document_frequencies == [0]
        assert reader.list_sessions(EVERYTHING, limit=10) == ([], 0)
        assert reader.find_sessions("") == []
        assert list(reader.sessions([1, 2])) == []
        assert reader.find_by_id(["s1"]) == []
        assert reader.chunks([(1, 0, None)]) == [[]], "`chunks` returns an empty list for a session that does not exist"
        statistics = reader.statistics()
        assert (statistics.sessions, statistics.chunks, statistics.files, statistics.last_sync) == (
            0,
            0,
            0,
            None,
        )

    def test_one_reader_serves_four_threads(self, backend: StorageBackend) -> None:
        """A server runs several queries at once."""
        store(backend, a_file(), *(a_session("fox", f"dog {n}", id=f"s{n}") for n in range(20)))
        reader = backend.reader()

        def ask(number: int) -> tuple[int, int, int]:
            scored = reader.candidates(a_query("fox"), EVERYTHING).chunks
            listed, total = reader.list_sessions(EVERYTHING, limit=5, offset=number % 4)
            return len(scored), total, len(reader.chunks([(listed[0].number, 0, None)])[0])

        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(ask, range(40)))
        assert answers == [(20, 20, 2)] * 40

    def test_a_snapshot_stands_still(self, backend: StorageBackend, other: StorageBackend) -> None:
        """Whatever a writer does at the same time; afterwards the changes are visible."""
        store(backend, a_file(), a_session("fox", "dog"))
        reader = backend.reader()
        with reader.snapshot():
            before = reader.list_sessions(EVERYTHING, limit=9)
            store(other, a_file(version=2), a_session("fox"), a_session("fox", id="s2"))
            assert reader.list_sessions(EVERYTHING, limit=9) == before, "inside of `snapshot` nothing changes"
            assert len(reader.chunks([(before[0][0].number, 0, None)])[0]) == 2
            assert reader.candidates(a_query("fox"), EVERYTHING).session_total == 1
        assert found(backend, "fox") == {"s1", "s2"}

    def test_two_readers_see_the_same(self, backend: StorageBackend, other: StorageBackend) -> None:
        """In this process and in another."""
        store(backend, a_file(), a_session("fox"))
        assert found(backend, "fox") == found(other, "fox") == {"s1"}
