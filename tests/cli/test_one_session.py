"""`sesame show`, `resume` and `forget`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core.api import resuming

from .terminal import CLIENT, NIX, SETTINGS, on_a_terminal, pi_session

pytestmark = pytest.mark.usefixtures("backend")


def test_show_prints_a_transcript(indexed: Path, cli: Callable[..., Any]) -> None:
    lines = cli("show", NIX).out.splitlines()
    assert lines[:3] == [
        f"{NIX} (Simplify the nix flake infrastructure)",
        "  /home/ann/code/infra",
        "  pi, 10 messages, 2026-09-17",
    ]
    assert lines[5] == "#0 user 2026-09-17 16:40"
    assert lines[6].startswith("Our flake has grown to 900 lines")
    assert any(re.fullmatch(r"#\d+ grep call 2026-09-17 16:4\d", line) for line in lines)
    assert any(re.fullmatch(r"#\d+ grep result 2026-09-17 16:4\d", line) for line in lines)


def test_show_of_a_place_with_a_limit_starts_there(indexed: Path, cli: Callable[..., Any]) -> None:
    shown = cli("show", f"{SETTINGS}:3", "--limit", 2).out
    assert re.findall(r"^[#→]\d+(?= )", shown, re.M) == ["→3", "#4"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((f"{SETTINGS}:3", "--around", 5), "is a position already; use it without --around and --offset"),
        ((f"{SETTINGS}:3", "--offset", 5), "is a position already; use it without --around and --offset"),
        ((SETTINGS, "--offset", 9999), f"{SETTINGS} has no position 9999; its last is "),
        ((f"{SETTINGS}:9999", "--limit", 2), f"{SETTINGS} has no position 9999; its last is "),
        ((SETTINGS, "--around", 9999), f"{SETTINGS} has no position 9999; its last is "),
    ],
)
def test_a_position_that_is_not_there_or_not_the_only_one_is_an_error(
    indexed: Path, cli: Callable[..., Any], arguments: tuple[Any, ...], message: str
) -> None:
    ran = cli("show", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_a_program_that_reads_page_by_page_ends_with_an_empty_one(indexed: Path, cli: Callable[..., Any]) -> None:
    assert cli("show", SETTINGS, "--offset", 9999, "--json").json["chunks"] == []


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
        "sesame: '01a1' may mean several sessions:",
        *(line for line in ran.err.splitlines() if line.startswith("  ")),
    ]
    shown = [line.strip().partition(" (")[0].partition(" - ")[0] for line in ran.err.splitlines()[1:]]
    found = [cli("show", reference, "--json").json["sessionId"] for reference in shown]
    assert found == [
        "01a11af9-2ce0-77f5-b5c2-855b8f0f9d8c",
        "01a15fe9-cbc0-76bc-bf9e-22b91b38eefa",
        "01a1abe6-ebc0-77ba-be6f-5771ca1ebac9",
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
    assert ran.err == "sesame: no session has the id or name 'zzzz'; see: sesame search\n"


def test_resume_prints_a_command_for_a_shell(
    indexed: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    there, other = "/home/ann/code/chat-client", "/home/ann/code/infra"
    monkeypatch.setattr(resuming, "isdir", lambda _: True)
    assert cli("resume", SETTINGS[:8], "--print").out == f"cd {there} && {CLIENT}\n"
    (file,) = indexed.rglob(f"*{NIX}.jsonl")
    assert cli("resume", NIX[:8], "--print").out == f"cd {other} && pi --session {file}\n"
    found = cli("resume", SETTINGS[:8], "--json")
    assert found.code == 0
    assert (found.json["command"], found.json["cwd"], found.json["environment"]) == (CLIENT.split(), there, {})
    assert (found.json["shell"], found.json["problem"]) == (f"cd {there} && {CLIENT}", None)


@pytest.mark.parametrize("option", [(), ("--print",), ("--json",)])
def test_resume_refuses_when_the_directory_does_not_exist(
    option: tuple[str, ...], indexed: Path, cli: Callable[..., Any]
) -> None:
    there = "/home/ann/code/chat-client"
    ran = cli("resume", SETTINGS[:8], *option)
    problem = f"the session's directory does not exist: {there}; the nearest that exists: /"
    assert ran.code == 1
    assert ran.err.startswith(f"sesame: {problem}")
    assert ran.err.endswith(f"; resume it after: mkdir -p {there}\n")
    assert ran.err.count("\n") == 1
    if option != ("--json",):
        assert ran.out == ""
        return
    assert ran.json["problem"].startswith(problem)
    assert (ran.json["command"], ran.json["cwd"], ran.json["shell"]) == (CLIENT.split(), there, None)
    assert os.path.isdir(ran.json["nearest"])


def test_resume_in_json_says_why_the_agent_cannot_resume_a_session(indexed: Path, cli: Callable[..., Any]) -> None:
    (file,) = indexed.rglob(f"*{NIX}.jsonl")
    file.unlink()
    ran = cli("resume", NIX, "--json")
    reason = f"its file is gone, so pi cannot resume it: {file}"
    assert (ran.code, ran.err) == (1, f"sesame: {reason}\n")
    assert (ran.json["sessionId"], ran.json["command"], ran.json["cwd"]) == (NIX, [], "/home/ann/code/infra")
    assert (ran.json["problem"], ran.json["shell"], ran.json["nearest"]) == (reason, None, None)


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


def test_resume_tells_the_agent_the_directory_as_a_shell_does(
    home: Path, utc: None, sesame: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    agent = home / "bin" / "pi"
    agent.parent.mkdir()
    agent.write_text(f"#!{sys.executable}\nimport os\nprint(os.environ['PWD'])\n")
    agent.chmod(0o755)
    file = pi_session(home / ".pi" / "agent" / "sessions" / "--w--" / "one.jsonl", "foxes")
    file.write_text(file.read_text("utf-8").replace("/w/den", str(home)), encoding="utf-8")
    sesame("index")
    path = f"{agent.parent}:{os.environ['PATH']}"
    done = sesame("resume", "0199cccc", env={**os.environ, "PATH": path, "PWD": "/elsewhere"})
    assert done.stdout.splitlines() == [str(home)]


def test_an_agent_that_is_not_installed_is_named(
    home: Path, utc: None, sesame: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    file = pi_session(home / ".pi" / "agent" / "sessions" / "--w--" / "one.jsonl", "foxes")
    file.write_text(file.read_text("utf-8").replace("/w/den", str(home)), encoding="utf-8")
    sesame("index")
    done = sesame("resume", "0199cccc", env={**os.environ, "PATH": str(home)})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "sesame: 'pi' is not on the PATH: install it, or print the command with --print\n"


@pytest.mark.parametrize(
    ("reference", "meant"),
    [("nix flake", NIX), ("@@simplify-the-nix-flake-infrastructure", NIX), ("reconnectBackoff to zero", SETTINGS)],
)
def test_a_name_or_a_part_of_one_is_taken_wherever_an_id_is(
    reference: str, meant: str, indexed: Path, cli: Callable[..., Any]
) -> None:
    assert cli("show", reference, "--json").json["sessionId"] == meant
    assert cli("resume", reference, "--json").json["sessionId"] == meant
    assert cli("forget", "--yes", reference).out.startswith(f"forgotten: {meant} ")


def test_forget_takes_no_session_by_a_misspelt_name_or_one_of_several(indexed: Path, cli: Callable[..., Any]) -> None:
    ran = cli("forget", "--yes", "simplfy-the-nix-flake-infrastructure")
    assert (ran.code, ran.out) == (1, "")
    assert f"nearest: Simplify the nix flake infrastructure ({NIX[:8]})" in ran.err
    assert cli("forget", "--yes", "the").code == 1
    assert cli("show", NIX).code == cli("show", "simplfy-the-nix-flake-infrastructure").code == 0


def test_a_name_of_no_session_leads_to_the_nearest(indexed: Path, cli: Callable[..., Any]) -> None:
    ran = cli("show", "nix garden plants")
    assert ran.code == 1
    assert "nearest: simplify-the-nix-flake-infrastructure - " in ran.err
    text = cli("resolve", "nix garden plants").out
    assert text.startswith('No session is called "nix garden plants".\nNearest:\n  simplify-the-nix-flake')


def test_the_latest_session_is_meant_by_a_word(
    indexed: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (one["sessionId"] for one in cli("resolve", "-n", 2, "--json").json["references"][0]["candidates"])
    assert cli("show", "latest", "--json").json["sessionId"] == first
    monkeypatch.setenv("PI_SESSION_ID", first)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", first)
    assert cli("show", "last", "--json").json["sessionId"] == second


def test_resolve_without_a_reference_lists_all_sessions_page_by_page(indexed: Path, cli: Callable[..., Any]) -> None:
    (every,) = cli("resolve", "--limit", 1000, "--json").json["references"]
    assert len(every["candidates"]) == every["total"] == cli("sessions", "--json").json["total"] - 1  # a subagent's
    (page,) = cli("resolve", "--limit", 2, "--offset", 1, "--json").json["references"]
    assert page["candidates"] == every["candidates"][1:3]
    assert f"  2-3 of {every['total']}; the next: --offset 3" in cli("resolve", "-n", 2, "--offset", 1).out
    assert cli("resolve", "--offset", 1000).out.startswith("No more sessions")


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
    code, shown = on_a_terminal(["forget", NIX], b"\x04")
    assert (code, shown.endswith("Aborted!\n")) == (1, True)
    code, shown = on_a_terminal(["forget", NIX], b"y\n")
    assert (code, f"forgotten: {NIX}" in shown) == (0, True)


def test_forget_of_a_session_that_is_named_twice_forgets_it_once(indexed: Path, cli: Callable[..., Any]) -> None:
    ran = cli("forget", "--yes", NIX[:8], NIX)
    assert (ran.code, ran.err, ran.out.count("forgotten: ")) == (0, "", 1)


def test_forget_of_a_session_and_its_subagent_ends_with_both_gone(indexed: Path, cli: Callable[..., Any]) -> None:
    every = cli("sessions", "--json").json["sessions"]
    (child,) = (one for one in every if one["kind"] == "subagent")
    ran = cli("forget", "--yes", child["parentId"], child["sessionId"])
    assert (ran.code, ran.err) == (0, "")
    assert cli("show", child["sessionId"]).code == cli("show", child["parentId"]).code == 1


def test_a_name_that_ends_like_a_position_is_a_name_and_may_have_a_position(
    indexed: Path, cli: Callable[..., Any]
) -> None:
    cli("rename", NIX, "PR:123")
    cli("rename", SETTINGS, "PR:124")
    for line in (("show", "PR:123"), ("show", "pr:123:0"), ("resolve", "PR:123"), ("resolve", f"{NIX[:8]}:1")):
        ran = cli(*line)
        assert (ran.code, NIX in ran.out) == (0, True), line
    assert "→0 user" in cli("show", "PR:123:0").out
    assert "→" not in cli("show", "PR:123").out
    assert cli("open", "--print", "PR:123").out == cli("open", "--print", NIX).out
    assert cli("show", "PR:125").err.startswith("sesame: 'PR' may mean several sessions:")
