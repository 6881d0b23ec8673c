"""`sesame integrate`: what is written, what is left alone, what is undone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core import OwnFile, SesameError, Setting
from sesame_core.integration.install import carry_out, plan, skill, started_by
from sesame_core.types.integration import Integration
from sesame_parser_pi.integration import PACKAGE

COMMAND = [sys.executable, "-m", "sesame_core"]
SERVER = {"type": "stdio", "command": COMMAND[0], "args": [*COMMAND[1:], "mcp"], "env": {}}

#: What Claude Code keeps in the file: not ours to change.
THEIRS = {
    "numStartups": 7,
    "projects": {"/w": {"mcpServers": {"other": {"command": "x"}}}},
    "tips": {"größe": 0.25, "日": None},
}


def files(home: Path) -> dict[str, bytes]:
    """Everything below a directory, by path; Sesame's own index is not the point."""
    found = (path for path in home.rglob("*") if path.is_file())
    return {str(path.relative_to(home)): path.read_bytes() for path in found if ".local" not in path.parts}


@pytest.fixture
def settings(home: Path) -> Path:
    """Claude Code's file, as it writes it."""
    file = home / ".claude.json"
    file.write_text(json.dumps(THEIRS, indent=2, ensure_ascii=False))
    file.chmod(0o640)
    return file


# -- Codex ----------------------------------------------------------------------------------------------------


def test_codex_gets_the_skill_once_and_loses_it_again(
    home: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = home / ".codex" / "skills" / "sesame" / "SKILL.md"
    assert cli("integrate", "codex", "--yes").out.splitlines()[0] == f"write {own}"
    assert own.read_text() == skill()
    assert cli("integrate", "codex", "--yes").out.startswith("nothing to do")
    assert cli("integrate", "codex", "--remove", "--yes").out.splitlines()[0] == f"delete {own}"
    assert not own.exists()
    monkeypatch.setenv("CODEX_HOME", str(home / "work"))
    other = home / "work" / "skills" / "sesame" / "SKILL.md"
    other.parent.mkdir(parents=True)
    other.write_text("someone else's")
    assert "is not a file of Sesame" in cli("integrate", "codex", "--yes").err
    assert other.read_text() == "someone else's"


# -- pi -------------------------------------------------------------------------------------------------------


def test_pi_gets_the_extension_that_starts_this_sesame_and_the_skill(home: Path, cli: Callable[..., Any]) -> None:
    ran = cli("integrate", "pi", "--yes")
    agent = home / ".pi" / "agent"
    extension = agent / "extensions" / "sesame"
    own = [extension / name for name in ("package.json", "answer.js", "index.js")]
    paths = [*own, agent / "skills" / "sesame" / "SKILL.md"]
    assert ran.out.splitlines()[:-1] == [f"write {path}" for path in paths]
    assert {home / name for name in files(home)} == set(paths)
    text = (extension / "index.js").read_text()
    assert f"const COMMAND = {json.dumps(COMMAND)};" in text
    assert text.replace(json.dumps(COMMAND), '["sesame"]') == (PACKAGE / "index.js").read_text()
    assert paths[1].read_text() == (PACKAGE / "answer.js").read_text()
    assert paths[3].read_text() == skill()


def test_the_extension_needs_no_package() -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in sorted(PACKAGE.glob("*.js")))
    imported = re.findall(r'(?:from|import|require\()\s*\(?"([^"]+)"', text)
    assert imported == ["node:fs", "node:child_process", "node:url"]
    manifest = json.loads((PACKAGE / "package.json").read_bytes())
    assert not {name for name in manifest if "ependencies" in name}


def test_where_pi_is_told_to_keep_its_things_they_are_put(
    tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))
    assert cli("integrate", "pi", "--yes").code == 0
    assert (tmp_path / "agent" / "extensions" / "sesame" / "index.js").is_file()


@pytest.mark.parametrize("agent", ["pi", "claude"])
def test_a_second_time_nothing_is_done_and_removing_undoes_all(agent: str, home: Path, cli: Callable[..., Any]) -> None:
    assert cli("integrate", agent, "--remove", "--yes").out.startswith("nothing to do")
    assert cli("integrate", agent, "--yes").out.splitlines()[-1].startswith("done")
    before = files(home)
    assert cli("integrate", agent, "--yes").out.startswith("nothing to do")
    assert files(home) == before
    assert cli("integrate", agent, "--remove", "--yes").code == 0
    left = {name: content for name, content in files(home).items() if not name.endswith(".bak")}
    assert left == ({".claude.json": b'{\n  "mcpServers": {}\n}\n'} if agent == "claude" else {})
    assert not list(home.rglob("sesame"))
    assert cli("integrate", agent, "--remove", "--yes").out.startswith("nothing to do")


def test_what_was_edited_is_replaced_and_kept(home: Path, cli: Callable[..., Any]) -> None:
    cli("integrate", "pi", "--yes")
    file = home / ".pi" / "agent" / "skills" / "sesame" / "SKILL.md"
    edited = skill() + "and more\n"
    file.write_text(edited)
    ran = cli("integrate", "pi", "--yes")
    assert ran.out.splitlines()[0] == f"replace {file}"
    (copy,) = file.parent.glob("*.bak")
    assert f"kept {copy}" in ran.out
    assert (file.read_text(), copy.read_text()) == (skill(), edited)


@pytest.mark.parametrize("option", ["--yes", "--remove"])
def test_a_file_of_the_same_name_that_is_not_ours_stops_everything(
    option: str, home: Path, cli: Callable[..., Any]
) -> None:
    file = home / ".pi" / "agent" / "skills" / "sesame" / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nname: sesame\ndescription: somebody's own\n---\n")
    before = files(home)
    ran = cli("integrate", "pi", "--yes", option)
    assert (ran.code, ran.err) == (
        1,
        f"sesame: {file}: is not a file of Sesame; nothing was written: move it away first\n",
    )
    assert files(home) == before


# -- asking ---------------------------------------------------------------------------------------------------


def test_without_a_terminal_to_ask_on_it_tells_and_writes_nothing(home: Path, cli: Callable[..., Any]) -> None:
    ran = cli("integrate", "pi")
    assert ran.code == 1
    assert ran.out.count("write ") == 4
    assert ran.err == "nothing was changed; confirm with --yes\n"
    assert files(home) == {}


@pytest.mark.parametrize(("answer", "count"), [("n\n", 0), ("\n", 0), ("y\n", 4)])
def test_on_a_terminal_it_asks_and_takes_no_silence_for_a_yes(answer: str, count: int, home: Path) -> None:
    import os
    import pty

    ours, theirs = pty.openpty()
    os.write(ours, answer.encode())
    done = subprocess.run([*COMMAND, "integrate", "pi"], stdin=theirs, capture_output=True, text=True, timeout=60)
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 0
    assert "Do this? [y/N]" in done.stdout
    assert len(files(home)) == count


@pytest.mark.parametrize(
    ("agent", "message"),
    [("sesame", "sesame has no integration"), ("sqlite", "provides no parser"), ("xyz", "no plugin named")],
)
def test_an_agent_that_cannot_be_told_is_named(agent: str, message: str, cli: Callable[..., Any]) -> None:
    ran = cli("integrate", agent, "--yes")
    assert ran.code == 1
    assert message in ran.err


# -- Claude Code ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["claude", "claude-code"])
def test_claude_code_gets_the_server_and_the_skill_and_keeps_all_else(
    name: str, home: Path, settings: Path, cli: Callable[..., Any]
) -> None:
    before = settings.read_bytes()
    ran = cli("integrate", name, "--yes")
    assert f"change {settings}: mcpServers.sesame = {json.dumps(SERVER)}" in ran.out
    assert json.loads(settings.read_bytes()) == {**THEIRS, "mcpServers": {"sesame": SERVER}}
    assert (home / ".claude" / "skills" / "sesame" / "SKILL.md").read_text() == skill()
    (copy,) = home.glob(".claude.json.*.bak")
    assert copy.read_bytes() == before
    assert settings.stat().st_mode & 0o777 == copy.stat().st_mode & 0o777 == 0o640
    assert cli("integrate", name, "--remove", "--yes").code == 0
    assert json.loads(settings.read_bytes()) == {**THEIRS, "mcpServers": {}}


def test_the_file_keeps_its_style(settings: Path, cli: Callable[..., Any]) -> None:
    value = {"mcpServers": {"other": {"command": "x"}}, "name": "größe"}
    settings.write_text(json.dumps(value, indent="\t", ensure_ascii=False) + "\n")
    assert cli("integrate", "claude", "--yes").code == 0
    value["mcpServers"]["sesame"] = SERVER  # type: ignore[index]
    assert settings.read_text() == json.dumps(value, indent="\t", ensure_ascii=False) + "\n"


def test_half_a_surrogate_in_the_file_survives(settings: Path, cli: Callable[..., Any]) -> None:
    settings.write_text('{"last": "\\ud83d"}')
    assert cli("integrate", "claude", "--yes").code == 0
    assert json.loads(settings.read_bytes())["last"] == "\ud83d"


def test_a_link_stays_a_link(home: Path, settings: Path, cli: Callable[..., Any]) -> None:
    real = home / "dotfiles" / "claude.json"
    real.parent.mkdir()
    settings.rename(real)
    settings.symlink_to(real)
    assert cli("integrate", "claude", "--yes").code == 0
    assert settings.is_symlink()
    assert json.loads(real.read_bytes())["mcpServers"] == {"sesame": SERVER}
    assert len(list(real.parent.glob("*.bak"))) == 1


def test_a_directory_of_the_users_choice_holds_it_all(
    tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    assert cli("integrate", "claude", "--yes").code == 0
    assert set(files(tmp_path)) == {".claude.json", "skills/sesame/SKILL.md"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b'{"a": 1', "it is not plain JSON (Expecting ',' delimiter: line 1 column 8 (char 7))"),
        (b'{"a": 1} // mine', "it is not plain JSON ("),
        (b"\xff\xfe{}", "it is not plain JSON ("),
        (b'{"a": 1, "a": 2}', "it is not plain JSON (an object has a key twice)"),
        (b'{"a": 1e999}', "it contains a number that JSON does not have"),
        (b"[" * 100_000, "it is not plain JSON ("),
        (b"[]", "it is not an object"),
        (b'{"mcpServers": []}', '"mcpServers" is not an object'),
        (b'{"mcpServers": null}', '"mcpServers" is not an object'),
    ],
)
def test_a_file_that_is_not_understood_stops_everything(
    text: bytes, why: str, home: Path, settings: Path, cli: Callable[..., Any]
) -> None:
    settings.write_bytes(text)
    ran = cli("integrate", "claude", "--yes")
    assert ran.code == 1
    assert ran.err.startswith(f"sesame: {settings}: {why}")
    assert ran.err.endswith("; nothing was written\n")
    assert ran.err.count("\n") == 1
    assert files(home) == {".claude.json": text}


@pytest.mark.parametrize("text", [b"", b"\n"])
def test_an_empty_file_is_an_empty_object(text: bytes, settings: Path, cli: Callable[..., Any]) -> None:
    settings.write_bytes(text)
    assert cli("integrate", "claude", "--yes").code == 0
    assert json.loads(settings.read_bytes()) == {"mcpServers": {"sesame": SERVER}}


def test_what_changes_while_it_asks_is_not_overwritten(settings: Path, home: Path) -> None:
    setting = Setting(path=settings, keys=("mcpServers", "sesame"), value=SERVER)
    own = OwnFile(path=home / "SKILL.md", text=skill())
    steps = plan(Integration(parts=(own, setting)))
    settings.write_text('{"numStartups": 8}')
    with pytest.raises(SesameError, match="has changed in the meantime"):
        carry_out(steps)
    assert files(home) == {".claude.json": b'{"numStartups": 8}'}


def test_what_cannot_be_written_is_named(home: Path, cli: Callable[..., Any]) -> None:
    (home / ".claude").write_text("no directory")
    ran = cli("integrate", "claude", "--yes")
    assert ran.code == 1
    assert re.match(r"sesame: .*SKILL.md: cannot be (read|written): Not a directory\n", ran.err)


# -- parts ----------------------------------------------------------------------------------------------------


def test_an_extra_that_is_missing_is_named_before_anything_is_written_but_not_when_undoing(tmp_path: Path) -> None:
    setting = Setting(path=tmp_path / "a.json", keys=("x",), value=1)
    needy = Integration(parts=(setting,), extra=("mcp", "no_such_package"))
    with pytest.raises(SesameError, match=r"pip install 'sesame-search\[mcp\]'"):
        plan(needy)
    carry_out(plan(Integration(parts=(setting,))))
    carry_out(plan(needy, remove=True))
    assert json.loads((tmp_path / "a.json").read_bytes()) == {}


def test_the_command_is_the_program_that_runs_or_else_the_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "sesame"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert started_by(str(program), COMMAND) == [str(program)]
    monkeypatch.setenv("PATH", str(tmp_path))
    assert started_by("sesame", COMMAND) == [str(program)]
    assert started_by("/usr/lib/sesame_core/__main__.py", COMMAND) == COMMAND
    assert started_by("pytest", COMMAND) == COMMAND


def test_the_skill_is_one_that_agents_take() -> None:
    _, front, body = skill().split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in front.splitlines())
    assert fields.keys() == {"name", "description"}
    assert fields["name"] == "sesame"
    assert 100 < len(fields["description"]) <= 1024
    assert len(body.encode()) < 5000
