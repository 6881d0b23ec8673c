"""Which session a name means, and what is told of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Sesame, UnknownSessionError
from sesame_core.search.names import slug
from sesame_core.search.resolve import Reference

from ..support.transcripts import Claude, Pi, write

NIX = "01a0b03d-4300-7855-b6bd-70d8987fc91e"
BACKOFF = "d6bc0d35-ccec-43e4-a83f-b0efdb1ed801"
NIKKI = "日記アプリ: 二文字の単語の検索を直す"


@pytest.fixture
def resolve(demo_sessions: Path) -> Callable[..., Reference]:
    """What a reference means among the demo sessions."""
    with Sesame() as sesame:
        assert sesame.index().added

    def run(text: str, **options: Any) -> Reference:
        with Sesame() as sesame:
            (found,) = sesame.resolve([text], **options)
        return found

    return run


def title(found: Reference) -> str | None:
    return found.stored.session.title if found.stored else None


@pytest.mark.parametrize(
    ("text", "meant", "by"),
    [
        (NIX, NIX, "id"),
        ("d6bc0d35", BACKOFF, "id"),
        ("Simplify the nix flake infrastructure", NIX, "name"),
        ("simplify-the-nix-flake-INFRASTRUCTURE", NIX, "name"),
        ("simplify_the nix/flake: infrastructure!", NIX, "name"),
        ("nix", NIX, "likeness"),
        ("flake nix", NIX, "likeness"),
        ("nix-fla", NIX, "likeness"),
        ("simplfy-the-nix-flake-infrastructure", NIX, "likeness"),
        ("reconnectbackoff", BACKOFF, "likeness"),
        ("backoff", None, None),
        ("zorro", None, None),
        ("d6bc", BACKOFF, "id"),
        (BACKOFF.upper(), BACKOFF, "id"),
        ("@@simplify-the-nix-flake-infrastructure", NIX, "name"),
        ("@nix", NIX, "likeness"),
        ("`nix flake`", NIX, "likeness"),
    ],
)
def test_a_session_is_meant_by_its_id_its_name_or_what_is_like_it(
    text: str, meant: str | None, by: str | None, resolve: Callable[..., Reference]
) -> None:
    found = resolve(text)
    assert (found.stored.session.id if found.stored else None, found.by) == (meant, by)
    assert found.candidates == ()


def test_words_of_scripts_without_spaces_are_found_anywhere(resolve: Callable[..., Reference]) -> None:
    assert title(resolve("単語の検索")) == title(resolve(slug(NIKKI))) == NIKKI


def test_when_several_may_be_meant_none_is_and_each_is_told_with_what_refers_to_it(
    resolve: Callable[..., Reference],
) -> None:
    found = resolve("the")
    assert found.stored is found.by is None
    assert len(found.candidates) > 2
    for candidate in found.candidates:
        again = resolve(candidate.reference)
        assert again.stored is not None
        assert (again.stored.session.id, again.by) == (candidate.stored.session.id, "name")
    assert len(resolve("the", limit=2).candidates) == 2


def test_nothing_is_like_every_name_and_lists_the_last_active_first(resolve: Callable[..., Reference]) -> None:
    found = resolve("")
    assert found.stored is None
    assert found.candidates[0].stored.session.title == NIKKI
    assert all(candidate.stored.session.kind != "subagent" for candidate in found.candidates)
    assert resolve("!?").candidates == found.candidates


def test_a_session_that_is_left_out_is_not_meant(resolve: Callable[..., Reference]) -> None:
    assert resolve(NIX, exclude=[NIX]) == Reference(text=NIX)
    assert resolve("nix", exclude=[NIX]) == Reference(text="nix")


def test_sessions_of_one_name_are_told_apart_by_their_ids(cli: Callable[..., Any]) -> None:
    for number in (1, 2):
        pi = Pi(f"0199cccc-0000-7000-8000-00000000000{number}", "/w/a")
        write(pi.path, pi.header(), pi.entry("session_info", name="Fix the build"), pi.user("fix it"))
    with Sesame() as sesame:
        assert sesame.index().added == 2
        (found,) = sesame.resolve(["fix-the-build"])
        assert found.stored is None
        references = [candidate.reference for candidate in found.candidates]
        assert references == [f"0199cccc-0000-7000-8000-00000000000{number}" for number in (2, 1)]
        assert all(again.by == "id" for again in sesame.resolve(references))
        (found,) = sesame.resolve(["0199cccc"])
        assert [candidate.reference for candidate in found.candidates] == sorted(references)


def test_a_session_without_a_title_is_called_by_its_first_prompt_and_its_id(cli: Callable[..., Any]) -> None:
    claude = Claude()
    write(
        claude.path,
        claude.user("why does the gearbox rattle?"),
        claude.answer({"type": "text", "text": "a loose tooth"}),
    )
    with Sesame() as sesame:
        sesame.index()
        (found, every) = sesame.resolve(["gearbox rattle", ""])
        assert found.stored is not None
        assert found.stored.session.id == claude.session
        assert [candidate.reference for candidate in every.candidates] == [claude.session[:8]]


def test_a_question_takes_a_name_and_says_when_it_is_not_certain(
    resolve: Callable[..., Reference], cli: Callable[..., Any]
) -> None:
    assert cli("ask", "nix flake", "hosts", "--json").json["session"]["sessionId"] == NIX
    failed = cli("ask", "the", "hosts")
    assert failed.code == 1
    assert failed.err.startswith("sesame: 'the' may mean several sessions:\n  ")
    assert "simplify-the-nix-flake-infrastructure" in failed.err
    assert "no session has the id or name 'zorro'" in cli("ask", "zorro", "hosts").err
    with Sesame() as sesame:
        assert sesame.get_session("nix flake").session.id == NIX
        with pytest.raises(UnknownSessionError, match="'the' may mean several sessions"):
            sesame.get_session("the")


# -- the command ----------------------------------------------------------------------------------------------


def test_the_command_tells_what_sessions_are_about_within_its_budget(
    resolve: Callable[..., Reference], cli: Callable[..., Any]
) -> None:
    answer = cli("resolve", "--json", "--max-bytes", 1000, NIX, "the", "zorro", "d6bc0d35").json
    assert answer["index"]["refreshed"] is True
    assert [one["status"] for one in answer["references"]] == ["found", "ambiguous", "unknown", "found"]
    nix, the, zorro, backoff = answer["references"]
    assert nix["text"].startswith(f"Session {NIX} (Simplify the nix flake infrastructure)\n/home/ann/code/infra · pi")
    assert "#0 user: Our flake has grown to 900 lines" in nix["text"]
    assert " …\n" in backoff["text"]
    for one in (nix, backoff):
        assert 300 < len(one["text"].encode()) <= 500
        assert one["candidates"] == []
    assert (the["session"], the["text"], zorro["candidates"]) == (None, None, [])
    assert the["candidates"][0]["reference"]
    text = cli("resolve", "the", "zorro").out
    assert '"the" may mean one of these:\n  ' in text
    assert 'No session is called "zorro".' in text


def test_a_summary_is_told_first_and_leaves_room(cli: Callable[..., Any]) -> None:
    pi = Pi("0199cccc-0000-7000-8000-000000000001", "/w/a")
    compaction = {"summary": "the tooth was loose " * 500, "firstKeptEntryId": "0", "tokensBefore": 9000}
    asked = pi.user("fix the gearbox")
    write(pi.path, pi.header(), asked, pi.entry("compaction", **compaction), pi.user("and now?"))
    (one,) = cli("resolve", "gearbox", "--json", "--max-bytes", 2000).json["references"]
    assert "\n\nSummary: the tooth was loose the tooth" in one["text"]
    assert one["text"].endswith("user: and now?")
    assert 1000 < len(one["text"].encode()) <= 2000


def test_the_session_it_is_started_from_is_never_meant(
    resolve: Callable[..., Reference], cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PI_SESSION_ID", NIX)
    assert cli("resolve", "nix", "--json").json["references"][0]["status"] == "unknown"
    monkeypatch.delenv("PI_SESSION_ID")
    assert cli("resolve", "nix", "--json", "--exclude", NIX).json["references"][0]["status"] == "unknown"


def test_no_name_steers_the_terminal(cli: Callable[..., Any]) -> None:
    pi = Pi("0199cccc-0000-7000-8000-000000000001", "/w/a")
    write(pi.path, pi.header(), pi.entry("session_info", name="red \x1b[31malert"), pi.user("stop \x1b]0;title\x07 it"))
    for words in ((), ("red",)):
        out = cli("resolve", *words).out
        assert "red alert" in out
        assert "\x1b" not in out
        assert "\x07" not in out
