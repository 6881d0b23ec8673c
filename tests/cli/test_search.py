"""The command line, as people and programs meet it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core.integration.environment import VARIABLES

from .terminal import NIX, SETTINGS, pi_session

pytestmark = pytest.mark.usefixtures("backend")

#: Fields of seed 000: other programs read them.
SEED_ANSWER = ("query", "resultCount", "results")


SEED_RESULT = ("sessionId", "source", "path", "cwd", "name", "score", "created", "matchedSnippet")


def test_search_has_the_layout_people_know(indexed: Path, cli: Callable[..., Any]) -> None:
    ran = cli("search", "publish", "job", "release", "workflow")
    assert (ran.code, ran.err) == (0, "")
    head, _, title, place, snippet, *_ = ran.out.splitlines()
    assert head == 'Found 2 sessions matching "publish job release workflow"'
    assert title == "  [1.00] 01a06653:0 (Fix the flaky publish job in the release workflow) - 2026-09-03"
    assert place == "         /home/ann/code/lantern-cli · pi"
    assert re.fullmatch(r'         ".*publish job .*release workflow.*"', snippet)


def test_search_has_the_json_fields_programs_know(indexed: Path, cli: Callable[..., Any]) -> None:
    answer = json.loads(cli("search", "--json", "nix", "infrastructure", "simplify").out)
    assert set(SEED_ANSWER) <= answer.keys()
    assert (answer["query"], answer["resultCount"], answer["schemaVersion"]) == ("nix infrastructure simplify", 1, 1)
    (result,) = answer["results"]
    assert set(SEED_RESULT) <= result.keys()
    assert "nix infrastructure" in result["matchedSnippet"]
    assert {name: result[name] for name in SEED_RESULT if name not in ("path", "score", "matchedSnippet")} == {
        "sessionId": NIX,
        "source": "pi",
        "cwd": "/home/ann/code/infra",
        "name": "Simplify the nix flake infrastructure",
        "created": "2026-09-17T16:40:00.000Z",
    }
    assert Path(result["path"]).is_file()
    assert result["score"] == 1.0
    assert (answer["total"], answer["weak"], answer["wordsNotFound"], answer["mode"]) == (1, False, [], "search")
    index = answer["index"]
    assert index.pop("lastSync").endswith("Z")
    assert [(source["parser"], source["changed"]) for source in index.pop("sources")] == [("claude-code", 0), ("pi", 0)]
    told = {"refreshed": True, "reason": None, "changed": 0, "pending": 0, "errors": 0, "unreadable": 0}
    assert index == {**told, "notScanned": 0, "scannedAt": None, "notSearched": [], "unrecognised": 0}


def test_words_need_no_quotes_and_quotes_change_nothing(indexed: Path, cli: Callable[..., Any]) -> None:
    apart = json.loads(cli("search", "--json", "nix", "flake").out)
    together = json.loads(cli("search", "--json", "nix flake").out)
    assert apart == together
    assert apart["resultCount"] >= 1


@pytest.mark.parametrize("query", [(), ("*",), ("",)], ids=["nothing", "a star", "an empty word"])
def test_without_words_the_latest_sessions_are_listed(
    query: tuple[str, ...], indexed: Path, cli: Callable[..., Any]
) -> None:
    lines = cli("search", "--limit", 2, *query).out.splitlines()
    assert lines[0] == "Latest 2 of 9 sessions"
    assert lines[2] == "  01a1abe6 (日記アプリ: 二文字の単語の検索を直す) - 2026-11-05"
    answer = json.loads(cli("search", "--json", *query).out)
    assert (answer["query"], answer["mode"], answer["resultCount"]) == ("*", "browse", 9)
    days = [result["modified"] for result in answer["results"]]
    assert days == sorted(days, reverse=True)


def test_a_named_session_without_words_is_listed_with_its_first_prompt(indexed: Path, cli: Callable[..., Any]) -> None:
    (listed,) = [one for one in cli("search", "--json").json["results"] if one["sessionId"] == NIX]
    assert listed["name"] == "Simplify the nix flake infrastructure"
    assert listed["matchedSnippet"].startswith("Our flake has grown to 900 lines")


@pytest.mark.sqlite_only
def test_search_before_the_first_index_indexes_and_finds(demo_sessions: Path, cli: Callable[..., Any]) -> None:
    config = demo_sessions / ".config" / "sesame" / "config.jsonc"
    config.parent.mkdir(parents=True)
    config.write_text('{"refreshSeconds": 60}')
    ran = cli("search", "nix", "flake")
    assert ran.code == 0
    assert f"{NIX[:8]}:1 (Simplify the nix flake infrastructure)" in ran.out


def test_search_before_the_first_index_without_refresh_finds_nothing_and_writes_nothing(
    demo_sessions: Path, cli: Callable[..., Any]
) -> None:
    cli("workstations", "--prepare")  # by the owner of a shared index; others need none
    ran = cli("search", "--no-refresh", "nix")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[0] == 'No sessions found matching "nix"'
    data = demo_sessions / ".local" / "share" / "sesame"
    assert [file.name for file in data.rglob("*")] == (
        [] if not (data / "audiences.json").exists() else ["audiences.json"]
    )


def test_search_sees_what_changed_and_with_no_refresh_it_does_not(indexed: Path, cli: Callable[..., Any]) -> None:
    pi_session(indexed / ".pi" / "agent" / "sessions" / "--w-den--" / "new.jsonl", "where do pangolins sleep")
    assert "No sessions found" in cli("search", "--no-refresh", "pangolins").out
    assert "Found 1 session" in cli("search", "pangolins").out


def test_an_answer_says_how_weak_it_is_and_which_words_are_nowhere(indexed: Path, cli: Callable[..., Any]) -> None:
    out = cli("search", "flake", "pangolin", "armadillo").out
    assert "Weak match: no passage of the best session has most of these words." in out
    assert "Not found as a word: pangolin, armadillo" in out
    answer = json.loads(cli("search", "--json", "flake", "pangolin", "armadillo").out)
    assert (answer["weak"], answer["wordsNotFound"]) == (True, ["pangolin", "armadillo"])


def test_headless_sessions_are_left_out_reported_and_shown_on_demand(indexed: Path, cli: Callable[..., Any]) -> None:
    every = json.loads(cli("search", "--json", "--all-kinds").out)
    headless = [result for result in every["results"] if result["kind"] == "headless"]
    assert len(headless) == 1
    usual = json.loads(cli("search", "--json", "changelog", "tests").out)
    assert headless[0]["sessionId"] not in {result["sessionId"] for result in usual["results"]}
    assert usual["leftOut"] == {"headless": 1}
    assert "Left out: 1 headless run (show it with --all-kinds)" in cli("search", "changelog", "tests").out
    alone = cli("search", "MQTT").out
    assert "Nothing else matched, so headless runs are shown." in alone


def test_filters_narrow_the_answer(indexed: Path, cli: Callable[..., Any]) -> None:
    def found(*options: str) -> set[str]:
        answer = json.loads(cli("search", "--json", "--limit", 50, *options).out)
        return {str(result["sessionId"])[:8] for result in answer["results"]}

    assert found("--cwd", "/home/ann/code/infra") == {NIX[:8]}
    assert found("--cwd", "/home/ann/code/inf") == set()
    assert found("--agent", "pi", "orders") < found("orders")
    assert found("--agent", "pi", "--agent", "claude-code") == found()
    assert found("--after", "2026-10-15", "--before", "2026-10-21") == {"01a15fe9"}
    assert found("--before", "2026-09-03") == {"01a06653"}
    assert found("--path", "src/socket.ts") == {SETTINGS[:8]}
    assert found("--exclude", NIX[:8]) == found() - {NIX[:8]}
    assert found("--exclude", "nosuchid") == found()
    assert found("--tool", "grep", "flake") == {NIX[:8]}
    assert found("--tools", "carousel", "website") == {"71985eb1"}


@pytest.mark.parametrize("variable", VARIABLES)
def test_the_session_a_search_was_started_from_is_left_out_reported_and_found_on_demand(
    variable: str, indexed: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, SETTINGS)
    answer = cli("search", "reconnect", "backoff", "--json").json
    assert answer["currentSessions"] == [SETTINGS]
    assert SETTINGS not in [result["sessionId"] for result in answer["results"]]
    note = f"Not searched: the session this was started from, {SETTINGS} (search it with --include-current)"
    assert cli("search", "reconnect", "backoff").out.endswith(note + "\n")
    answer = cli("search", "reconnect", "backoff", "--include-current", "--json").json
    assert (answer["currentSessions"], answer["results"][0]["sessionId"]) == ([], SETTINGS)
    assert "Not searched" not in cli("search", "reconnect", "backoff", "--include-current").out


def test_a_list_by_a_filter_shows_what_passed_it(indexed: Path, cli: Callable[..., Any]) -> None:
    def shown(*arguments: str) -> list[str]:
        return [result["matchedSnippet"] for result in cli("search", *arguments, "--json").json["results"]]

    commands = shown("--cmd", "npm test")
    assert commands == shown('cmd:"npm test"')
    assert all("npm test" in command for command in commands)
    assert {command[:2] for command in commands} == {"$ "}
    assert ["src/socket.ts" in call for call in shown("--path", "src/socket.ts")] == [True]
    assert all("error" in failure.lower() or "fail" in failure.lower() for failure in shown("is:error", "tool:bash"))
    assert shown("--tool", "grep")
    assert shown("--role", "user") == shown("role:user")


def test_limit_counts_results_and_the_total_is_reported(indexed: Path, cli: Callable[..., Any]) -> None:
    out = cli("search", "-n", 1, "orders", "index").out
    assert re.match(r'1 best of \d sessions with any word of "orders index"\n', out)
    assert out.count("  [") == 1


def test_a_cwd_may_be_relative(indexed: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    place = indexed / "den"
    place.mkdir()
    file = pi_session(indexed / ".pi" / "agent" / "sessions" / "--w-den--" / "new.jsonl", "foxes")
    file.write_text(file.read_text("utf-8").replace("/w/den", str(place)), encoding="utf-8")
    monkeypatch.chdir(place)
    assert "Found 1 session" in cli("search", "--cwd", ".", "foxes").out
    monkeypatch.chdir(indexed)
    assert "Found 1 session" in cli("search", "--cwd", "~/den", "foxes").out


@pytest.mark.parametrize("option", ["--after", "--before"])
@pytest.mark.parametrize("date", ["soon", "2026-13-01", "7x", "9999y"])
def test_a_date_that_is_none_is_wrong_usage_and_the_answer_shows_how(
    option: str, date: str, cli: Callable[..., Any]
) -> None:
    ran = cli("search", "fox", option, date)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("sesame: ")
    assert "use a day (2026-11-27), a time (2026-11-27T14:30, yesterday 15:00), today, yesterday" in ran.err


@pytest.mark.parametrize("date", ["today", "yesterday", "now", "24h", "7d", "2w", "1m", "1y", "2026-01-01T12:00"])
def test_a_date_is_taken_in_every_documented_form(date: str, indexed: Path, cli: Callable[..., Any]) -> None:
    assert cli("search", "fox", "--after", date, "--before", date).code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("--", "--prune", "flake"),
        ("--prune flake",),
        ("--prune flake", "--limit", "3"),
        ("--limit", "3", "--no-refresh", "--", "-carousel", "flake"),
    ],
)
def test_a_query_may_begin_with_a_dash(arguments: tuple[str, ...], indexed: Path, cli: Callable[..., Any]) -> None:
    ran = cli("search", *arguments)
    assert (ran.code, ran.err) == (0, "")
    assert "essions matching" in ran.out or "1 session matching" in ran.out


def test_an_excluded_word_needs_no_quotes_either(indexed: Path, cli: Callable[..., Any]) -> None:
    def found(*words: str) -> set[str]:
        return {result["sessionId"] for result in json.loads(cli("search", "--json", *words).out)["results"]}

    assert NIX in found("flake", "carousel")
    assert NIX not in found("flake", "carousel", "-nix")
    assert found("-nix", "carousel", "-n5") == found("carousel", "--limit", "5", "-nix")


@pytest.mark.parametrize(
    "query", ['"', "((", "AND", "-", "--", "a:b", "NEAR(x", "*", "'; DROP TABLE chunks", "\x00", "𝒻𝑜𝓍 🦊", "\udce9"]
)
def test_any_text_is_a_query(query: str, indexed: Path, cli: Callable[..., Any]) -> None:
    ran = cli("search", "--no-refresh", "--", query)
    assert (ran.code, ran.err) == (0, "")
