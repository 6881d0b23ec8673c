"""Which passages of a session bear on a question: ranked in the session, told with their neighbours, bounded."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sesame_core import Sesame
from sesame_core.search.passages import BUDGET, MATCH_BYTES, NEIGHBOUR_BYTES, Retrieval, find

from ..support.transcripts import Pi, library, write


def asked(home: Path, tmp_path: Path, question: str, *records: tuple[str, str], budget: int = BUDGET) -> Retrieval:
    """What a session of these messages has to say."""
    with sesame_of(tmp_path, *records) as sesame:
        (stored,), _ = sesame.list_sessions()
        return find(sesame._index.reader(), stored.number, question, budget=budget)


def sesame_of(tmp_path: Path, *records: tuple[str, str]) -> Sesame:
    pi = Pi()
    said = [pi.user(text) if role == "user" else pi.answer(text) for role, text in records]
    write(pi.path, pi.header(), *said)
    sesame = library(pi.root, tmp_path / "data", parser="pi")
    sesame.index()
    return sesame


def filler(count: int, word: str = "meadow") -> list[tuple[str, str]]:
    return [("assistant", f"{word} line {number} of the walk") for number in range(count)]


def test_the_middle_of_a_long_session_is_found_though_its_end_is_not_about_it(home: Path, tmp_path: Path) -> None:
    records = [*filler(400), ("user", "Which lock do we take?"), ("assistant", "We decided on flock."), *filler(400)]
    found = asked(home, tmp_path, "what did we decide about the lock", *records)
    best = found.passages[0]
    assert {400, 401} <= {item.chunk.seq for item in best.items}
    assert (found.basis, found.chunks, found.matches) == ("question", 802, 2)


def test_what_is_rare_in_the_session_tells_more_than_what_is_common_in_it(home: Path, tmp_path: Path) -> None:
    records = [*filler(30, "carousel"), ("assistant", "The focus ring was lost."), *filler(30, "carousel")]
    found = asked(home, tmp_path, "carousel focus", *records)
    assert found.passages[0].match.chunk.seq == 30


def test_an_answer_that_repeats_no_word_of_the_question_is_told_with_it(home: Path, tmp_path: Path) -> None:
    records = [*filler(5), ("user", "Which database?"), ("assistant", "Postgres, since it is there."), *filler(5)]
    (passage,) = asked(home, tmp_path, "database", *records).passages
    assert [item.chunk.seq for item in passage.items] == [4, 5, 6, 7]
    assert passage.match.chunk.seq == 5


def test_nothing_is_told_twice(home: Path, tmp_path: Path) -> None:
    records = [("user", f"fox {number}") for number in range(20)]
    found = asked(home, tmp_path, "fox", *records)
    told = [item.chunk.seq for passage in found.passages for item in passage.items]
    assert sorted(told) == list(range(20))


def test_words_are_found_in_any_form_and_those_that_are_not_there_are_named(home: Path, tmp_path: Path) -> None:
    records = [("user", "We were reconnecting too early: reconnectBackoff was zero"), ("assistant", "検索は動く")]
    found = asked(home, tmp_path, "why reconnect with backoff and 検索 not zebras", *records)
    assert found.words_not_found == ("zebras",)
    assert found.matches == 2


def test_a_long_message_is_told_by_its_densest_stretch(home: Path, tmp_path: Path) -> None:
    text = "hay " * 5000 + "the needle is red " + "hay " * 5000
    (passage,) = asked(home, tmp_path, "needle red", ("assistant", text), ("user", "y" * 5000)).passages
    assert "needle is red" in passage.match.text
    assert passage.match.is_truncated
    assert len(passage.match.text.encode()) <= MATCH_BYTES
    (after,) = passage.after
    assert (after.text, after.is_truncated) == ("y" * NEIGHBOUR_BYTES, True)


def test_an_empty_session_has_nothing_to_say(home: Path, tmp_path: Path) -> None:
    with sesame_of(tmp_path, ("user", "fox")) as sesame:
        found = find(sesame._index.reader(), 10**6, "fox")
        assert (found.passages, found.basis, found.chunks) == ((), "outline", 0)


@pytest.mark.parametrize(
    "question", ["", "   ", '"', "((((", "-fox", "agent:pi", "\0", "the", "x" * 10_000, "* AND OR"]
)
def test_any_text_is_a_question(question: str, home: Path, tmp_path: Path) -> None:
    found = asked(home, tmp_path, question, ("user", "the fox"), ("assistant", "the dog"))
    assert found.chunks == 2


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(
    budget=st.integers(0, 6000), words=st.lists(st.sampled_from("fox dog 検索 🦊 é".split()), min_size=1, max_size=4)
)
def test_passages_never_take_more_than_the_budget(
    budget: int, words: list[str], home: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    records = [("user" if n % 3 else "assistant", " ".join(words) + f" 検索🦊 {n}" * (n * 7)) for n in range(12)]
    found = asked(home, tmp_path_factory.mktemp("at"), " ".join(words), *records, budget=budget)
    items = [item for passage in found.passages for item in passage.items]
    assert sum(len(item.text.encode()) for item in items) <= budget
    assert all(item.is_truncated == (item.text != item.chunk.text) for item in items)
    assert bool(items) == (budget > 0)
