"""The command line, as people and programs meet it."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from sesame_core import version

NIX = "01a0b03d-4300-7855-b6bd-70d8987fc91e"
SETTINGS = "d6bc0d35-ccec-43e4-a83f-b0efdb1ed801"
CLIENT = f"claude --resume {SETTINGS}"

#: Fields of seed 000: other programs read them.
SEED_ANSWER = ("query", "resultCount", "results")
SEED_RESULT = ("sessionId", "source", "path", "cwd", "name", "score", "created", "matchedSnippet")


@pytest.fixture(autouse=True, params=["sqlite", pytest.param("postgres", marks=pytest.mark.once)])
def backend(request: pytest.FixtureRequest, home: Path) -> str:
    """Each test runs on both backends, unless it is about SQLite's files or about having no configuration."""
    name: str = request.param
    if name == "postgres":
        if request.node.get_closest_marker("sqlite_only"):
            pytest.skip("it is about SQLite's files, or about having no configuration")
        file = home / ".config" / "sesame" / "config.jsonc"
        file.parent.mkdir(parents=True)
        options = {"dsn": request.getfixturevalue("database")}
        file.write_text(json.dumps({"backend": {"name": "postgres", "options": options}, "refreshSeconds": 30}))
    return name


@pytest.fixture
def indexed(demo_sessions: Path, cli: Callable[..., Any]) -> Path:
    """The demo sessions, indexed."""
    assert cli("index").code == 0
    return demo_sessions


def pi_session(path: Path, *texts: str, session_id: str = "0199cccc-0000-7000-8000-000000000001") -> Path:
    """Write a pi session in which a person says these texts."""
    records: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": session_id, "timestamp": "2026-05-01T10:00:00.000Z", "cwd": "/w/den"}
    ]
    for number, text in enumerate(texts):
        message = {"role": "user", "content": text}
        parent = f"{number - 1:08x}" if number else None
        records.append(
            {
                "type": "message",
                "id": f"{number:08x}",
                "parentId": parent,
                "timestamp": f"2026-05-01T10:{number:02}:00.000Z",
                "message": message,
            }
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def without_seconds(text: str) -> str:
    return re.sub(r"in \d+\.\d s", "in 0.0 s", text)


def on_a_terminal(arguments: Iterable[str], keys: bytes = b"") -> tuple[int, str]:
    """Run `sesame` with a terminal as its three streams; return its exit code and what the terminal got."""
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "sesame_core", *arguments]
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave) as process:
        os.close(slave)
        os.write(master, keys)
        shown = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:  # Linux's way to say that the other end is closed
                break
            if not piece:
                break
            shown += piece
        code = process.wait(timeout=60)
    os.close(master)
    return code, shown.decode().replace("\r\n", "\n")


# -- index ------------------------------------------------------------------------------------------------


def test_index_says_what_it_did(demo_sessions: Path, cli: Callable[..., Any]) -> None:
    first = cli("index")
    assert (first.code, first.err) == (0, "")
    assert without_seconds(first.out) == "10 added; 152 chunks from 108.5 kB in 0.0 s\n"
    assert without_seconds(cli("index").out) == "10 unchanged; 0 chunks from 0 B in 0.0 s\n"
    assert without_seconds(cli("index", "--full").out) == "10 added; 152 chunks from 108.5 kB in 0.0 s\n"


def test_index_reports_in_json(demo_sessions: Path, cli: Callable[..., Any]) -> None:
    report = json.loads(cli("index", "--json").out)
    assert report.pop("seconds") >= 0
    assert report.pop("bytes") > 100_000
    assert report == {
        "schemaVersion": 1,
        "added": 10,
        "updated": 0,
        "appended": 0,
        "described": 0,
        "withheld": 0,
        "unchanged": 0,
        "missing": 0,
        "pending": 0,
        "absentRoots": [],
        "skipped": {},
        "losses": [],
        "errors": [],
        "chunks": 152,
    }


def test_a_path_is_indexed_though_it_belongs_to_no_source(tmp_path: Path, cli: Callable[..., Any]) -> None:
    file = pi_session(tmp_path / "elsewhere" / "one.jsonl", "where do foxes sleep")
    assert without_seconds(cli("index", file).out).startswith("1 added; 1 chunks")
    assert "where do foxes sleep" in cli("search", "--no-refresh", "foxes").out


def test_a_path_that_does_not_exist_is_named(tmp_path: Path, cli: Callable[..., Any]) -> None:
    ran = cli("index", tmp_path / "nowhere")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"sesame: {tmp_path / 'nowhere'}: no such file or directory\n"


def test_without_any_sessions_index_says_so(cli: Callable[..., Any]) -> None:
    ran = cli("index")
    assert (ran.code, without_seconds(ran.out)) == (0, "no session files found; 0 chunks from 0 B in 0.0 s\n")


def test_a_file_that_fails_is_named_and_the_others_are_indexed(
    home: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sesame_parser_pi.parser import PiParser

    folder = home / ".pi" / "agent" / "sessions" / "--w-den--"
    bad = pi_session(folder / "bad.jsonl", "unreadable", session_id="0199cccc-0000-7000-8000-000000000002")
    pi_session(folder / "good.jsonl", "where do foxes sleep")
    parse = PiParser.parse

    def failing(self: PiParser, path: Path) -> Any:
        if path.name == "bad.jsonl":
            raise PermissionError(13, "Permission denied")
        return parse(self, path)

    monkeypatch.setattr(PiParser, "parse", failing)
    ran = cli("index")
    assert ran.code == 1
    assert without_seconds(ran.out.splitlines()[0]).startswith("1 added; 1 chunks")
    assert f"error: {bad}: Permission denied" in ran.out
    assert cli("index", "--json").code == 1
    assert "Found 1 session" in cli("search", "foxes").out


def test_a_damaged_line_is_counted_and_named(home: Path, cli: Callable[..., Any]) -> None:
    file = pi_session(home / ".pi" / "agent" / "sessions" / "--w-den--" / "one.jsonl", "foxes", "wolves")
    lines = file.read_text("utf-8").splitlines()
    file.write_text("\n".join([*lines[:2], '{"type": "mess', *lines[2:]]) + "\n", encoding="utf-8")
    ran = cli("index")
    assert ran.code == 0
    assert "skipped records: 1 " in ran.out
    assert f"  {file}:3: " in ran.out
    assert "Found 1 session" in cli("search", "wolves").out


def test_progress_is_shown_only_on_a_terminal_and_leaves_nothing_behind(demo_sessions: Path) -> None:
    code, shown = on_a_terminal(["index"])
    assert code == 0
    assert shown.startswith("\r\x1b[K")
    assert without_seconds(shown.rpartition("\x1b[K")[2]) == "10 added; 152 chunks from 108.5 kB in 0.0 s\n"


# -- search -----------------------------------------------------------------------------------------------


def test_search_has_the_layout_people_know(indexed: Path, cli: Callable[..., Any]) -> None:
    ran = cli("search", "publish", "job", "release", "workflow")
    assert (ran.code, ran.err) == (0, "")
    head, _, title, place, snippet, *_ = ran.out.splitlines()
    assert head == 'Found 2 sessions matching "publish job release workflow"'
    assert title == "  [1.00] 01a06653 (Fix the flaky publish job in the release workflow) - 2026-09-03"
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
    assert index == {**told, "notScanned": 0, "scannedAt": None}


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
    assert lines[0] == "2 of 9 latest sessions"
    assert lines[2] == "  01a1abe6 (日記アプリ: 二文字の単語の検索を直す) - 2026-11-05"
    answer = json.loads(cli("search", "--json", *query).out)
    assert (answer["query"], answer["mode"], answer["resultCount"]) == ("*", "browse", 9)
    days = [result["modified"] for result in answer["results"]]
    assert days == sorted(days, reverse=True)


@pytest.mark.sqlite_only
def test_search_before_the_first_index_indexes_and_finds(demo_sessions: Path, cli: Callable[..., Any]) -> None:
    config = demo_sessions / ".config" / "sesame" / "config.jsonc"
    config.parent.mkdir(parents=True)
    config.write_text('{"refreshSeconds": 60}')
    ran = cli("search", "nix", "flake")
    assert ran.code == 0
    assert f"{NIX[:8]} (Simplify the nix flake infrastructure)" in ran.out


def test_search_before_the_first_index_without_refresh_finds_nothing_and_writes_nothing(
    demo_sessions: Path, cli: Callable[..., Any]
) -> None:
    ran = cli("search", "--no-refresh", "nix")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[0] == 'No sessions found matching "nix"'
    assert not (demo_sessions / ".local" / "share" / "sesame").exists()


def test_search_sees_what_changed_and_with_no_refresh_it_does_not(indexed: Path, cli: Callable[..., Any]) -> None:
    pi_session(indexed / ".pi" / "agent" / "sessions" / "--w-den--" / "new.jsonl", "where do pangolins sleep")
    assert "No sessions found" in cli("search", "--no-refresh", "pangolins").out
    assert "Found 1 session" in cli("search", "pangolins").out


def test_an_answer_says_how_weak_it_is_and_which_words_are_nowhere(indexed: Path, cli: Callable[..., Any]) -> None:
    out = cli("search", "flake", "pangolin", "armadillo").out
    assert "Weak match: no passage of the best session has most of these words." in out
    assert "Not found anywhere: pangolin, armadillo" in out
    answer = json.loads(cli("search", "--json", "flake", "pangolin", "armadillo").out)
    assert (answer["weak"], answer["wordsNotFound"]) == (True, ["pangolin", "armadillo"])


def test_headless_sessions_are_left_out_told_and_shown_on_demand(indexed: Path, cli: Callable[..., Any]) -> None:
    every = json.loads(cli("search", "--json", "--all-kinds").out)
    headless = [result for result in every["results"] if result["kind"] == "headless"]
    assert len(headless) == 1
    usual = json.loads(cli("search", "--json", "changelog", "tests").out)
    assert headless[0]["sessionId"] not in {result["sessionId"] for result in usual["results"]}
    assert usual["leftOut"] == {"headless": 1}
    assert "Left out: 1 headless (show them with --all-kinds)" in cli("search", "changelog", "tests").out
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


@pytest.mark.parametrize("variable", ["CLAUDE_CODE_SESSION_ID", "PI_SESSION_ID"])
def test_the_session_a_search_was_started_from_is_left_out_told_and_found_on_demand(
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


def test_limit_counts_results_and_the_total_is_told(indexed: Path, cli: Callable[..., Any]) -> None:
    out = cli("search", "-n", 1, "orders", "index").out
    assert re.match(r'Found 1 of \d sessions matching "orders index"\n', out)
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
    assert "use a day (2026-11-27), a time (2026-11-27T14:30), today, yesterday, or an age" in ran.err


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


# -- what comes out is safe -------------------------------------------------------------------------------


@pytest.fixture
def hostile(home: Path, utc: None) -> Path:
    """A session whose text would steer a terminal."""
    text = "pangolin \x1b[2J\x1b]0;owned\x07\x1b[31mred\x9b2K\rover \u202egnp.exe\u202c end"
    return pi_session(home / ".pi" / "agent" / "sessions" / "--w-den--" / "one.jsonl", text)


@pytest.mark.parametrize("command", [("search", "pangolin"), ("search",), ("show", "0199cccc")])
def test_no_transcript_steers_the_terminal(command: tuple[str, ...], hostile: Path, cli: Callable[..., Any]) -> None:
    cli("index")
    out = cli(*command).out
    assert re.search(r"pangolin +red2K ?over gnp\.exe end", out)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", out)


def test_json_escapes_what_it_must(hostile: Path, cli: Callable[..., Any]) -> None:
    cli("index")
    out = cli("show", "0199cccc", "--json").out
    assert "\x1b" not in out
    assert "\x1b[2J" in json.loads(out)["chunks"][0]["text"]


def test_words_are_marked_on_a_terminal_and_nowhere_else(indexed: Path, cli: Callable[..., Any]) -> None:
    assert "\x1b" not in cli("search", "carousel").out
    code, shown = on_a_terminal(["search", "--no-refresh", "carousel"])
    assert code == 0
    assert "\x1b[1;33mcarousel\x1b[0m" in shown
    assert re.sub(r"\x1b\[[\d;]*m", "", shown) == cli("search", "--no-refresh", "carousel").out


def test_a_reader_that_leaves_early_causes_no_traceback(indexed: Path) -> None:
    command = [sys.executable, "-m", "sesame_core", "show", SETTINGS, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 1


def test_a_locale_without_unicode_stops_nothing(
    indexed: Path, sesame: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LC_", "LANG"))}
    done = sesame("search", "--no-refresh", "日記アプリ", env={**environment, "LC_ALL": "C"}, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert "01a1abe6 (日記アプリ: 二文字の単語の検索を直す)" in done.stdout
    done = sesame("search", "nikki", env={**environment, "PYTHONIOENCODING": "latin-1"}, encoding="latin-1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "01a1abe6 (\\u65e5\\u8a18" in done.stdout


# -- one session ------------------------------------------------------------------------------------------


def test_show_prints_a_transcript(indexed: Path, cli: Callable[..., Any]) -> None:
    lines = cli("show", NIX).out.splitlines()
    assert lines[:3] == [
        f"{NIX} (Simplify the nix flake infrastructure)",
        "  /home/ann/code/infra",
        "  pi, 10 messages, 2026-09-17 to 2026-09-17",
    ]
    assert lines[5] == "#0 user 2026-09-17 16:40"
    assert lines[6].startswith("Our flake has grown to 900 lines")
    assert any(re.fullmatch(r"#\d+ grep call 2026-09-17 16:4\d", line) for line in lines)
    assert any(re.fullmatch(r"#\d+ grep result 2026-09-17 16:4\d", line) for line in lines)


def test_show_around_a_position_shows_its_neighbours_and_points_at_it(indexed: Path, cli: Callable[..., Any]) -> None:
    def headings(position: int) -> list[str]:
        return re.findall(r"^[#→]\d+(?= )", cli("show", SETTINGS, "--around", position).out, re.M)

    assert headings(0) == ["→0", "#1", "#2", "#3", "#4"]
    assert headings(6) == ["#2", "#3", "#4", "#5", "→6", "#7", "#8", "#9", "#10"]
    assert headings(10_000) == []
    assert cli("show", SETTINGS, "--around", -1).code == 2


def test_show_in_json_has_the_session_and_its_chunks(indexed: Path, cli: Callable[..., Any]) -> None:
    shown = json.loads(cli("show", SETTINGS, "--around", 1, "--json").out)
    assert (shown["schemaVersion"], shown["sessionId"], shown["gitBranch"]) == (1, SETTINGS, "fix/reconnect")
    assert [chunk["position"] for chunk in shown["chunks"]] == [0, 1, 2, 3, 4, 5]
    assert shown["chunks"][1] == {
        "position": 1,
        "type": "tool_call",
        "role": "assistant",
        "tool": "Grep",
        "callId": "toolu_72442ac80dae98f58edaf5dd",
        "isError": False,
        "at": "2026-10-14T14:02:31.266Z",
        "entryId": "3dc7152f-3042-4c31-a4dc-97ec6fb03605",
        "sourceType": "message",
        "cut": 0,
        "text": "tool: Grep\npattern: reconnectBackoff\npath: /home/ann/code/chat-client/src",
    }


def test_a_session_whose_file_is_gone_is_still_found_and_shown(indexed: Path, cli: Callable[..., Any]) -> None:
    (file,) = indexed.rglob(f"*{NIX}.jsonl")
    file.unlink()
    assert "1 missing (kept)" in cli("index").out
    assert "file is gone" in cli("search", "nix", "flake").out
    assert "(gone since " in cli("show", NIX).out


def test_an_ambiguous_id_lists_the_candidates(indexed: Path, cli: Callable[..., Any]) -> None:
    ran = cli("show", "01a1")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.splitlines() == [
        "sesame: several sessions have an id that begins with '01a1':",
        "  01a11af9-2ce0-77f5-b5c2-855b8f0f9d8c",
        "  01a15fe9-cbc0-76bc-bf9e-22b91b38eefa",
        "  01a1abe6-ebc0-77ba-be6f-5771ca1ebac9",
    ]


def test_a_parents_id_alone_means_the_parent(indexed: Path, cli: Callable[..., Any]) -> None:
    assert cli("show", "71f2223f").out.startswith("71f2223f-f559-40f9-a659-23cd85132c85 (")
    assert cli("show", "71f2223f-f559-40f9-a659-23cd85132c85/a02e").out.startswith(
        "71f2223f-f559-40f9-a659-23cd85132c85/a02e9a47eab53372c ("
    )


@pytest.mark.parametrize("command", [("show",), ("resume", "--print"), ("forget", "--yes")])
def test_an_unknown_session_is_named(command: tuple[str, ...], indexed: Path, cli: Callable[..., Any]) -> None:
    ran = cli(*command, "zzzz")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "sesame: no session has the id 'zzzz'; see: sesame search\n"


def test_resume_prints_a_command_for_a_shell(indexed: Path, cli: Callable[..., Any]) -> None:
    assert cli("resume", SETTINGS[:8], "--print").out == f"cd /home/ann/code/chat-client && {CLIENT}\n"
    (file,) = indexed.rglob(f"*{NIX}.jsonl")
    assert cli("resume", NIX[:8], "--print").out == f"cd /home/ann/code/infra && pi --session {file}\n"


def test_resume_says_that_the_directory_is_gone(indexed: Path, cli: Callable[..., Any]) -> None:
    ran = cli("resume", SETTINGS[:8])
    assert ran.code == 1
    assert ran.err == (
        "sesame: the session's directory is gone: /home/ann/code/chat-client; "
        "see the command with: sesame resume --print d6bc0d35\n"
    )


def test_resume_starts_the_agent_in_the_sessions_directory(
    home: Path, utc: None, sesame: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    place, agent = home / "my den", home / "bin" / "pi"
    place.mkdir()
    agent.parent.mkdir()
    agent.write_text('#!/bin/sh\npwd\nprintf "%s\\n" "$@"\nexit 7\n')
    agent.chmod(0o755)
    file = pi_session(home / ".pi" / "agent" / "sessions" / "--w-den--" / "one.jsonl", "foxes")
    file.write_text(file.read_text("utf-8").replace("/w/den", str(place)), encoding="utf-8")
    sesame("index")
    done = sesame("resume", "0199cccc", env={**os.environ, "PATH": f"{agent.parent}:{os.environ['PATH']}"})
    assert done.stdout.splitlines() == [str(place), "--session", str(file)]
    assert done.returncode == 7


def test_forget_deletes_a_session_for_good_and_leaves_its_file(indexed: Path, cli: Callable[..., Any]) -> None:
    ran = cli("forget", "--yes", NIX[:8], SETTINGS[:8])
    assert (ran.code, ran.out) == (
        0,
        f"forgotten: {NIX} (Simplify the nix flake infrastructure)\n"
        f"forgotten: {SETTINGS} (SQLite migration sets reconnectBackoff to zero)\n",
    )
    (file,) = indexed.rglob(f"*{NIX}.jsonl")
    file.touch()
    cli("index")
    cli("index", "--full")
    assert NIX not in cli("search", "--json", "nix", "flake").out
    assert "  Forgotten:      2" in cli("status").out


def test_forget_asks_a_terminal_and_takes_no_silence_for_a_yes(
    indexed: Path, sesame: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    done = sesame("forget", NIX, stdin=subprocess.DEVNULL)
    assert done.returncode == 1
    assert f"not forgotten: {NIX}" in done.stderr
    assert "confirm with --yes" in done.stderr
    code, shown = on_a_terminal(["forget", NIX], b"n\n")
    assert (code, f"Forget {NIX}" in shown, "forgotten:" in shown) == (0, True, False)
    code, shown = on_a_terminal(["forget", NIX], b"y\n")
    assert (code, f"forgotten: {NIX}" in shown) == (0, True)


# -- the rest ---------------------------------------------------------------------------------------------


@pytest.mark.sqlite_only
def test_status_tells_what_is_indexed(indexed: Path, cli: Callable[..., Any]) -> None:
    out = cli("status").out
    for line in (
        "  Sessions:       10\n",
        "  Messages:       78\n",
        "  Chunks:         152\n",
        "  Files:          10\n",
        "  Newest message: 2026-11-12 03:00\n",
        "    claude-code (headless)          1 sessions         3 messages, newest 2026-11-12 03:00\n",
    ):
        assert line in out
    status = json.loads(cli("status", "--json").out)
    assert (status["sessions"], status["messages"], status["chunks"], status["files"]) == (10, 78, 152, 10)
    assert status["bytes"] == sum(file.stat().st_size for file in Path(status["location"]).parent.glob("index.sqlite*"))
    assert sum(agent["sessions"] for agent in status["agents"]) == 10
    assert {plugin["name"] for plugin in status["plugins"]} >= {"pi", "claude-code", "default", "sqlite"}


def test_status_before_the_first_index_is_empty_and_no_error(cli: Callable[..., Any]) -> None:
    ran = cli("status")
    assert ran.code == 0
    assert "  Sessions:       0\n" in ran.out
    assert "  Last sync:      never\n" in ran.out


def test_plugins_are_listed(cli: Callable[..., Any]) -> None:
    lines = cli("plugins").out.splitlines()
    names = [line.split()[:2] for line in lines]
    bundled = [
        ["parser", "claude-code"],
        ["formatter", "default"],
        ["parser", "pi"],
        ["parser", "sesame"],
        ["backend", "sqlite"],
    ]
    assert [name for name in names if name in bundled] == bundled
    listed = json.loads(cli("plugins", "--json").out)
    (pi,) = [plugin for plugin in listed if plugin["name"] == "pi"]
    assert pi == {
        "name": "pi",
        "kind": "parser",
        "distribution": "sesame-search",
        "version": version(),
        "summary": "pi sessions, JSONL of versions 1 to 3",
        "error": None,
    }


@pytest.mark.sqlite_only
def test_config_shows_each_value_with_its_origin(demo_sessions: Path, cli: Callable[..., Any]) -> None:
    ran = cli("config")
    assert ran.code == 0
    found = "found: default root exists"
    assert ran.out.splitlines() == [
        f"config file   {demo_sessions}/.config/sesame/config.jsonc (does not exist: nothing is configured)",
        f"data          {demo_sessions}/.local/share/sesame (XDG_DATA_HOME)",
        ran.out.splitlines()[2],
        "backend       sqlite (default)",
        "redact        nothing is masked (default)",
        "share         shared unless `sesame share` says otherwise (default)",
        "refresh       0.3 s before a search (default)",
        "models        none: no model is asked (default)",
        f"describe      only when asked, to {demo_sessions}/.local/share/sesame/sessions-meta (default)",
        "sources",
        f"  claude-code  {demo_sessions}/.claude/projects ({found})",
        f"  pi           {demo_sessions}/.pi/agent/sessions ({found})",
    ]
    assert re.fullmatch(r"workstation   [0-9a-f]{8} \(default\)", ran.out.splitlines()[2])
    described = json.loads(cli("config", "--json").out)
    assert [source["parser"]["name"] for source in described["sources"]] == ["claude-code", "pi"]
    assert described["problems"] == []


@pytest.mark.sqlite_only
def test_config_init_writes_a_file_once(home: Path, cli: Callable[..., Any]) -> None:
    file = home / ".config" / "sesame" / "config.jsonc"
    assert cli("config", "--init").out == f"wrote {file}\n"
    written = file.read_text("utf-8")
    ran = cli("config", "--init")
    assert (ran.code, ran.err) == (1, f"sesame: {file}: exists already and is left as it is\n")
    assert file.read_text("utf-8") == written
    assert cli("config").code == 0


@pytest.mark.sqlite_only
def test_a_configuration_with_a_problem_is_shown_and_exits_with_one(home: Path, cli: Callable[..., Any]) -> None:
    file = home / ".config" / "sesame" / "config.jsonc"
    file.parent.mkdir(parents=True)
    file.write_text('{"sources": [{"parser": "pie", "path": "/nowhere"}]}')
    ran = cli("config")
    assert ran.code == 1
    assert "did you mean 'pi'?" in ran.out
    file.write_text('{"sauces": []}')
    ran = cli("index")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"sesame: {file}: sauces: unknown key; did you mean 'sources'?\n"


def test_the_demo_uses_the_sessions_that_come_with_sesame_when_there_are_none(
    home: Path, utc: None, cli: Callable[..., Any]
) -> None:
    ran = cli("demo")
    assert (ran.code, ran.err) == (0, "")
    assert "You have no sessions yet.  These come with Sesame:\n10 added; " in ran.out
    assert "$ sesame search nix infrastructure simplify\nFound 1 session" in ran.out
    assert "01a0b03d (Simplify the nix flake infrastructure)" in ran.out
    assert "Found 1 session" in cli("demo", "東京").out
    assert json.loads(cli("search", "--json", "nix").out)["resultCount"] == 0


def test_the_demo_uses_your_sessions_when_there_are_some(demo_sessions: Path, cli: Callable[..., Any]) -> None:
    out = cli("demo", "nix", "flake").out
    assert "come with Sesame" not in out
    assert "10 added; " in out
    assert "$ sesame search nix flake\nFound 1 session" in out
    assert "$ sesame search\n5 of 9 latest sessions" in cli("demo").out


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version_is_printed(option: str, cli: Callable[..., Any]) -> None:
    ran = cli(option)
    assert (ran.code, ran.out, ran.err) == (0, f"sesame {version()}\n", "")


@pytest.mark.parametrize(
    "arguments",
    [
        ("frobnicate",),
        ("--frobnicate",),
        ("search", "--frobnicate"),
        ("search", "--limit", "many"),
        ("search", "--limit", "0"),
        ("index", "--frobnicate"),
        ("show",),
        ("forget",),
        ("show", "a", "b"),
        ("status", "now"),
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_with_two(arguments: tuple[str, ...], cli: Callable[..., Any]) -> None:
    ran = cli(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err


@pytest.mark.parametrize("arguments", [("--help",), ("-h",), ("search", "--help"), ("index", "-h")], ids=" ".join)
def test_help_is_no_error(arguments: tuple[str, ...], cli: Callable[..., Any]) -> None:
    ran = cli(*arguments)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Usage: ")


def test_python_m_is_the_same_program(sesame: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = sesame("--version")
    assert (done.returncode, done.stdout) == (0, f"sesame {version()}\n")
