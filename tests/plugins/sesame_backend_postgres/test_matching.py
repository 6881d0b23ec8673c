"""The budget chooses what is scored, never how: over an index in which most words are common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from sesame_backend_postgres import budget as limits
from sesame_backend_postgres import matching, prepared
from sesame_backend_postgres.asked import Asked
from sesame_backend_postgres.reader import PostgresReader
from sesame_core.errors import BackendError
from sesame_core.plugin.backend import IndexReader, StorageBackend
from sesame_core.search.engine import search
from sesame_core.testing import a_call, a_chunk, a_file, a_query, a_session
from sesame_core.types.index import Candidates, Chunk
from sesame_core.types.query import Filters, Query, Word

from .schemas import a_backend

pytestmark = pytest.mark.once

SESSIONS, CHUNKS = 100, 12
#: The headless ones among them.
HEADLESS = range(7, SESSIONS, 20)
EVERYTHING = Filters(all_kinds=True)


def content(number: int) -> list[str | Chunk]:
    """Return a session's chunks: `common` is in all of them, `usual` in half, `seldom together` once in the oldest."""
    chunks: list[str | Chunk] = []
    for place in range(CHUNKS):
        text = "common " * (1 + place % 3) + f"text number {number} " + "and more " * ((number + place) % 9)
        text += "usual usual" if place % 2 else "other"
        if (number + place) % 4 == 0:
            text += " regular"
        chunks.append(a_call(text) if place % 3 == 2 else a_chunk(text, role="assistant"))
    if number % 2:
        chunks.append(a_chunk("seldom", role="assistant"))
    else:
        chunks.append(a_chunk("together", role="assistant"))
    if number == 60:
        chunks.append(a_chunk("the number common", role="assistant"))
    if number == 0:
        chunks += [a_chunk("seldom together", role="assistant"), a_call("common tool", tool="Fetch"), "common prompt"]
    return chunks


@pytest.fixture(scope="module")
def backend(postgres: str) -> Iterator[StorageBackend]:
    with a_backend(postgres) as backend:
        with backend.writer() as writer:
            for number in range(SESSIONS):
                kind = "headless" if number in HEADLESS else "interactive"
                session = a_session(*content(number), id=f"s{number}", kind=kind, title=f"common title {number % 7}")
                writer.replace(a_file(f"/{number}.jsonl"), session)
            writer.finish(synced_at=None)
        yield backend


@pytest.fixture
def empty(postgres: str) -> Iterator[StorageBackend]:
    with a_backend(postgres) as backend:
        yield backend


#: Budgets that the common words exceed.
NARROW = {
    "SCORED": 200,
    "FULL": 120,
    "SOLE": 20,
    "NEWEST": 80,
    "RESCORED": 60,
    "ENOUGH": 60,
    "FEW": 5,
    "COUNTED": 50,
    "DOCUMENTS": 40,
}


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set these budgets."""
    for name, value in NARROW.items():
        monkeypatch.setattr(limits, name, value)


def places(candidates: Candidates) -> dict[tuple[int, int], float]:
    return {(chunk.session, chunk.seq): chunk.score for chunk in candidates.chunks}


def ids(reader: IndexReader, candidates: Candidates) -> set[str]:
    return {stored.session.id for stored in reader.sessions({chunk.session for chunk in candidates.chunks})}


@pytest.mark.parametrize("text", ["common", "common usual", "usual regular", "other regular common", "comm* usual"])
def test_a_chunk_has_the_same_score_within_a_budget_and_without(
    backend: StorageBackend, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    for name in ("CANDIDATES", "LONG"):
        monkeypatch.setattr(limits, name, 10_000)
    reader = backend.reader()
    whole = reader.candidates(a_query(text), EVERYTHING)
    assert not whole.is_truncated
    for name in ("SCORED", "FULL", "SOLE", "NEWEST", "RESCORED", "ENOUGH", "FEW"):
        monkeypatch.setattr(limits, name, NARROW[name])
    part = reader.candidates(a_query(text), EVERYTHING)
    assert part.is_truncated
    assert 0 < part.scanned <= 200
    scores, every = places(part), places(whole)
    assert scores
    assert scores == pytest.approx({place: every[place] for place in scores})
    assert part.document_frequencies == whole.document_frequencies


@pytest.mark.usefixtures("narrow")
def test_of_a_common_word_the_newest_are_found(backend: StorageBackend) -> None:
    reader = backend.reader()
    found = reader.candidates(a_query("common"), EVERYTHING)
    newest = {f"s{number}" for number in range(SESSIONS - 10, SESSIONS)}
    assert ids(reader, found)
    assert ids(reader, found) <= newest


def test_long_word_lists_are_read_in_the_newest_chunks_of_a_common_word_only(
    empty: StorageBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "otter " + " ".join(f"word{number}" for number in range(900))
    with empty.writer() as writer:
        for number in range(20):
            writer.replace(a_file(f"/{number}.jsonl"), a_session(long, *["a short otter"] * 9, id=f"s{number}"))
        writer.finish(synced_at=None)
    monkeypatch.setattr(limits, "EXACT", 100)
    monkeypatch.setattr(limits, "LONG", 50)
    found = empty.reader().candidates(a_query("otter"), EVERYTHING)
    assert {chunk.session for chunk in found.chunks if chunk.seq == 0} == {16, 17, 18, 19, 20}
    assert (found.scanned, found.is_truncated, found.document_frequencies) == (20 * 9 + 5, True, [200])
    monkeypatch.setattr(limits, "EXACT", 200)
    found = empty.reader().candidates(a_query("otter"), EVERYTHING)
    assert (found.scanned, found.is_truncated) == (200, False)


def test_titles_with_a_selecting_word_are_scored_before_newer_ones_with_another(
    empty: StorageBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    titles = ["a heron", "a heron, a cress", *["an otter"] * 8, "a cress", "nothing"]
    with empty.writer() as writer:
        for number, title in enumerate(titles):
            texts = ["heron"] if number < 2 else ["otter"] * 40
            writer.replace(a_file(f"/{number}.jsonl"), a_session(*texts, id=f"s{number}", title=title))
        writer.finish(synced_at=None)

    def scored(text: str) -> list[int]:
        return sorted(empty.reader().candidates(a_query(text), EVERYTHING).heads)

    assert scored("heron otter") == list(range(1, 11))
    assert scored("cress") == [2, 11]  # which is in titles only
    assert scored("heron cress") == [1, 2, 11]
    monkeypatch.setattr(limits, "SCORED", 50)
    monkeypatch.setattr(limits, "HEADS", 5)
    assert scored("heron otter") == [1, 2, 8, 9, 10]
    assert scored("cress otter") == [6, 7, 8, 9, 10]


def test_of_the_commoner_word_those_with_the_rarer_one_and_the_newest_are_scored(
    empty: StorageBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    with empty.writer() as writer:
        for number in range(30):
            texts = ["a heron", *["an otter"] * 9, "an otter, a heron", *["neither"] * 30]
            writer.replace(a_file(f"/{number}.jsonl"), a_session(*texts, id=f"s{number}"))
        writer.finish(synced_at=None)
    reader = empty.reader()
    whole = reader.candidates(a_query("otter heron"), EVERYTHING)
    assert (len(whole.chunks), whole.session_total, whole.is_truncated) == (330, 30, False)
    for name, value in {"SCORED": 500, "FULL": 100, "NEWEST": 70, "SOLE": 20}.items():
        monkeypatch.setattr(limits, name, value)
    found = reader.candidates(a_query("otter heron"), EVERYTHING)
    scores, every = places(found), places(whole)
    assert scores == pytest.approx({place: every[place] for place in scores})
    alone = {place for place in every if place[1] in range(1, 10)}
    assert set(scores) >= set(every) - alone
    # Of 300 the newest 20, in whole sessions.
    assert {session for session, _ in set(scores) & alone} == {29, 30}
    assert (found.session_total, found.is_truncated, found.document_frequencies) == (30, True, [300, 60])
    # Of one word alone the newest 100, and with a filter on chunks all.
    alone_in = {chunk.session for chunk in reader.candidates(a_query("otter"), EVERYTHING).chunks}
    assert alone_in == set(range(21, 31))
    assert not reader.candidates(a_query("otter heron"), Filters(role="user")).is_truncated


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("text", ["common", "common number", "common usual", "usual regular other", "seldom together"])
@pytest.mark.parametrize(
    "filters", [EVERYTHING, Filters(), Filters(role="user"), Filters(after=datetime(2020, 1, 1, tzinfo=UTC))]
)
@pytest.mark.parametrize("entries", [1, 30, 10_000])
def test_no_chunk_is_read_in_two_ways(
    text: str, filters: Filters, entries: int, backend: StorageBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "ENTRIES", entries)
    query = a_query(text)
    made = matching._statement(Asked.of(query.words), query, filters, {})
    parts = made.sql.partition("\nSELECT 'chunk'")[0]
    reader = backend.reader()
    assert isinstance(reader, PostgresReader)
    counts = "SELECT coalesce(max(times), 0), (SELECT count(*) FROM sought WHERE is_chosen) FROM met"
    ((most, chosen),) = reader._rows(f"{parts} {counts}", made.values[: parts.count("%s")])
    assert most <= chosen


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("budget", [20, 40])
def test_a_chunk_with_all_words_is_found_however_old(
    backend: StorageBackend, monkeypatch: pytest.MonkeyPatch, budget: int
) -> None:
    monkeypatch.setattr(limits, "SCORED", budget)
    monkeypatch.setattr(limits, "NEWEST", 10)
    reader = backend.reader()
    found = reader.candidates(a_query("seldom together"), EVERYTHING)
    assert found.is_truncated
    best = found.chunks[0]
    assert ids(reader, found) >= {"s0"}
    assert reader.chunks([(best.session, best.seq, 1)])[0][0].text == "seldom together"


@pytest.mark.usefixtures("narrow")
def test_of_chunks_with_all_words_there_are_enough(backend: StorageBackend) -> None:
    reader = backend.reader()
    found = reader.candidates(a_query("usual regular"), EVERYTHING)
    chunks = [c.text for (c,) in reader.chunks([(chunk.session, chunk.seq, 1) for chunk in found.chunks])]
    assert sum("usual" in text and "regular" in text for text in chunks) >= limits.RESCORED


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize(
    ("filters", "text"),
    [
        (Filters(tool="fetch"), "common tool"),
        (Filters(role="user"), "common prompt"),
        (Filters(tool="FETCH", all_kinds=True), "common tool"),
    ],
)
def test_what_few_chunks_pass_is_looked_for_in_all_of_them(
    backend: StorageBackend, filters: Filters, text: str
) -> None:
    reader = backend.reader()
    found = reader.candidates(a_query("common"), filters)
    assert [c.text for (c,) in reader.chunks([(chunk.session, chunk.seq, 1) for chunk in found.chunks])] == [text]
    assert not found.is_truncated


@pytest.mark.usefixtures("narrow")
def test_sessions_left_out_are_counted_beyond_the_budget(backend: StorageBackend) -> None:
    reader = backend.reader()
    found = reader.candidates(a_query("common usual"), Filters())
    assert found.is_truncated
    assert found.left_out == {"headless": len(HEADLESS)}
    assert ids(reader, found).isdisjoint(f"s{number}" for number in HEADLESS)


@pytest.mark.usefixtures("narrow")
def test_a_filter_on_sessions_comes_before_the_budget(backend: StorageBackend) -> None:
    reader = backend.reader()
    query = a_query("common usual", required=["prompt"])
    assert ids(reader, reader.candidates(query, EVERYTHING)) == {"s0"}


@pytest.mark.usefixtures("narrow")
def test_the_frequency_of_a_word_in_titles_is_estimated_from_some_of_them(backend: StorageBackend) -> None:
    with_all = backend.reader().candidates(a_query("common usual"), EVERYTHING)
    assert len(with_all.heads) == SESSIONS
    assert len(set(with_all.heads.values())) < 4


def phrase(text: str, *, is_required: bool) -> Query:
    """A phrase that finds chunks, or one that sessions must have too."""
    query = a_query(required=[text])
    return query if is_required else replace(query, condition=None)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("is_required", [False, True])
def test_a_rare_phrase_of_common_words_is_found(backend: StorageBackend, is_required: bool) -> None:
    reader = backend.reader()
    found = reader.candidates(phrase("number common", is_required=is_required), EVERYTHING)
    assert found.document_frequencies == [1]
    assert ids(reader, found) == {"s60"}
    assert not found.is_truncated


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("is_required", [False, True])
def test_a_phrase_of_common_words_that_is_nowhere_is_reported_as_such(
    backend: StorageBackend, is_required: bool
) -> None:
    found = backend.reader().candidates(phrase("more number", is_required=is_required), EVERYTHING)
    assert found.document_frequencies == [0]
    assert found.chunks == []


@pytest.mark.usefixtures("narrow")
def test_a_phrase_of_too_common_words_is_looked_for_in_the_newest_chunks_and_says_so(
    backend: StorageBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = backend.reader()
    for share, expected in ((2, {"s60"}), (10, set())):
        monkeypatch.setattr(limits, "READ", SESSIONS * CHUNKS // share)
        found = reader.candidates(phrase("number common", is_required=False), EVERYTHING)
        assert ids(reader, found) == expected
        assert found.is_truncated


@pytest.mark.usefixtures("narrow")
def test_a_condition_on_most_of_the_sessions_lets_the_words_lead(backend: StorageBackend) -> None:
    reader = backend.reader()
    few = reader.candidates(a_query("seldom", excluded=["together"]), EVERYTHING)
    assert ids(reader, few) == {f"s{number}" for number in range(1, SESSIONS, 2)}
    many = reader.candidates(a_query("common", required=["prompt"]), EVERYTHING)
    assert ids(reader, many) == {"s0"}


@pytest.mark.parametrize("limit", [1, 7, 600])
@pytest.mark.parametrize("near", [1, 10])
@pytest.mark.parametrize(
    "text", ["common", "regular", "seldom", "prompt", "number 7", "common|seldom", "seldom|number 7"]
)
def test_of_a_word_or_a_phrase_the_newest_chunks_are_found_however_few_sessions_are_read_first(
    backend: StorageBackend, monkeypatch: pytest.MonkeyPatch, text: str, near: int, limit: int
) -> None:
    reader = backend.reader()
    assert isinstance(reader, PostgresReader)
    word = Word(text=text, alternatives=tuple(text.split("|")))
    prompt = (Word(text="prompt", alternatives=("prompt",)),)
    for filters in (Filters(), EVERYTHING, Filters(role="user"), Filters(agents=("none",))):
        for condition, beside in ((None, ()), (None, prompt), (a_query(excluded=["prompt"]).condition, ())):
            monkeypatch.setattr(limits, "NEAR", 10_000)
            all_of_them = reader.phrase(word, filters, condition, 10_000, beside=beside)
            monkeypatch.setattr(limits, "NEAR", near)
            assert reader.phrase(word, filters, condition, limit, beside=beside) == all_of_them[:limit]


@pytest.mark.parametrize("text", ["common", "common text", "common|seldom"])
def test_of_few_sessions_all_chunks_with_a_common_word_are_found_however_old(
    backend: StorageBackend, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(limits, "LISTED", 2 * CHUNKS)
    monkeypatch.setattr(limits, "PHRASED", CHUNKS)
    reader = backend.reader()
    assert isinstance(reader, PostgresReader)
    word = Word(text=text, alternatives=tuple(text.split("|")))
    oldest = a_query(required=["prompt"]).condition
    assert len(reader.phrase(word, EVERYTHING, oldest, 600)) >= CHUNKS
    assert len(reader.phrase(word, EVERYTHING, oldest, 5)) == 5
    assert reader.phrase(word, EVERYTHING, a_query(required=["nowhere"]).condition, 600) == []


def test_an_answer_says_when_older_chunks_with_a_phrase_were_not_looked_at(
    backend: StorageBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = backend.reader()
    assert isinstance(reader, PostgresReader)
    monkeypatch.setattr(limits, "NEAR", 1)

    def is_bounded(text: str, required: str = "") -> bool:
        condition = a_query(required=[required]).condition if required else None
        word = Word(text=text, alternatives=(text,))
        return reader.bounded_phrase(word, EVERYTHING, condition, 10_000)[1]

    texts = ("common", "common text", "number 7", "text text", "seldom", "nowhere", "nowhere common")
    monkeypatch.setattr(limits, "PHRASED", 2 * SESSIONS * CHUNKS)
    assert [text for text in texts if is_bounded(text)] == []
    monkeypatch.setattr(limits, "PHRASED", 2 * CHUNKS)
    assert [text for text in texts if is_bounded(text)] == ["common text", "text text"]
    monkeypatch.setattr(limits, "LISTED", 2 * CHUNKS)
    assert [text for text in texts if is_bounded(text)] == ["common", "common text", "text text", "seldom"]
    assert [text for text in texts if is_bounded(text, "prompt")] == [], "all chunks of few sessions"


def test_a_search_for_other_words_uses_the_plan_that_the_connection_keeps(backend: StorageBackend) -> None:
    one, other = backend.reader(), backend.reader()
    assert isinstance(one, PostgresReader)
    how_often = "SELECT sum(generic_plans), sum(custom_plans), count(*) FROM pg_prepared_statements"
    one.candidates(a_query("seldom together"), EVERYTHING)
    ((before, _, kept),) = one._rows(how_often)
    assert ids(one, one.candidates(a_query("other text"), EVERYTHING))
    assert "s0" in ids(other, other.candidates(a_query("seldom together"), EVERYTHING))
    assert one._rows(how_often) == [(before + 2, 0, kept)]


def test_a_connection_keeps_few_plans_and_answers_after_it_has_forgotten_them(backend: StorageBackend) -> None:
    reader = backend.reader()
    assert isinstance(reader, PostgresReader)
    for number in range(2 * prepared.MOST + 1):
        text = " ".join(f"word{n}" for n in range(number)) + " seldom"
        assert reader.candidates(a_query(text), EVERYTHING).chunks
        ((kept,),) = reader._rows("SELECT count(*) FROM pg_prepared_statements")
        assert kept <= prepared.MOST


def test_a_failed_search_leaves_no_wrong_plan(backend: StorageBackend) -> None:
    reader = backend.reader()
    assert isinstance(reader, PostgresReader)
    expected = places(reader.candidates(a_query("usual regular"), EVERYTHING))
    with pytest.raises(BackendError):
        reader._rows("SELECT 1 / 0")
    assert places(reader.candidates(a_query("common"), EVERYTHING))
    assert places(reader.candidates(a_query("usual regular"), EVERYTHING)) == expected


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("text", ["and more", "usual usual"])
def test_the_frequency_of_a_phrase_is_estimated_from_the_chunks_that_are_read(
    backend: StorageBackend, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    reader, alone = backend.reader(), phrase(text, is_required=False)
    for name in ("SCORED", "FULL"):
        monkeypatch.setattr(limits, name, 10_000)
    exact = reader.candidates(alone, EVERYTHING)
    assert not exact.is_truncated
    monkeypatch.setattr(limits, "READ", 240)
    part = reader.candidates(alone, EVERYTHING)
    assert part.is_truncated
    assert part.document_frequencies == pytest.approx(exact.document_frequencies, rel=0.1)


def test_a_phrase_alone_is_not_looked_up_again_when_the_newest_chunks_were_read(
    backend: StorageBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "READ", 900)
    monkeypatch.setattr(
        PostgresReader, "bounded_phrase", lambda *_, **__: pytest.fail("the chunks with the phrase are known")
    )
    answer = search(backend.reader(), '"number common"', EVERYTHING)
    assert answer.is_truncated
    assert [hit.session.id for hit in answer.hits] == ["s60"]
