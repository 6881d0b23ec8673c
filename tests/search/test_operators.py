"""What operators keep out, what the answer says of it, and the sessions that contain them as they were typed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sesame_core import Filters, Sesame
from sesame_core.query.operators import used
from sesame_core.query.parser import parse
from sesame_core.rendering.answers import answer_json, answer_text

from ..support.every_backend import BACKENDS, indexed
from ..support.transcripts import found

FRAMES = " ".join(f"at com.example.Frame{n}.run(Frame{n}.java:{n})" for n in range(40))
SESSIONS = {
    "sockets": ["the migration of the websocket", "nginx in front"],
    "plain": ["the migration of the database"],
    "typed": ["a migration -websocket excludes", "websocket again"],
    "lower": ["a migration, not websocket"],
    "verbose": ["mytool deploy -verbose prints more"],
    "talk": ["mytool deploy is verbose, it prints more and more"],
    "quiet": ["mytool deploy is quiet on all servers"],
    "mount": ["Widget host:db1 port:5432 is unreachable"],
    "column": ["missing column [zebra_stripe] in table [quagga]"],
    **{f"trace{n}": [f"IllegalStateException: Failed to load ApplicationContext {FRAMES}"] for n in range(4)},
}


@pytest.fixture(scope="module", params=BACKENDS)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sesame]:
    with indexed(request, tmp_path_factory.mktemp("operators"), SESSIONS) as sesame:
        yield sesame


def test_an_exclusion_says_how_many_sessions_it_left_out_and_how_to_find_the_text(library: Sesame) -> None:
    answer = library.search("migration -nginx")
    assert set(found(answer)) == {"plain", "typed", "lower"}
    assert answer.left_out == {"operators": 1}
    assert answer.hints == ('1 session left out by -nginx; to find it as text: "-nginx"',)
    text = answer_text(answer, abbreviate=str)
    assert text.endswith('\n\nNote: 1 session left out by -nginx; to find it as text: "-nginx"'), "and no --all-kinds"
    value = answer_json(answer)
    assert (value["leftOut"], value["hints"]) == (answer.left_out, list(answer.hints))


def test_an_exclusion_leaves_out_no_session_in_which_it_stands_as_typed(library: Sesame) -> None:
    answer = library.search("migration -websocket")
    assert set(found(answer)) == {"plain", "typed"}
    assert answer.total == 2
    assert answer.left_out == {"operators": 2}
    assert answer.hints[0] == "-websocket stands so in 1 of the sessions, which is not left out"
    answer = library.search("migration NOT websocket")
    assert set(found(answer)) == {"plain", "lower"}


def test_what_stands_as_typed_comes_first(library: Sesame) -> None:
    answer = library.search("mytool deploy -verbose")
    assert found(answer)[0] == "verbose"
    assert set(found(answer)) == {"verbose", "quiet"}
    assert found(library.search("-verbose"))[0] == "verbose"


@pytest.mark.parametrize("query", ["-nginx", "NOT (nginx OR websocket) migration", "migration -(nginx websocket)"])
def test_a_list_and_a_group_are_told_too(query: str, library: Sesame) -> None:
    answer = library.search(query)
    assert answer.left_out["operators"] >= 1
    assert "left out by" in answer.hints[0]
    assert "sockets" not in found(answer)


def test_and_says_how_many_sessions_have_one_side_only(library: Sesame) -> None:
    answer = library.search("migration AND nginx")
    assert found(answer) == ["sockets"]
    assert answer.left_out == {"operators": 3}
    assert answer.hints[0].startswith("3 sessions left out by AND")


@pytest.mark.parametrize(
    "query",
    ["migration websocket", "migration OR nginx", "+migration nginx", '"the migration"', "migration -agent:pi", "*"],
)
def test_what_leaves_nothing_out_because_of_words_is_not_told(query: str, library: Sesame) -> None:
    answer = library.search(query)
    assert answer.hits
    assert (answer.left_out, answer.hints) == ({}, ())


def test_an_exclusion_that_leaves_nothing_out_is_not_told(library: Sesame) -> None:
    answer = library.search("migration -unicorn")
    assert len(answer.hits) == 4
    assert (answer.left_out, answer.hints) == ({}, ())


def test_filters_hold_for_what_is_counted_and_what_stands_as_typed(library: Sesame) -> None:
    answer = library.search("migration -websocket", Filters(agents=("pi",)))
    assert (answer.hits, answer.left_out.get("operators")) == ([], None)
    answer = library.search("migration -websocket agent:owl")
    assert set(found(answer)) == {"plain", "typed"}


def test_a_field_that_no_session_meets_is_text_where_it_stands_so_beside_the_same_word(library: Sesame) -> None:
    answer = library.search("Widget host:db1 port:5432 unreachable")
    assert found(answer)[0] == "mount"
    assert answer.hints == ("Widget host:db1 was read as text: no session matches with it as a filter",)
    assert found(library.search("unreachable host:db1")) == [], "it stands beside another word"
    assert found(library.search("unreachable", Filters(host="db1"))) == [], "an option is never text"


def test_of_a_long_text_the_rarest_words_are_searched_and_not_the_first(library: Sesame) -> None:
    text = f"IllegalStateException: Failed to load ApplicationContext {FRAMES} Caused by: missing column [zebra_stripe]"
    answer = library.search(f"{text} in table [quagga]", limit=2)
    assert "column" in found(answer)
    assert answer.hints == (
        "19 of 51 words were not searched for: the 32 rarest were",
        "An error: for what was done after it: sesame fix ERROR",
    )
    assert len(answer.query.words) == 32
    assert len(answer_text(answer, abbreviate=str).splitlines()[0]) < 150
    value = answer_json(answer)
    assert len(value["query"]) == 1_000
    assert value["query"].endswith("…")


def test_words_that_are_nowhere_do_not_fill_an_answer(library: Sesame) -> None:
    value = answer_json(library.search(" ".join(f"{'nowhere' * 50}{n}" for n in range(300))))
    assert len(value["wordsNotFound"]) == 32
    assert max(map(len, value["wordsNotFound"])) == 100
    value = answer_json(library.search(f"migration -({'x' * 900} {'y' * 900} nginx)"))
    assert max(map(len, value["hints"])) <= 400


@pytest.mark.parametrize(
    ("query", "typed"),
    [
        ("fox -dog", ("-dog",)),
        ("fox NOT dog", ("NOT dog",)),
        ("fox NOT  -dog cow", ()),
        ('fox -"lazy dog"', ('-"lazy dog"',)),
        ("fox -(dog AND (cat)) x", ("-(dog AND (cat))",)),
        ("fox NOT (dog OR cat", ("NOT (dog OR cat",)),
        ("fox -dog NOT cow", ("-dog", "NOT cow")),
        ("fox AND dog", ("AND",)),
        ("fox -... AND dog", ("AND",)),
        ("fox -agent:pi", ()),
        ("fox dog", ()),
    ],
)
def test_operators_are_told_as_typed(query: str, typed: tuple[str, ...]) -> None:
    found_operators = used(parse(query))
    assert (found_operators.typed if found_operators else ()) == typed
