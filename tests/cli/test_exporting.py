"""`sesame export` and `handoff`."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ..support.harmless import parsed
from ..support.planted import claude_records, plain, secrets, traces
from ..support.transcripts import CLAUDE_ID, Claude, write
from .terminal import SETTINGS

pytestmark = pytest.mark.usefixtures("backend")
PLANTED = secrets()


@pytest.mark.parametrize("option", ["--md", "--html", "--json"])
def test_secrets_of_every_kind_in_every_field_are_replaced(home: Path, cli: Callable[..., Any], option: str) -> None:
    session = Claude(cwd=f"/home/bo/{plain(PLANTED['github-token'])}")
    write(session.path, *claude_records([plain(text) for text in PLANTED.values()], session))
    assert cli("index").code == 0
    assert len(PLANTED) > 15
    out = cli("export", CLAUDE_ID, option).out.lower()
    found = {kind: [trace for trace in traces(text) if trace in out] for kind, text in PLANTED.items()}
    assert not {kind for kind, seen in found.items() if seen}
    assert out.count("[redacted:") > 100 or out.count("\\[redacted:") > 100
    handed = cli("handoff", CLAUDE_ID, "--max-bytes", 100_000).out.lower()
    assert not [kind for kind, text in PLANTED.items() if any(trace in handed for trace in traces(text))]


@pytest.mark.sqlite_only
def test_with_no_redact_secrets_stay_and_the_page_says_so(home: Path, cli: Callable[..., Any]) -> None:
    session, secret = Claude(), plain(PLANTED["github-token"])
    write(session.path, session.user(f"use {secret}"), session.answer("ok"))
    assert cli("index").code == 0
    for option in ("--md", "--html", "--json"):
        assert secret not in cli("export", CLAUDE_ID, option).out
        assert secret in cli("export", CLAUDE_ID, option, "--no-redact").out
    assert "not replaced" in cli("export", CLAUDE_ID, "--html", "--no-redact").out
    assert secret in cli("handoff", CLAUDE_ID, "--no-redact").out


@pytest.mark.sqlite_only
@pytest.mark.parametrize("colored", ["\x1b[31m{}\x1b[0m{}", "{}\x1b[1;32m{}", "{}\x00{}", "{}\u202e{}"])
@pytest.mark.parametrize("option", ["--md", "--html", "--json"])
def test_a_secret_with_control_characters_in_it_is_replaced(
    home: Path, cli: Callable[..., Any], colored: str, option: str
) -> None:
    session, secret = Claude(), plain(PLANTED["github-token"])
    write(session.path, session.user("go " + colored.format(secret[:9], secret[9:])), session.answer("ok"))
    assert cli("index").code == 0
    assert secret[9:] not in cli("export", CLAUDE_ID, option).out


def test_the_format_is_that_of_the_option_else_of_the_file_s_name(indexed: Path, cli: Callable[..., Any]) -> None:
    for name, start in (("a.html", "<!DOCTYPE html>"), ("a.json", "{"), ("a.md", "# SQL"), ("a", "# SQL")):
        ran = cli("export", SETTINGS, "-o", indexed / name)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.startswith(f"exported: {indexed / name} (")
        assert (indexed / name).read_text(encoding="utf-8").startswith(start)
        assert stat.S_IMODE((indexed / name).stat().st_mode) == 0o600
    cli("export", SETTINGS, "--html", "-o", indexed / "b.txt")
    parsed((indexed / "b.txt").read_text(encoding="utf-8"))
    assert cli("export", SETTINGS).out.startswith("# SQLite migration")


@pytest.mark.parametrize("command", ["export", "handoff"])
def test_a_dash_in_place_of_a_file_is_standard_output(
    command: str, indexed: Path, cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli(command, "latest", "-o", "-").out == cli(command, "latest").out
    assert not (tmp_path / "-").exists()


def test_json_has_the_session_and_its_subagents_whole(indexed: Path, cli: Callable[..., Any]) -> None:
    value = cli("export", "71f2223f-f559-40f9-a659-23cd85132c85", "--json").json
    shown = [cli("show", one["sessionId"], "--json").json for one in value["sessions"]]
    assert [one["chunks"] for one in value["sessions"]] == [one["chunks"] for one in shown]
    first, second = value["sessions"]
    assert (value["redacted"], first["startedBy"], first["startedAt"]) == (True, None, None)
    assert second["startedBy"] == first["sessionId"]
    assert first["chunks"][second["startedAt"]]["tool"] == "Agent"


def test_several_formats_are_an_error(indexed: Path, cli: Callable[..., Any]) -> None:
    ran = cli("export", SETTINGS, "--md", "--html")
    assert ran.code == 2
    assert "--md and --html: an export has one format" in ran.err


@pytest.mark.parametrize("way", ["itself", "a link"])
def test_the_file_of_the_session_is_never_written(indexed: Path, cli: Callable[..., Any], way: str) -> None:
    path = Path(cli("show", SETTINGS, "--json").json["path"])
    before, target = path.read_bytes(), path
    if way == "a link":
        target = indexed / "link.md"
        target.symlink_to(path)
    ran = cli("export", SETTINGS, "-o", target)
    assert ran.code == 1
    assert "is the file of the session" in ran.err
    assert cli("handoff", SETTINGS, "-o", target).code == 1
    assert path.read_bytes() == before


@pytest.mark.parametrize("file", ["missing/a.html", "."])
def test_a_file_that_cannot_be_written_is_an_error_of_one_line(
    indexed: Path, cli: Callable[..., Any], file: str
) -> None:
    ran = cli("export", SETTINGS, "-o", indexed / file)
    assert ran.code == 1
    assert len(ran.err.splitlines()) == 1
    assert str(indexed) in ran.err


@pytest.mark.sqlite_only
@pytest.mark.parametrize("command", ["export", "handoff"])
def test_without_the_extra_the_error_names_it_and_the_option(indexed: Path, command: str) -> None:
    code = "import sys; sys.modules['ahocorasick_rs'] = None; from sesame_core.cli import main; main()"
    run = [sys.executable, "-c", code, command, SETTINGS]
    ran = subprocess.run(run, capture_output=True, text=True, env=dict(os.environ), check=False)
    assert ran.returncode == 1
    assert ran.stdout == ""
    (line,) = ran.stderr.splitlines()
    assert "redact" in line
    assert line.endswith("--no-redact")
    run.append("--no-redact")
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout


def test_a_handoff_in_json_has_what_the_text_has(indexed: Path, cli: Callable[..., Any]) -> None:
    text, value = cli("handoff", SETTINGS).out, cli("handoff", SETTINGS, "--json").json
    for part in ("asked", "decided", "changed", "failed", "open"):
        for point in value[part]:
            assert " ".join(f"{point['text']} (d6bc0d35:{point['position']})".split()) in " ".join(text.split())
    assert value["changed"]
    assert json.dumps(value).count("redacted") == 1
    assert cli("handoff", SETTINGS, "--max-bytes", 999).code == 2
