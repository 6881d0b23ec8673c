"""How far an answer can be trusted: questions, missing names, single words, choices, notes, ids, on every backend."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from sesame_core.plugin.backend import Annotating, StorageBackend
from sesame_core.plugin.manager import PluginManager
from sesame_core.rendering.answers import answer_json, answer_text
from sesame_core.search.confidence import CHANCE, RESPELLED, WEAK_BELOW, Judgement, says_when, weigh
from sesame_core.search.engine import search
from sesame_core.testing import a_file, a_session
from sesame_core.testing.memory import MemoryBackend
from sesame_core.types.answer import Answer, Page
from sesame_core.types.query import Filters
from sesame_core.types.transcript import Notes

#: A chat about a garden; each message is a chunk.
GARDEN = (
    "Olga: the tomatoes dry out by noon",
    "Pavel: so we water the greenhouse before sunrise, the irrigation starts at six",
    "Olga: good, and I ordered the new valve for the irrigation",
    "Pavel: the beans can wait for the weekend, I will bring the ladder",
)
#: Work on a program.
PROGRAM = (
    "the reconnect loop spins when the socket closes early",
    "I added a backoff to the reconnect loop: it waits twice as long after each failure, at most a minute",
    "the build fails on the server since the formatter changed",
    "receiving a message larger than the buffer closes the socket",
    "release notes for 2025: the plugin supports WordPress",
)
#: What every index is full of.
CHORES = (
    "run the tests, fix the build, change the file, check the plan, use the server, find the image, show the table, "
    "move the book, say a word, come back, a plugin for many blocks"
)


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StorageBackend]:
    if request.param == "memory":
        yield filled(MemoryBackend())
        return
    options = {"directory": str(tmp_path)}
    if request.param == "postgres":
        options = {"dsn": request.getfixturevalue("database")}
    made = PluginManager().backend(request.param, options)
    yield filled(made)
    made.close()


@pytest.fixture
def in_memory() -> StorageBackend:
    return filled(MemoryBackend())


def filled(backend: StorageBackend) -> StorageBackend:
    sessions = [("garden", GARDEN), ("program", PROGRAM)]
    sessions += [(f"chore{n}", tuple(f"{part} x{n}y" for part in CHORES.split(", "))) for n in range(40)]
    with backend.writer() as writer:
        for name, texts in sessions:
            writer.replace(a_file(f"/s/{name}.jsonl"), list(a_session(*texts, id=name)))
        writer.finish(synced_at=None)
    return backend


def ask(backend: StorageBackend, text: str, *, explain: bool = False, offset: int = 0) -> Answer:
    return search(backend.reader(), text, Filters(), Page(explain=explain, offset=offset))


# -- questions -------------------------------------------------------------------------------------------------


ANSWERED = {
    "When did Pavel want to water the greenhouse?": "garden",
    "Who ordered the valve for the irrigation?": "garden",
    "What time does the irrigation of the greenhouse begin?": "garden",
    "What did Olga say on 25 May, 2023 about watering tomatoes?": "garden",
    "What did Pavel promise to bring on 3rd October 2023?": "garden",
    "how did we stop the reconnect loop from hammering the server?": "program",
    "Why does the socket close while receiving large messages?": "program",
    "is there any session where the formatter broke the build server": "program",
}
UNANSWERED = (
    "Which hotel in Lisbon did we book?",
    "who decided to move the payroll service to kafka",
    "what did Miranda say about the zoning permit",
    "how many guests come to the wedding",
    "did the vet move the appointment for the dog?",
    "terraform eks cluster server",
    "tensorflow image classifier training",
    "wordpress gutenberg carousel parallax",
    "kubernetes ingress build",
)


def test_a_question_is_not_asked_in_the_words_of_its_answer(backend: StorageBackend) -> None:
    answers = {question: ask(backend, question) for question in ANSWERED}
    assert {question: answer.hits[0].session.id for question, answer in answers.items()} == ANSWERED
    assert [question for question, answer in answers.items() if answer.is_weak] == []


def test_a_question_about_something_else_has_a_weak_answer(backend: StorageBackend) -> None:
    answers = {question: ask(backend, question) for question in UNANSWERED}
    assert [question for question, answer in answers.items() if not answer.hits or not answer.is_weak] == []


def test_a_question_whose_name_is_missing_is_weak_unless_much_else_is_there(backend: StorageBackend) -> None:
    assert ask(backend, "Miranda tests").is_weak
    assert not ask(backend, "Miranda greenhouse irrigation sunrise").is_weak


def test_a_day_that_no_text_has_does_not_count(backend: StorageBackend) -> None:
    bare = ask(backend, "greenhouse ladder Miranda").confidence
    for when in ("25 May 2023", "May 25th, 2023", "on Monday", "in February", "2023-05-25", "1st of March"):
        assert ask(backend, f"greenhouse ladder Miranda {when}").confidence == pytest.approx(bare), when


def test_a_year_that_a_text_has_counts_like_any_word(backend: StorageBackend) -> None:
    assert ask(backend, "release notes 2025").confidence == pytest.approx(1.0)
    with_year = ask(backend, "2025 pangolin", explain=True)
    assert with_year.explanation is not None
    assert with_year.explanation.confidence is not None
    assert with_year.explanation.confidence.found == ("2025",)


# -- other shapes of queries -----------------------------------------------------------------------------------


TRUSTED = (
    "greenhouse",
    "Tomatoes!",
    "reconn*",
    "2025",
    "the",
    "to the",
    '"tomatoes dry out"',
    "the irrigation starts at six",
    "Olga: the tomatoes dry out by noon",
    "greenhouse OR pangolin",
    "pangolin OR greenhouse OR armadillo",
    "(pangolin armadillo zebu) OR (greenhouse irrigation)",
    "(greenhouse OR pangolin) AND sunrise",
    "+greenhouse +ladder",
    "ladder AND valve AND tomatoes",
)


def test_what_stands_there_is_trusted_fully_and_of_a_choice_one_side_is_enough(backend: StorageBackend) -> None:
    assert {query: ask(backend, query).confidence for query in TRUSTED} == pytest.approx(dict.fromkeys(TRUSTED, 1.0))


def test_a_respelled_word_is_trusted_less(backend: StorageBackend) -> None:
    single = ask(backend, "recieving")
    assert single.corrections
    assert (single.confidence, single.is_weak) == (pytest.approx(RESPELLED), False)
    assert not ask(backend, "recieving mesage bufer").is_weak
    # `grenhouse` is a misspelling, `bucket` is in no text, and neither is `pangolin`.
    assert ask(backend, "grenhouse pangolin bucket").is_weak


def test_a_rare_word_that_stands_there_is_trusted_although_others_resemble_it(backend: StorageBackend) -> None:
    with backend.writer() as writer:
        writer.replace(a_file("/s/x.jsonl"), list(a_session("the receivink of the valve", id="x")))
        writer.finish(synced_at=None)
    answer = ask(backend, "receivink")
    assert answer.hits[0].session.id == "x"
    assert answer.confidence == pytest.approx(1.0)


def test_words_in_different_passages_of_a_session_support_each_other(backend: StorageBackend) -> None:
    apart = ask(backend, "valve ladder sunrise pangolin")
    assert apart.hits[0].session.id == "garden"
    assert not apart.is_weak
    assert ask(backend, "valve pangolin armadillo zebu").is_weak, "one word of four"


def test_words_in_the_notes_count(in_memory: StorageBackend) -> None:
    assert ask(in_memory, "greenhouse wombat zucchini pangolin").is_weak
    with in_memory.writer() as writer:
        assert isinstance(writer, Annotating)
        writer.annotate("garden", Notes(name="", description="", summary="wombat and zucchini"))
    answer = ask(in_memory, "greenhouse wombat zucchini pangolin")
    assert not answer.is_weak
    assert answer.words_not_found == ["pangolin"]


def test_a_session_that_is_asked_for_by_its_id_is_trusted_fully(in_memory: StorageBackend) -> None:
    with in_memory.writer() as writer:
        writer.replace(a_file("/s/id.jsonl"), list(a_session("hello", id="0a1b2c3d-0000-4000-8000-000000000000")))
    answer = ask(in_memory, "0a1b2c3d", explain=True)
    assert (answer.confidence, answer.is_weak) == (1.0, False)
    assert answer.explanation is not None
    assert answer.explanation.confidence is None


def test_every_page_has_the_same_confidence(in_memory: StorageBackend) -> None:
    first, later = ask(in_memory, "build server pangolin"), ask(in_memory, "build server pangolin", offset=10)
    assert later.hits
    assert (later.confidence, later.is_weak) == (first.confidence, first.is_weak)


# -- the rule --------------------------------------------------------------------------------------------------

EVEN = [1.0] * 4


def test_the_share_is_weighted_by_rarity() -> None:
    weights = [math.log(99.5 / 1.5), math.log(90.5 / 10.5), math.log(100.5 / 0.5)]
    assert weigh(weights, [dict.fromkeys(range(3), 1.0)]).confidence == pytest.approx(1.0)
    assert weigh(weights, [{0: 1.0}]).share == pytest.approx(weights[0] / sum(weights))
    assert weigh(weights, [{}]).confidence == weigh(weights, []).confidence == weigh([], []).confidence == 0.0


def test_of_each_choice_the_side_that_is_contained_best_counts() -> None:
    def share(found: list[int], *choices: list[set[int]]) -> float:
        return weigh(EVEN, [dict.fromkeys(found, 1.0)], choices).share

    assert share([0], [{0}, {1}]) == pytest.approx(1 / 3)
    assert share([1, 2, 3], [{0}, {1}]) == pytest.approx(1.0)
    assert share([0], [{0, 1}, {2, 3}]) == pytest.approx(1 / 2)
    assert share([3], [{0}, {1}], [{0, 1, 2}, {3}]) == pytest.approx(1.0), "one choice inside of another"
    assert share([], [{0}, {1}]) == 0.0
    assert share([0], [set(), set()]) == pytest.approx(1 / 4), "beyond the words that are ranked"


def test_more_than_two_words_in_the_best_chunks_are_no_chance() -> None:
    weights = [1.0] * 10

    def judged(*chunks: dict[int, float]) -> Judgement:
        return weigh(weights, chunks)

    two, three = judged({0: 1.0, 1: 1.0}), judged({0: 1.0, 1: 1.0}, {1: 1.0, 2: 1.0})
    assert (two.share, three.share) == (pytest.approx(0.2), pytest.approx(0.2))
    assert (two.confidence, three.confidence) == (pytest.approx(0.2), pytest.approx(0.36))
    assert judged({0: 1.0}, {1: 1.0, 0: RESPELLED}).confidence == pytest.approx(0.1), "two, in two chunks"
    assert len(three.found) > CHANCE >= len(two.found)


def test_more_of_the_query_never_lowers_the_confidence() -> None:
    weights = [3.0, 1.0, 2.0, 0.5, 4.0]
    for found in range(2**5):
        inside = {place: 1.0 for place in range(5) if found >> place & 1}
        before = weigh(weights, [inside]).confidence
        assert 0 <= before <= 1
        for place in range(5):
            assert weigh(weights, [inside | {place: 1.0}]).confidence >= before - 1e-12


def test_words_that_say_when() -> None:
    for word in ("2023", "2023?", "2023-05-25", "25,", "3rd", "1st", "May", "august", "Sunday.", "(7)"):
        assert says_when(word), word
    for word in ("404", "v2", "3000", "8080", "1.2", "maybe", "mayor", "th", "", "-", "22-", "port", "2023a"):
        assert not says_when(word), word


def test_words_that_say_when_count_only_where_they_are_or_alone() -> None:
    assert weigh(EVEN, [{0: 1.0}], when={2, 3}).share == pytest.approx(1 / 2)
    assert weigh(EVEN, [{0: 1.0, 2: 1.0}], when={2, 3}).share == pytest.approx(2 / 3)
    alone = weigh([1.0, 1.0], [{}], when={0, 1})
    assert (alone.share, set(alone.ignored)) == (0.0, set())


# -- explained -------------------------------------------------------------------------------------------------


def test_the_explanation_says_what_was_found_and_what_does_not_count(in_memory: StorageBackend) -> None:
    answer = ask(in_memory, "grenhouse valve irrigation pangolin 2023", explain=True)
    assert answer.explanation is not None
    told = answer.explanation.confidence
    assert told is not None
    assert told.found == ("grenhouse", "valve", "irrigation")
    assert (told.respelled, told.missing, told.ignored) == (("grenhouse",), ("pangolin", "2023"), ("2023",))
    assert told.weak_below == WEAK_BELOW
    value = answer_json(answer)["explain"]["confidence"]
    assert value is not None
    assert value["share"] == round(told.share, 3)
    assert (value["missing"], value["weakBelow"]) == (["pangolin", "2023"], WEAK_BELOW)
    assert answer.confidence == pytest.approx(1 - (1 - told.share) ** 2)
    text = answer_text(answer, abbreviate=str)
    assert f"\n  confidence {answer.confidence:.2f} (weak below 0.36): " in text
    assert "missing: pangolin, 2023; not counted: 2023" in text


def test_an_answer_without_hits_has_no_confidence_to_explain(in_memory: StorageBackend) -> None:
    answer = ask(in_memory, "pangolin", explain=True)
    assert (answer.hits, answer.confidence, answer.is_weak) == ([], None, False)
    assert answer.explanation is not None
    assert answer_json(answer)["explain"]["confidence"] is None
