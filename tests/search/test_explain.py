"""`--explain`: the numbers behind an answer are the ranking's own and add up."""

from __future__ import annotations

from typing import Any

import pytest

from sesame_core.plugin.backend import StorageBackend
from sesame_core.rendering.answers import answer_json, answer_text
from sesame_core.search import ranking
from sesame_core.search.engine import search
from sesame_core.testing import a_call, a_file, a_session
from sesame_core.testing.memory import MemoryBackend
from sesame_core.types.answer import Answer, Page
from sesame_core.types.query import Filters


@pytest.fixture
def backend() -> StorageBackend:
    backend = MemoryBackend()
    with backend.writer() as writer:
        writer.replace(
            a_file("/1"),
            a_session("the quick fox", "fox and elk", "fox", "fox again", a_call("fox elk"), id="a", title="Elk"),
        )
        writer.replace(a_file("/2"), a_session("elk and receiving", "receiving", id="b"))
        writer.replace(a_file("/3"), a_session(*["nothing of the kind"] * 9, id="c"))
        writer.replace(a_file("/4"), a_session("fox in a subagent", id="a/s", kind="subagent", parent_id="a"))
    return backend


def explained(backend: StorageBackend, text: str, **page: Any) -> Answer:
    return search(backend.reader(), text, Filters(), Page(explain=True, **page))


def test_nothing_is_explained_unless_asked(backend: StorageBackend) -> None:
    answer = search(backend.reader(), "fox", Filters())
    assert answer.explanation is None
    assert {hit.explanation for hit in answer.hits} == {None}
    assert "explain" not in answer_json(answer)


def test_explaining_changes_no_answer(backend: StorageBackend) -> None:
    plain, told = (
        answer_json(search(backend.reader(), "fox elk", Filters())),
        answer_json(explained(backend, "fox elk")),
    )
    del told["explain"]
    for result in told["results"]:
        del result["explain"]
    assert told == plain


@pytest.mark.parametrize("page", [{}, {"limit": 1, "offset": 1}])
def test_the_parts_add_up_to_the_score(backend: StorageBackend, page: dict[str, int]) -> None:
    answer = explained(backend, "fox elk", **page)
    assert answer.hits
    for hit in answer.hits:
        told = hit.explanation
        assert told is not None
        parts = (told.chunk_part, told.head_part, told.conversation_part, told.near_part, told.verbatim_part)
        assert sum(parts) == pytest.approx(hit.score)
        assert told.chunk_sum == pytest.approx(sum(chunk.decay * chunk.score for chunk in told.chunks))
        assert len(told.chunks) <= ranking.BEST_CHUNKS
        assert [chunk.decay for chunk in told.chunks] == [ranking.DECAY**n for n in range(len(told.chunks))]


def test_each_chunk_tells_where_it_stands_its_class_and_its_words(backend: StorageBackend) -> None:
    (hit,) = (hit for hit in explained(backend, "fox elk").hits if hit.session.id == "a")
    assert hit.explanation is not None
    by_place = {(chunk.session_id, chunk.position): chunk for chunk in hit.explanation.chunks}
    assert by_place["a", 1].words == ("fox", "elk")
    assert (by_place["a", 1].class_name, by_place["a", 1].weight) == ("human prompt", 1.2)
    assert (by_place["a", 4].class_name, by_place["a", 4].weight) == ("tool call", 0.85)
    (only,) = (hit for hit in explained(backend, "subagent").hits if hit.explanation)
    assert only.explanation is not None
    assert [chunk.session_id for chunk in only.explanation.chunks] == ["a/s"]


def test_the_query_is_told_as_it_was_read(backend: StorageBackend) -> None:
    answer = explained(backend, "recieving +elk -unicorn")
    assert answer.explanation is not None
    wrong, elk = answer.explanation.words
    assert (wrong.text, wrong.corrections) == ("recieving", tuple(answer.corrections["recieving"]))
    assert "receiv" in wrong.corrections[0]
    assert wrong.alternatives == ("recieving",)
    assert (elk.text, elk.is_required, elk.document_frequency) == ("elk", True, 3)
    assert elk.idf == pytest.approx(ranking.idf(3, answer.chunk_total))
    assert answer.explanation.excluded == ("unicorn",)


def test_an_explanation_for_people(backend: StorageBackend) -> None:
    text = answer_text(explained(backend, "fox recieving -unicorn"), abbreviate=str)
    assert "How the query was read:\n  fox: in 6 chunks; idf " in text
    assert "corrected to receiv" in text
    assert "\n  without unicorn\n" in text
    assert " chunks scored (every match)" in text
    assert " from title and first prompts (" in text
    assert "human prompt (× 1.2): " in text


def test_a_query_without_words_has_nothing_to_explain(backend: StorageBackend) -> None:
    answer = explained(backend, "*")
    assert (answer.mode, answer.explanation) == ("browse", None)
