"""`sesame integrate`: what is written, what is left alone, what is undone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core import OwnFile, SesameError, Setting
from sesame_core.installation import started_by
from sesame_core.integration.install import carry_out, hindrance, plan, skill
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


def test_codex_gets_the_server_and_the_skill_and_keeps_comments_and_order(
    home: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = home / ".codex" / "config.toml"
    config.parent.mkdir()
    theirs = '# mine\nmodel = "fox-1" # the best\n\n[mcp_servers.other]\ncommand = "x"\n'
    config.write_text(theirs)
    own = config.parent / "skills" / "sesame" / "SKILL.md"
    ran = cli("integrate", "codex", "--yes")
    assert ran.out.splitlines()[:2] == [f"change {config}: mcp_servers.sesame", "  + [mcp_servers.sesame]"]
    assert f"write {own}" in ran.out.splitlines()
    assert config.read_text().startswith(theirs)
    assert tomllib.loads(config.read_text())["mcp_servers"]["sesame"] == {
        "command": COMMAND[0],
        "args": [*COMMAND[1:], "mcp"],
    }
    assert own.read_text() == skill(COMMAND)
    assert cli("integrate", "codex", "--yes").out.startswith("nothing to do")
    assert cli("integrate", "codex", "--remove", "--yes").code == 0
    assert files(home) == {".codex/config.toml": theirs.encode()}
    monkeypatch.setenv("CODEX_HOME", str(home / "work"))
    other = home / "work" / "skills" / "sesame" / "SKILL.md"
    other.parent.mkdir(parents=True)
    other.write_text("someone else's")
    assert "is not a file of Sesame" in cli("integrate", "codex", "--yes").err
    assert files(home / "work") == {"skills/sesame/SKILL.md": b"someone else's"}


def test_a_file_that_is_not_toml_stops_everything(home: Path, cli: Callable[..., Any]) -> None:
    config = home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text("model = \n")
    ran = cli("integrate", "codex", "--yes")
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert ran.err.startswith(f"sesame: {config}: it is not TOML (")
    assert files(home) == {".codex/config.toml": b"model = \n"}


# -- pi -------------------------------------------------------------------------------------------------------


def test_pi_gets_the_extension_that_starts_this_sesame_and_the_skill(home: Path, cli: Callable[..., Any]) -> None:
    ran = cli("integrate", "pi", "--yes")
    agent = home / ".pi" / "agent"
    extension = agent / "extensions" / "sesame"
    own = [extension / name for name in ("package.json", "answer.js", "index.js")]
    paths = [*own, agent / "skills" / "sesame" / "SKILL.md"]
    assert ran.out.splitlines()[:-2] == [f"write {path}" for path in paths]
    assert ran.out.splitlines()[-1] == "next: sesame index"
    assert {home / name for name in files(home)} == set(paths)
    text = (extension / "index.js").read_text()
    assert f"const COMMAND = {json.dumps(COMMAND)};" in text
    assert text.replace(json.dumps(COMMAND), '["sesame"]') == (PACKAGE / "index.js").read_text()
    assert paths[1].read_text() == (PACKAGE / "answer.js").read_text()
    assert paths[3].read_text() == skill(COMMAND)


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


@pytest.mark.parametrize("agent", ["pi", "claude", "codex", "gemini", "copilot", "opencode"])
def test_a_second_time_nothing_is_done_and_removing_undoes_all(agent: str, home: Path, cli: Callable[..., Any]) -> None:
    assert cli("integrate", agent, "--remove", "--yes").out.startswith("nothing to do")
    assert "\ndone; " in cli("integrate", agent, "--yes").out
    before = files(home)
    assert cli("integrate", agent, "--yes").out.startswith("nothing to do")
    assert files(home) == before
    assert cli("integrate", agent, "--remove", "--yes").code == 0
    assert list(home.rglob("*")) == []
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
    assert (file.read_text(), copy.read_text()) == (skill(COMMAND), edited)


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
    assert ran.out.count("\nwrite ") == 3
    shown = [f"  + {line}".rstrip() for line in skill(COMMAND).splitlines()]
    assert ran.out.splitlines()[-len(shown) :] == shown
    assert ran.err == "nothing was changed; confirm with --yes\n"
    assert files(home) == {}


@pytest.mark.parametrize(("answer", "count"), [("n\n", 0), ("\n", 0), ("y\nn\n", 4)])
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
    shown = [f"  + {line}" for line in f'"sesame": {json.dumps(SERVER, indent=2)}'.splitlines()]
    assert ran.out.splitlines()[: len(shown) + 1] == [f"change {settings}: mcpServers.sesame", *shown]
    assert json.loads(settings.read_bytes()) == {**THEIRS, "mcpServers": {"sesame": SERVER}}
    assert (home / ".claude" / "skills" / "sesame" / "SKILL.md").read_text() == skill(COMMAND)
    (copy,) = home.glob(".claude.json.*.bak")
    assert copy.read_bytes() == before
    assert settings.stat().st_mode & 0o777 == copy.stat().st_mode & 0o777 == 0o640
    assert cli("integrate", name, "--remove", "--yes").code == 0
    assert files(home) == {".claude.json": before}
    assert settings.stat().st_mode & 0o777 == 0o640


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
        (b'{"a": NaN}', "it is not plain JSON (JSON has no number NaN)"),
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


# -- a server of the user's own, moves, edits -------------------------------------------------------------------


def test_what_the_user_has_added_to_the_entry_stays_when_sesame_has_moved(
    settings: Path, cli: Callable[..., Any]
) -> None:
    moved = {**SERVER, "command": "/old/sesame", "timeout": 9, "env": {"FOX": "1", "SESAME_DATA_DIR": "/old"}}
    settings.write_text(json.dumps({"mcpServers": {"sesame": moved}}, indent=2))
    ran = cli("integrate", "claude", "--yes")
    assert json.loads(settings.read_bytes())["mcpServers"]["sesame"] == {**SERVER, "timeout": 9, "env": {"FOX": "1"}}
    assert '  -   "command": "/old/sesame",' in ran.out.splitlines()
    assert f'  +   "command": "{COMMAND[0]}",' in ran.out.splitlines()


@pytest.mark.parametrize("agent", ["pi", "claude", "codex", "gemini", "copilot", "opencode"])
def test_a_sesame_that_has_moved_is_found_again(agent: str, home: Path, cli: Callable[..., Any]) -> None:
    assert cli("integrate", agent, "--yes").code == 0
    present = files(home)
    for name, content in present.items():
        (home / name).write_bytes(content.replace(COMMAND[0].encode(), b"/old/python"))
    assert files(home) != present
    assert cli("integrate", agent, "--yes").code == 0
    assert {name: text for name, text in files(home).items() if not name.endswith(".bak")} == present


def test_a_database_that_cannot_be_reached_hinders_no_agent(home: Path, cli: Callable[..., Any]) -> None:
    config = home / ".config" / "sesame" / "config.jsonc"
    config.parent.mkdir(parents=True)
    config.write_text('{"backend": {"name": "postgres", "options": {"dsn": "postgresql://127.0.0.1:1/none"}}}')
    ran = cli("integrate", "codex", "--yes")
    assert (ran.code, ran.err.count("\n")) == (0, 1)
    assert ran.err.startswith("sesame: ")
    assert (home / ".codex" / "config.toml").exists()


def test_a_server_of_this_name_on_another_machine_is_replaced_as_a_whole_and_kept(
    home: Path, settings: Path, cli: Callable[..., Any]
) -> None:
    theirs = {"type": "http", "url": "https://fox.example/mcp", "headers": {"Authorization": "Bearer x"}}
    before = json.dumps({"mcpServers": {"sesame": theirs}}, indent=2)
    settings.write_text(before)
    assert cli("integrate", "claude", "--yes").code == 0
    assert json.loads(settings.read_bytes())["mcpServers"]["sesame"] == SERVER
    (copy,) = home.glob(".claude.json.*.bak")
    assert copy.read_text() == before


def test_nothing_of_other_settings_is_shown(settings: Path, cli: Callable[..., Any]) -> None:
    settings.write_text('{"token": "fox-secret", "mcpServers": {"other": {"env": {"KEY": "owl-secret"}}}}')
    ran = cli("integrate", "claude")
    assert (ran.code, "secret" in ran.out) == (1, False)
    assert '  + "sesame": {' in ran.out.splitlines()


def test_two_runs_within_a_second_keep_both_copies(home: Path, settings: Path, cli: Callable[..., Any]) -> None:
    texts = []
    for number in range(4):
        texts.append(json.dumps({"numStartups": number}))
        settings.write_text(texts[-1])
        assert cli("integrate", "claude", "--yes").code == 0
    copies = sorted(home.glob(".claude.json.*.bak"))
    assert sorted(copy.read_text() for copy in copies) == texts


def test_removing_after_the_agent_has_changed_its_file_takes_only_the_entry(
    home: Path, settings: Path, cli: Callable[..., Any]
) -> None:
    first = settings.read_bytes()
    assert cli("integrate", "claude", "--yes").code == 0
    settings.write_text(settings.read_text().replace('"numStartups": 7', '"numStartups": 8'))
    assert cli("integrate", "claude", "--remove", "--yes").code == 0
    assert json.loads(settings.read_bytes()) == {**THEIRS, "numStartups": 8}
    copies = list(home.glob(".claude.json.*.bak"))
    assert [one.read_bytes() for one in copies] == [first]


def test_the_skill_of_an_earlier_version_is_replaced_without_a_copy(
    home: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("sesame_core.integration.install.skill", lambda command: "old; sesame integrate\n")
        assert cli("integrate", "codex", "--yes").code == 0
    file = home / ".codex" / "skills" / "sesame" / "SKILL.md"
    assert file.read_text() == "old; sesame integrate\n"
    assert cli("integrate", "codex", "--yes").out.splitlines()[0] == f"replace {file}"
    assert (file.read_text(), list(home.rglob("*.bak"))) == (skill(COMMAND), [])


def test_directories_that_were_there_before_stay_though_they_are_empty(home: Path, cli: Callable[..., Any]) -> None:
    (home / ".gemini" / "skills").mkdir(parents=True)
    assert cli("integrate", "gemini", "--yes").code == 0
    assert cli("integrate", "gemini", "--remove", "--yes").code == 0
    assert sorted(home.rglob("*")) == [home / ".gemini", home / ".gemini" / "skills"]


def test_an_empty_object_and_an_empty_list_of_servers_come_back(home: Path, cli: Callable[..., Any]) -> None:
    file = home / ".copilot" / "mcp-config.json"
    file.parent.mkdir()
    for text in ("{}", '{"mcpServers": {}}', '{ "mcpServers" : {\n} }\n', "", "{\r\n}\r\n"):
        file.write_bytes(text.encode())
        assert cli("integrate", "copilot", "--yes").code == 0
        assert "sesame" in json.loads(file.read_bytes())["mcpServers"]
        assert cli("integrate", "copilot", "--remove", "--yes").code == 0
        assert files(home) == {".copilot/mcp-config.json": text.encode()}


@pytest.mark.parametrize(
    ("agent", "file"), [("opencode", ".config/opencode/opencode.jsonc"), ("gemini", ".gemini/settings.json")]
)
def test_comments_of_agents_that_read_them_stay(agent: str, file: str, home: Path, cli: Callable[..., Any]) -> None:
    path = home / file
    path.parent.mkdir(parents=True)
    text = '{\n  // the model\n  "model": "fox", // fast\n  /* no\n     more */\n}\n'
    path.write_text(text)
    assert cli("integrate", agent, "--yes").code == 0
    changed = path.read_text()
    assert changed.startswith('{\n  // the model\n  "model": "fox", // fast\n')
    assert "/* no\n     more */" in changed
    assert cli("integrate", agent, "--yes").out.startswith("nothing to do")
    assert cli("integrate", agent, "--remove", "--yes").code == 0
    assert files(home) == {file: text.encode()}


@pytest.mark.parametrize(
    ("agent", "file", "environment"),
    [
        ("claude", ".claude.json", ("mcpServers", "sesame", "env")),
        ("codex", ".codex/config.toml", ("mcp_servers", "sesame", "env")),
        ("gemini", ".gemini/settings.json", ("mcpServers", "sesame", "env")),
        ("copilot", ".copilot/mcp-config.json", ("mcpServers", "sesame", "env")),
        ("opencode", ".config/opencode/opencode.json", ("mcp", "sesame", "environment")),
    ],
)
def test_the_directories_of_this_sesame_are_passed_on_and_forgotten_when_they_are_the_default(
    agent: str, file: str, environment: tuple[str, ...], home: Path, cli: Callable[..., Any], monkeypatch: Any
) -> None:
    def written() -> dict[str, Any]:
        text = (home / file).read_text()
        value = tomllib.loads(text) if file.endswith(".toml") else json.loads(text)
        for key in environment:
            value = value.get(key, {})
        return dict(value)

    with monkeypatch.context() as patch:
        patch.setenv("SESAME_DATA_DIR", "~/fox data")
        patch.setenv("SESAME_CONFIG_DIR", str(home / "owl"))
        assert cli("integrate", agent, "--yes").code == 0
        found = {"SESAME_DATA_DIR": str(home / "fox data"), "SESAME_CONFIG_DIR": str(home / "owl")}
        assert written() == found
        assert cli("integrate", agent, "--yes").out.startswith("nothing to do")
    assert cli("integrate", agent, "--yes").code == 0
    assert written() == {}


def test_removing_without_the_variables_of_the_installation_leaves_nothing_behind(
    home: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text('model = "fox"\n')
    with monkeypatch.context() as patch:
        patch.setenv("SESAME_DATA_DIR", str(home / "fox"))
        assert cli("integrate", "codex", "--yes").code == 0
    assert "kept" not in cli("integrate", "codex", "--yes").out
    assert cli("integrate", "codex", "--remove", "--yes").code == 0
    assert sorted(home.rglob("*")) == [config.parent, config]
    assert config.read_text() == 'model = "fox"\n'


def test_pi_gets_the_directories_in_its_extension(
    home: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SESAME_DATA_DIR", str(home / "fox"))
    assert cli("integrate", "pi", "--yes").code == 0
    text = (home / ".pi" / "agent" / "extensions" / "sesame" / "index.js").read_text()
    assert f'const ENVIRONMENT = {{"SESAME_DATA_DIR": "{home}/fox"}};' in text


def test_the_skill_names_a_command_that_is_not_in_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "my bin" / "sesame"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert f"`sesame` below stands for `'{program}'`" in skill([str(program)])
    monkeypatch.setenv("PATH", str(program.parent))
    assert skill([str(program)]) == skill() == skill(["sesame"])


def test_on_a_terminal_the_first_index_is_offered(home: Path, demo_sessions: Path) -> None:
    import os
    import pty

    ours, theirs = pty.openpty()
    os.write(ours, b"y\ny\n")
    done = subprocess.run([*COMMAND, "integrate", "codex"], stdin=theirs, capture_output=True, text=True, timeout=60)
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 0, done.stderr
    assert "No session is indexed yet.  Index them now? [y/N]" in done.stdout
    assert "10 added" in done.stdout


# -- parts ----------------------------------------------------------------------------------------------------


def test_without_its_extra_the_files_are_written_and_the_settings_when_it_is_there(tmp_path: Path) -> None:
    own = OwnFile(path=tmp_path / "SKILL.md", text=skill())
    setting = Setting(path=tmp_path / "a.json", keys=("x",), value=1)
    needy = Integration(parts=(setting, own), extra=("mcp", "no_such_package"))
    told = hindrance(needy)
    assert told is not None
    assert told.startswith("the MCP server needs no_such_package, which is not installed: ")
    carry_out(plan(needy))
    assert files(tmp_path) == {"SKILL.md": skill().encode()}
    carry_out(plan(Integration(parts=(setting,))))
    assert json.loads((tmp_path / "a.json").read_bytes()) == {"x": 1}
    carry_out(plan(needy, remove=True))
    assert files(tmp_path) == {}


@pytest.mark.parametrize("text", [None, '{"z": 0}', '{\n  "z": 0,\n  "x": {\n    "w": 0\n  }\n}\n'])
def test_two_settings_in_one_file_come_and_go(text: str | None, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    if text:
        file.write_text(text)
    both = Integration(parts=tuple(Setting(path=file, keys=("x", key), value=1) for key in "ab"))
    before = json.loads(text or "{}")
    carry_out(plan(both))
    assert json.loads(file.read_bytes()) == {**before, "x": {**before.get("x", {}), "a": 1, "b": 1}}
    assert plan(both) == []
    carry_out(plan(both, remove=True))
    assert files(tmp_path) == ({} if text is None else {"a.json": text.encode()})


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
