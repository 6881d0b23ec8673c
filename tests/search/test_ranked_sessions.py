"""Which of several sessions comes first."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from sesame_core import Sesame

from ..support.transcripts import START, Pi, found, pi_session, write


@pytest.mark.upstream(16)
@pytest.mark.usefixtures("filler")
@pytest.mark.usefixtures("filler")
def test_words_of_different_messages_meet_and_coverage_counts() -> None:
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


@pytest.mark.upstream(17)
@pytest.mark.usefixtures("filler")
def test_a_session_about_a_word_comes_before_tiny_calls_and_dumps() -> None:
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


@pytest.mark.upstream(18)
@pytest.mark.usefixtures("filler")
def test_several_passages_titles_and_recency_count() -> None:
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


@pytest.mark.upstream(22)
@pytest.mark.usefixtures("filler")
def test_scores_use_their_whole_range_and_tell_hits_apart(cli: Callable[..., Any]) -> None:
    pi_session("best", "the tawny frogmouth", "the tawny frogmouth again", "and once more the tawny frogmouth")
    pi_session("good", "a tawny frogmouth was seen near the house by a neighbour who told us")
    pi_session("weak", "the tawny port is empty and we need some more of it for the guests on Sunday")
    with Sesame() as sesame:
        sesame.index()
    scores = {r["sessionId"]: r["score"] for r in cli("search", "tawny", "frogmouth", "--json").json["results"]}
    assert scores["best"] > 0.9
    assert 0 < scores["weak"] < scores["good"] < scores["best"] <= 1
    assert scores["weak"] < 0.5
