"""What an error says to install a missing extra, by how Sesame was installed; some of it with the real programs."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sesame_core import installation
from sesame_core.installation import Kind, adding, kind, lasting, upgrading

REPOSITORY = Path(__file__).resolve().parents[1]
#: What comes after it in an error is the command.
MISSING = "watching needs watchfiles, which is not installed: "

Prefix = Callable[..., Path]


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prefix:
    """Make an environment with these files, and let this process run in it."""

    def make(place: str, **files: str) -> Path:
        made = tmp_path / place
        made.mkdir(parents=True)
        for name, text in files.items():
            (made / name.replace("__", ".").replace("_tag", ".TAG")).write_text(text)
        monkeypatch.setattr("sys.prefix", str(made))
        return made

    return make


def test_an_environment_of_pip_gets_what_the_extra_needs_by_its_own_python() -> None:
    assert shlex.split(adding("watch")) == [sys.executable, "-m", "pip", "install", "watchfiles>=1"]
    assert set(shlex.split(adding("postgres"))[4:]) == {"ahocorasick-rs>=1", "psycopg[binary]>=3.2", "sqlalchemy>=2"}


def test_an_environment_without_pip_is_served_by_uv_or_gets_pip_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shlex.split(adding("watch")) == shlex.split(
        f"{sys.executable} -m ensurepip && {sys.executable} -m pip install 'watchfiles>=1'"
    )
    (tmp_path / "uv").write_text("#!/bin/sh\n")
    (tmp_path / "uv").chmod(0o755)
    assert shlex.split(adding("watch")) == ["uv", "pip", "install", "--python", sys.executable, "watchfiles>=1"]


def test_the_python_of_a_distribution_is_overridden_as_when_sesame_was_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "EXTERNALLY-MANAGED").touch()
    monkeypatch.setattr("sys.prefix", sys.base_prefix)
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    monkeypatch.setattr("site.ENABLE_USER_SITE", True)
    monkeypatch.setattr("site.getusersitepackages", lambda: str(REPOSITORY))
    options = ["--user", "--break-system-packages"]
    assert shlex.split(adding("watch")) == [sys.executable, "-m", "pip", "install", *options, "watchfiles>=1"]


def test_an_extra_that_the_metadata_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shlex.split(adding("fox"))[-1] == "sesame-search[fox]"


def test_an_environment_of_pipx_gets_it_injected_under_its_own_name(prefix: Prefix) -> None:
    prefix("venvs/sesame-search-x", pipx_metadata__json="{}")
    assert kind() is Kind.PIPX
    assert adding("watch") == "pipx inject sesame-search-x 'watchfiles>=1'"
    assert upgrading() == "pipx upgrade sesame-search-x"


@pytest.mark.parametrize(
    ("receipt", "command"),
    [
        ('requirements = [{ name = "sesame-search" }]', "'sesame-search[watch]'"),
        (
            'requirements = [{ name = "sesame-search", extras = ["mcp"], specifier = ">=0.1" }, { name = "fox", '
            'specifier = ">=2" }]\npython = "3.12"',
            "--python 3.12 --with 'fox>=2' 'sesame-search[mcp,watch]>=0.1'",
        ),
        (
            'requirements = [{ name = "fox", directory = "/a b" }, { name = "sesame-search", git = '
            '"https://fox.example/s?rev=main" }]',
            "--with 'fox @ file:///a%20b' 'sesame-search[watch] @ git+https://fox.example/s@main'",
        ),
        ('requirements = [{ name = "sesame-search", editable = "/w" }]', "--editable '/w[watch]'"),
        ('requirements = ["sesame-search"]', "'sesame-search[watch]'"),
        ("requirements = 7", "'sesame-search[watch]'"),
    ],
)
def test_a_tool_of_uv_is_installed_again_as_its_receipt_says(receipt: str, command: str, prefix: Prefix) -> None:
    (prefix("tools/sesame-search") / "uv-receipt.toml").write_text(f"[tool]\n{receipt}\n")
    assert adding("watch") == f"uv tool install {command}"
    assert upgrading() == "uv tool upgrade sesame-search"


def test_sesame_in_the_environment_of_another_tool_keeps_that_tool(prefix: Prefix) -> None:
    receipt = '[tool]\nrequirements = [{ name = "fox" }, { name = "sesame-search" }]\n'
    (prefix("tools/fox") / "uv-receipt.toml").write_text(receipt)
    assert adding("watch") == "uv tool install --with sesame-search --with 'watchfiles>=1' fox"


def test_what_runs_from_a_cache_is_run_again_with_the_extra_and_can_be_installed(
    prefix: Prefix, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "_named", lambda *extras: f"sesame-search[{','.join(extras)}]")
    monkeypatch.setattr("sys.argv", ["/x/bin/sesame", "watch"])
    made = prefix("uv/archive/abc", pyvenv__cfg="home = /x\nuv = 0.13\n")
    assert kind() is Kind.PIP, "an environment that uv has made, and not in its cache"
    (made.parent / "CACHEDIR.TAG").touch()
    assert kind() is Kind.UVX
    assert adding("watch") == "uvx --from 'sesame-search[watch]' sesame watch"
    assert lasting("mcp") == "uv tool install 'sesame-search[mcp]'"
    (made / "pipx_metadata.json").write_text("{}")
    assert kind() is Kind.PIPX_RUN
    assert adding("watch") == "pipx run --spec 'sesame-search[watch]' sesame watch"
    assert lasting("mcp") == "pipx install 'sesame-search[mcp]'"


def test_a_cache_is_refused_by_integrate_with_the_command_that_installs(
    prefix: Prefix, home: Path, cli: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "_named", lambda *extras: f"sesame-search[{','.join(extras)}]")
    made = prefix("cache/abc", pyvenv__cfg="uv = 0.13\n")
    (made.parent / "CACHEDIR.TAG").touch()
    ran = cli("integrate", "claude", "--yes")
    assert ran.err == (  # type: ignore[attr-defined]
        "sesame: this Sesame runs from the cache of uvx, and agents need one that stays: "
        "uv tool install 'sesame-search[mcp]' && sesame integrate claude\n"
    )
    assert list(home.iterdir()) == []


# -- real programs ----------------------------------------------------------------------------------------------


def run(*command: object, environment: dict[str, str]) -> str:
    """Run a command, and return what it prints on either stream."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words, env=environment, stdin=subprocess.DEVNULL, stdout=-1, stderr=-2, text=True, timeout=300, check=False
    )
    assert done.returncode == 0 or "sesame" in Path(words[0]).name, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The directory of `pipx` and `uv`, and a wheel of Sesame; without a package index skipped, in CI failed."""
    place = tmp_path_factory.mktemp("programs")
    subprocess.run([sys.executable, "-m", "venv", place / "tools"], check=True, timeout=300)
    pip = [sys.executable, "-m", "pip", f"--python={place}/tools/bin/python", "--quiet"]
    wheel = ["wheel", "--no-deps", f"--wheel-dir={place}", str(REPOSITORY)]
    for command in ([*pip, "install", "pipx", "uv"], [*pip, *wheel]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        if done.returncode:
            (pytest.fail if os.environ.get("CI") else pytest.skip)(f"pip cannot get pipx and uv: {done.stderr}")
    return place / "tools" / "bin", next(place.glob("*.whl"))


@pytest.mark.once
@pytest.mark.parametrize("maker", ["uv tool", "pipx", "uv venv"])
def test_the_command_of_the_error_is_all_that_is_needed(maker: str, programs: tuple[Path, Path], home: Path) -> None:
    tools, wheel = programs
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("VIRTUAL_ENV", "PYTEST"))}
    environment["PATH"] = os.pathsep.join((str(home / ".local" / "bin"), str(tools), environment["PATH"]))
    environment |= {"UV_PYTHON": sys.executable, "UV_LINK_MODE": "copy", "PIPX_DEFAULT_PYTHON": sys.executable}
    environment["XDG_CACHE_HOME"] = str(tools.parent / "cache")  # shared by the tests of this module
    sesame = home / ".local" / "bin" / "sesame"
    if maker == "uv tool":
        run("uv", "tool", "install", "--quiet", wheel, environment=environment)
    elif maker == "pipx":
        run("pipx", "install", "--quiet", wheel, environment=environment)
    else:
        sesame = home / "my env" / "bin" / "sesame"
        python = sesame.with_name("python")
        run("uv", "venv", "--quiet", sesame.parents[1], environment=environment)
        run("uv", "pip", "install", "--quiet", "--python", python, wheel, environment=environment)
    told = run(sesame, "integrate", "claude", "--yes", environment=environment)
    assert [path.name for path in (home / ".claude").rglob("*.md")] == ["SKILL.md"], "the skill is written all the same"
    assert not (home / ".claude.json").exists()
    if maker != "pipx":  # which has no cache of the packages of the server
        run("sh", "-c", told.partition("not installed: ")[2], environment=environment)
        assert json.loads((home / ".claude.json").read_bytes())["mcpServers"]["sesame"]["command"] == str(sesame)
    said = run(sesame, "watch", environment=environment)
    assert said.startswith(f"sesame: {MISSING}")
    run("sh", "-c", said.partition(MISSING)[2], environment=environment)
    python = Path(os.path.realpath(sesame)).with_name("python")
    run(python, "-c", "import watchfiles, sesame_core.cli", environment=environment)


@pytest.mark.once
def test_the_command_of_the_readme_runs_without_an_installation(programs: tuple[Path, Path], home: Path) -> None:
    tools, wheel = programs
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("VIRTUAL_ENV", "PYTEST"))}
    environment["PATH"] = os.pathsep.join((str(tools), environment["PATH"]))
    environment |= {"UV_PYTHON": sys.executable, "UV_LINK_MODE": "copy"}
    environment["XDG_CACHE_HOME"] = str(tools.parent / "cache")
    shown = run("uvx", "--from", f"{wheel}[mcp,redact,watch]", "sesame", "demo", environment=environment)
    assert "$ sesame search" in shown
    assert "[1.00]" in shown
    assert not (home / ".local" / "bin").exists()
