"""§4.2 of the list of upstream's weaknesses: what is found, in which order, and how it is shown."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from sesame_core import Filters, Sesame

from ..support.transcripts import START, Pi, found, pi_session, write


@pytest.fixture
def filler() -> None:
    """Sessions about other things, so that words have the rarity they have in a real index."""
    for number in range(12):
        pi_session(f"filler{number}", f"chore number {number}: tidy the garden", "water the beans", "and the peas")


@pytest.mark.usefixtures("filler")
@pytest.mark.usefixtures("filler")
def test_weakness_16_words_of_different_messages_meet_and_coverage_counts() -> None:
    pi_session("apart", "the platypus swims", "a word in between", "the dingo howls")
    pi_session("one word", "only a numbat here")
    pi_session("three words", "the wallaby, the quoll and the bettong share a burrow")
    pi_session("another wallaby", "one more wallaby")
    pi_session("another quoll", "one more quoll")
    pi_session("another bettong", "one more bettong")
    with Sesame() as sesame:
        sesame.index()
        assert found(sesame.search("platypus dingo")) == ["apart"]
        assert found(sesame.search("wallaby quoll bettong numbat"))[0] == "three words"
        # A session that has every word does not hide those that have some.
        assert {"three words", "one word"} < set(found(sesame.search("wallaby numbat")))


@pytest.mark.usefixtures("filler")
def test_weakness_17_a_session_about_a_word_comes_before_tiny_calls_and_dumps() -> None:
    about = Pi("about")
    write(
        about.path,
        about.header(),
        about.user("our redis cache evicts keys too early, please find out why and fix the redis settings"),
        about.answer("The redis maxmemory policy evicts keys before they expire; I change the policy to volatile-ttl."),
    )
    grep = Pi("grep")
    write(grep.path, grep.header(), grep.user("look around"), grep.call("grep", pattern="redis"))
    dump = Pi("dump")
    packages = "\n".join(["openssl", "nginx", "redis", "postgresql", "curl"])
    write(dump.path, dump.header(), dump.user("list the packages"), dump.result(packages))
    with Sesame() as sesame:
        sesame.index()
        assert found(sesame.search("redis"))[0] == "about"


@pytest.mark.usefixtures("filler")
def test_weakness_18_several_passages_titles_and_recency_count() -> None:
    pi_session("once", "the lyrebird imitates a chainsaw")
    pi_session("thrice", "the lyrebird imitates a camera", "the lyrebird imitates a bell", "the lyrebird imitates you")
    with Sesame() as sesame:
        sesame.index()
        assert found(sesame.search("lyrebird")) == ["thrice", "once"]

    titled = Pi("titled")
    write(
        titled.path,
        titled.header(),
        titled.user("hello there"),
        titled.entry("session_info", name="Teach the cockatoo"),
        *(titled.answer(f"step {number}") for number in range(3)),
    )
    untitled = Pi("untitled")
    write(
        untitled.path,
        untitled.header(),
        untitled.user("hello there"),
        *(untitled.answer(f"step {number}") for number in range(3)),
        untitled.answer("Teach the cockatoo"),
    )
    with Sesame() as sesame:
        sesame.index()
        assert found(sesame.search("cockatoo")) == ["titled", "untitled"]

    for days, name in ((3, "newest"), (1, "oldest"), (2, "middle")):
        pi_session(name, "the same old emu", start=START + timedelta(days=days))
    with Sesame() as sesame:
        sesame.index()
        assert found(sesame.search("emu")) == ["newest", "middle", "oldest"]


@pytest.mark.usefixtures("filler")
def test_weakness_19_forks_are_one_hit_with_copies(cli: Callable[..., Any]) -> None:
    original = Pi("original")
    copied = [original.user("teach the corella to dance"), original.answer("It dances now.")]
    write(original.path, original.header(), *copied)
    for number in range(3):
        fork = Pi(f"fork{number}")
        own = fork.user(f"variation {number}")
        write(fork.path, fork.header(parentSession=str(original.path)), *copied, own)
    with Sesame() as sesame:
        sesame.index()
        answer = sesame.search("corella dance")
        (hit,) = answer.hits
        assert answer.total == 1
        ids = {hit.session.id, *(session_id for session_id, _ in hit.copies)}
        assert ids == {"original", "fork0", "fork1", "fork2"}
        assert found(sesame.search("variation 2"))[0] == "fork2"
    assert "also in 3 copies" in cli("search", "corella", "dance").out


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("call getUserName first", "user"),
        ("call getUserName first", "getUserName"),
        ("an HTTPServerError appeared", "server"),
        ("the authentication fails", "auth*"),
        ("全文検索を実装する", "検索"),
        ("全文検索を実装する", "全文検索"),
        ("全文検索を実装する", "索"),
        ("서버를 다시 시작", "서버"),
    ],
)
@pytest.mark.usefixtures("filler")
def test_weakness_20_parts_of_names_prefixes_and_words_of_scripts_without_spaces_are_found(
    text: str, query: str
) -> None:
    pi_session("wanted", text)
    with Sesame() as sesame:
        sesame.index()
        assert found(sesame.search(query)) == ["wanted"]


@pytest.mark.usefixtures("filler")
def test_weakness_21_phrases_exclusion_requirement_prefix_and_queries_that_begin_with_a_dash(
    cli: Callable[..., Any],
) -> None:
    pi_session("phrase", "the exact phrase stands here")
    pi_session("apart", "the phrase is not so exact")
    pi_session("option", "run it with --prune --map please")
    with Sesame() as sesame:
        sesame.index()
        assert found(sesame.search('"exact phrase"')) == ["phrase"]
        assert found(sesame.search('"phrase exact"')) == []
        assert set(found(sesame.search("exact phrase"))) == {"phrase", "apart"}
        assert found(sesame.search("phrase -stands")) == ["apart"]
        assert found(sesame.search("phrase +stands")) == ["phrase"]
        assert found(sesame.search("stan*")) == ["phrase"]
    for arguments in (("--", "--prune", "--map"), ("--prune --map",)):
        done = cli("search", "--json", *arguments)
        assert [result["sessionId"] for result in done.json["results"]] == ["option"], done.err


@pytest.mark.usefixtures("filler")
def test_weakness_22_scores_use_their_whole_range_and_tell_hits_apart(cli: Callable[..., Any]) -> None:
    pi_session("best", "the tawny frogmouth", "the tawny frogmouth again", "and once more the tawny frogmouth")
    pi_session("good", "a tawny frogmouth was seen near the house by a neighbour who told us")
    pi_session("weak", "the tawny port is empty and we need some more of it for the guests on Sunday")
    with Sesame() as sesame:
        sesame.index()
    scores = {r["sessionId"]: r["score"] for r in cli("search", "tawny", "frogmouth", "--json").json["results"]}
    assert scores["best"] > 0.9
    assert 0 < scores["weak"] < scores["good"] < scores["best"] <= 1
    assert scores["weak"] < 0.5


@pytest.mark.usefixtures("filler")
def test_weakness_23_a_snippet_is_one_marked_line_with_role_and_position(cli: Callable[..., Any]) -> None:
    pi = Pi("snippet")
    long = "word " * 200
    write(pi.path, pi.header(), pi.user("first"), pi.answer(f"{long}\n\nthe kestrel\nhovers over the field\n\n{long}"))
    with Sesame() as sesame:
        sesame.index()
        (hit,) = sesame.search("kestrel hover").hits
    snippet = hit.snippet
    assert [snippet.text[start:end] for start, end in snippet.marks] == ["kestrel", "hovers"]
    assert "the kestrel hovers over the field" in snippet.text
    (result,) = cli("search", "kestrel", "hover", "--json").json["results"]
    assert (result["matchedRole"], result["matchedPosition"], result["matchedType"]) == ("assistant", 1, "message")
    assert result["matchedEntryId"]
    shown = cli("search", "kestrel").out
    assert '"…' in shown
    assert "Found 1 session" in shown
    around = cli("show", "snippet", "--around", str(result["matchedPosition"])).out
    assert "→1 assistant" in around


def test_weakness_24_abandoned_branches_are_marked(cli: Callable[..., Any]) -> None:
    pi = Pi("branches")
    first = pi.user("where shall we go")
    fork_point = pi.last
    dead = [pi.user("follow the currawong"), pi.answer("It leads nowhere.")]
    pi.last = fork_point
    live = [pi.user("follow the magpie"), pi.answer("It leads home.")]
    write(pi.path, pi.header(), first, *dead, *live)
    with Sesame() as sesame:
        sesame.index()
        (dead_hit,), (live_hit,) = sesame.search("currawong").hits, sesame.search("magpie").hits
        assert (dead_hit.is_abandoned, live_hit.is_abandoned) == (True, False)
    assert "on an abandoned branch" in cli("search", "currawong").out
    assert "abandoned" not in cli("search", "magpie").out
    assert cli("search", "currawong", "--json").json["results"][0]["onAbandonedBranch"] is True
    assert "user abandoned" in cli("show", "branches").out

    failed = Pi("failed")
    result = failed.result("make: nothing to be done for jabiru")
    result["message"]["isError"] = True
    write(failed.path, failed.header(), failed.user("build"), failed.call("bash", command="make jabiru"), result)
    with Sesame() as sesame:
        sesame.index()
        # Failure is known per result; a filter on it comes with the query language.
        assert [c.is_error for c in sesame.list_messages("failed") if c.kind == "tool_result"] == [True]
        assert found(sesame.search("jabiru", Filters(tools_only=True))) == ["failed"]
