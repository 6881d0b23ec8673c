"""The second passage of a hit: what answers the best one, or what that answers."""

from __future__ import annotations

from typing import Any

import pytest

from sesame_core import Filters, Sesame
from sesame_core.plugin.backend import Turns
from sesame_core.search.sides import closings

from ..support.transcripts import Claude, Pi, write

FILLER = "The weather is fine and the train is on time. "


def passages(query: str, filters: Filters | None = None, **wanted: Any) -> list[tuple[int, str]]:
    """Return position and text of the passages of the only hit."""
    with Sesame() as sesame:
        sesame.index()
        (hit,) = sesame.search(query, filters, **{"passages": 2, **wanted}).hits
        return [(passage.chunk.seq, passage.snippet.text) for passage in hit.passages]


def failed(pi: Pi, text: str) -> dict[str, Any]:
    record: dict[str, Any] = pi.result(text)
    record["message"]["isError"] = True
    return record


def test_a_prompt_is_followed_by_the_message_that_closes_its_turn(home: object) -> None:
    pi = Pi()
    write(
        pi.path,
        pi.header(),
        pi.user("the quokka importer drops every second row"),
        pi.answer("Let me look at the quokka importer."),
        pi.call("bash", command="grep -rn quokka"),
        pi.result("quokka.py:12"),
        pi.answer("Fixed: the loop advanced its counter twice."),
        pi.user("thanks"),
        pi.answer("You are welcome."),
    )
    assert passages("quokka importer drops row") == [
        (0, "the quokka importer drops every second row"),
        (4, "Fixed: the loop advanced its counter twice."),
    ]


def test_an_error_is_followed_by_what_fixed_it(home: object) -> None:
    pi = Pi()
    write(
        pi.path,
        pi.header(),
        pi.user("build it"),
        pi.call("bash", command="make"),
        failed(pi, "E4711: undefined symbol wombat_init"),
        pi.call("edit", path="a.c"),
        pi.result("ok"),
        pi.answer("It builds now: the library was not linked."),
    )
    assert [position for position, _ in passages("E4711 wombat_init")] == [2, 5]


def test_what_the_agent_says_on_its_way_is_followed_by_its_conclusion(home: object) -> None:
    pi = Pi()
    write(
        pi.path,
        pi.header(),
        pi.user("why is it slow"),
        pi.answer("The numbat cache may be cold."),
        pi.call("bash", command="time ./run"),
        pi.result("3 s"),
        pi.answer("It was the DNS lookup."),
    )
    assert [position for position, _ in passages("numbat cache cold")] == [1, 4]


def test_an_answer_is_followed_by_the_prompt_that_states_the_problem(home: object) -> None:
    pi = Pi()
    answer = pi.answer("The bilby queue overflows since the bilby limit is 10; bilby limit is 100 now.")
    write(pi.path, pi.header(), pi.user("the bilby jobs get lost"), answer)
    assert [position for position, _ in passages("bilby queue limit overflows")] == [1, 0]


def test_an_interrupted_turn_is_answered_by_the_next_one(home: object) -> None:
    claude = Claude()
    write(
        claude.path,
        claude.user("the potoroo test hangs"),
        claude.answer("I look."),
        claude.call("Bash", command="pytest"),
        claude.user("no, not all of them"),
        claude.answer("It waits for a lock that nobody releases."),
        claude.user("good"),
    )
    (_, first), (_, second) = passages("potoroo test hangs")
    assert (first, second) == ("the potoroo test hangs", "It waits for a lock that nobody releases.")


def test_a_session_without_an_answer_has_its_best_passages(home: object) -> None:
    pi = Pi()
    write(pi.path, pi.header(), pi.user("the dunnart lamp"), pi.call("bash", command="echo dunnart"))
    assert [position for position, _ in passages("dunnart lamp")] == [0, 1]


def test_the_rest_follows_by_rank_and_no_passage_comes_twice(home: object) -> None:
    pi = Pi()
    texts = [pi.user(f"kowari {n} " + FILLER * n) for n in range(4)]
    write(pi.path, pi.header(), *texts, pi.answer("kowari: done"))
    found = [position for position, _ in passages("kowari", passages=4)]
    assert len(found) == len(set(found)) == 4
    assert 4 in found[:2]


@pytest.mark.parametrize("filters", [Filters(role="user"), Filters(tool="bash"), Filters(tools_only=True)])
def test_a_search_of_one_role_or_of_calls_shows_nothing_else(filters: Filters, home: object) -> None:
    pi = Pi()
    write(pi.path, pi.header(), pi.user("quoll"), pi.call("bash", command="quoll"), pi.result("quoll"), pi.answer("no"))
    assert 3 not in [position for position, _ in passages("quoll", filters, passages=5)]


def test_one_passage_is_the_best_one(home: object) -> None:
    pi = Pi()
    write(pi.path, pi.header(), pi.user("the quokka"), pi.answer("gone"))
    assert [position for position, _ in passages("quokka", passages=1)] == [0]


def test_a_long_answer_is_shown_from_its_beginning_and_a_long_match_where_its_words_are(home: object) -> None:
    pi = Pi()
    write(
        pi.path,
        pi.header(),
        pi.user(FILLER * 60 + "the quokka importer drops rows" + FILLER * 60),
        pi.answer("Fixed. " + FILLER * 60 + "quokka"),
    )
    (_, problem), (_, solution) = passages("quokka importer drops rows", passage_bytes=1024)
    assert "the quokka importer drops rows" in problem
    assert problem.startswith("…")
    assert problem.endswith("…")
    assert solution.startswith("Fixed. The weather")
    assert 900 < len(problem.encode()) <= 1024
    assert 900 < len(solution.encode()) <= 1024


@pytest.mark.parametrize("text", ["日本語の文章です。" * 200, "🦊 fox 🦊 " * 300, "é" * 3000, "fox\n\n\t" * 900])
def test_a_passage_keeps_to_its_bytes_in_every_script(text: str, home: object) -> None:
    pi = Pi()
    write(pi.path, pi.header(), pi.user(f"numbat {text}"), pi.answer(text))
    for _, shown in passages("numbat", passage_bytes=1024):
        assert 600 < len(shown.encode()) <= 1024


def test_a_passage_of_no_bytes_has_its_place_alone(home: object) -> None:
    pi = Pi()
    write(pi.path, pi.header(), pi.user("numbat"), pi.answer("It eats termites, as every numbat does."))
    places = [position for position, _ in passages("numbat")]
    assert passages("numbat", passage_bytes=0) == [(position, "") for position in places]
    assert len(places) == 2


def test_an_index_that_knows_no_turns_answers_alike(home: object) -> None:
    pi = Pi()
    calls = [record for n in range(70) for record in (pi.call("bash", command=f"echo {n}"), pi.result("ok"))]
    write(
        pi.path, pi.header(), pi.user("a"), pi.answer("b"), *calls, pi.answer("c"), pi.user("d"), *calls, pi.user("e")
    )
    with Sesame() as sesame:
        sesame.index()
        reader = sesame._index.reader()
        assert isinstance(reader, Turns)
        (stored,) = reader.find_sessions(pi.session)
        places = [(stored.number, position) for position in range(stored.chunk_count + 1)]

        class Plain:
            chunks = staticmethod(reader.chunks)

        plain: Any = Plain()
        assert closings(plain, places) == closings(reader, places)
        assert set(closings(reader, places)) == {142, None}
