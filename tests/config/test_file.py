"""What config.jsonc may say, what holds without it, and how mistakes in it are told."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sesame_core.config import file as config_file
from sesame_core.config.model import Config, ModelChoice, Selection, Source
from sesame_core.config.sources import resolve_sources
from sesame_core.errors import ConfigError, PluginError
from sesame_core.plugin.hookspecs import hookimpl
from sesame_core.plugin.manager import BUNDLED, PluginManager
from sesame_core.plugin.provider import Options, Provider

from ..support.transcripts import Pi, pi_session, write


@dataclass
class FakeParser:
    """A parser that knows nothing but where its sessions are."""

    roots: Sequence[Path]
    version = 1

    def default_roots(self) -> Sequence[Path]:
        if not self.roots:
            raise KeyError("no roots")
        return self.roots

    def matches(self, path: Path) -> bool:
        return False

    def parse(self, path: Path) -> list[object]:
        return []


def plugin(name: str, *roots: Path) -> SimpleNamespace:
    """A third party's plugin with one parser; without roots it fails when asked for them."""

    def create(options: Options) -> FakeParser:
        if unknown := set(options) - {"roots"}:
            raise ConfigError(f"unknown option {unknown.pop()!r}")
        return FakeParser(options.get("roots", roots))

    provider = Provider(name=name, summary="", create=create)

    @hookimpl
    def sesame_register_parsers() -> list[Provider[FakeParser]]:
        return [provider]

    return SimpleNamespace(sesame_register_parsers=sesame_register_parsers)


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> PluginManager:
    """A plugin manager that finds no plugin but those a test registers."""
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [])
    for name in list(BUNDLED):
        monkeypatch.delitem(BUNDLED, name)
    return PluginManager()


@pytest.fixture
def file(home: Path) -> Path:
    """Where the user's config.jsonc belongs; its directory exists."""
    file = home / ".config/sesame/config.jsonc"
    file.parent.mkdir(parents=True)
    return file


def error_of(file: Path, text: str) -> str:
    """The message that a configuration is refused with, without the file's directory."""
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        config_file.load()
    message = str(caught.value)
    assert message.startswith(str(file))
    assert "\n" not in message
    return message.removeprefix(f"{file.parent}{os.sep}")


# -- what holds -------------------------------------------------------------------------------------------


def test_without_a_file_the_defaults_hold_and_nothing_is_written(home: Path) -> None:
    assert config_file.load() == Config()
    assert Config().backend == Selection(name="sqlite")
    assert Config().refresh_seconds == 0.3
    assert list(home.iterdir()) == []


def test_how_sessions_are_described_is_read(file: Path, home: Path) -> None:
    assert Config().describe.directory == home / ".local/share/sesame/sessions-meta"
    file.write_text(
        '{"describe": {"automatic": true, "minNewUserMessages": 2, "directory": "meta", "shareMarks": true}}'
    )
    described = config_file.load().describe
    assert (described.is_automatic, described.min_new_user_messages, described.shares_marks) == (True, 2, True)
    assert described.directory == file.parent / "meta"
    named = config_file.load().chosen_models(["a"])
    assert ([model.name for model in named], config_file.load().chosen_models(None)) == (["a"], [])


def test_the_seeds_configuration_is_read(file: Path, home: Path) -> None:
    file.write_text('{"sources": [{"parser": "pi", "path": "~/.pi/agent/sessions"}], "backend": "sqlite"}')
    loaded = config_file.load()
    assert loaded == Config(
        sources=(
            Source(
                parser=Selection(name="pi"),
                path=home / ".pi/agent/sessions",
                origin="config.jsonc: sources[0]",
            ),
        ),
        backend=Selection(name="sqlite"),
        file=file,
        origins={"sources": "config.jsonc", "backend": "config.jsonc"},
    )


def test_every_key_is_understood(file: Path, home: Path) -> None:
    file.write_text(
        """{
          "sources": [
            {
              "parser": {"name": "xyz", "options": {"depth": 2}},
              "path": ["~", "relative/../here"],
              "formatter": {"name": "short", "options": {"budget": 100}},
              "exclude": ["~/private", "tmp-*"],
            },
            {"parser": "pi", "options": {"thinking": true}, "formatter": "short"},
          ],
          "backend": {"name": "postgres", "options": {"dsn": "x"}},
          "refreshSeconds": 2,
          "models": [
            "near",
            {"name": "far", "seconds": 5, "inputPrice": 1, "outputPrice": 2.5},
            {"name": "x", "command": ["x", "-p", ""]},
          ],
        }"""
    )
    loaded = config_file.load()
    here, there, default = loaded.sources
    assert (here.path, there.path) == (home, file.parent / "here")
    assert here.parser == there.parser == Selection(name="xyz", options={"depth": 2})
    assert here.formatter == Selection(name="short", options={"budget": 100})
    assert here.exclude == ("~/private", "tmp-*")
    assert default.path is None
    assert default.parser == Selection(name="pi", options={"thinking": True})
    assert default.formatter == Selection(name="short")
    assert loaded.backend == Selection(name="postgres", options={"dsn": "x"})
    assert loaded.refresh_seconds == 2.0
    far = ModelChoice(name="far", seconds=5, input_price=1, output_price=2.5)
    assert loaded.models == (ModelChoice(name="near"), far, ModelChoice(name="x", command=("x", "-p", "")))
    assert isinstance(loaded.refresh_seconds, float)


@pytest.mark.parametrize("text", ["", " \n\t", "{}", "// nothing yet\n", "/* nothing\n yet */ // at all", "\ufeff{}"])
def test_a_file_that_says_nothing_leaves_the_defaults(text: str, file: Path) -> None:
    file.write_text(text, encoding="utf-8")
    loaded = config_file.load()
    assert (loaded.sources, loaded.backend, loaded.origins) == ((), Selection(name="sqlite"), {})
    assert loaded.file == file


@pytest.mark.upstream(37)
def test_slashes_in_strings_comments_and_trailing_commas(file: Path) -> None:
    file.write_text(
        """// first
        {"sources": [ /* here */ {"parser": "pi", "path": "//server/share//x" /* yes */,},], // last
        }"""
    )
    (source,) = config_file.load().sources
    assert source.path == Path(os.path.abspath("//server/share//x"))


@pytest.mark.upstream(37)
def test_a_bare_tilde_is_the_home_directory(file: Path, home: Path) -> None:
    file.write_text('{"sources": [{"parser": "pi", "path": "~"}]}')
    assert config_file.load().sources[0].path == home


def test_a_given_file_is_read_instead_of_the_users(file: Path, tmp_path: Path) -> None:
    file.write_text("nonsense")
    other = tmp_path / "other.jsonc"
    other.write_text('{"refreshSeconds": 0}')
    loaded = config_file.load(other)
    assert (loaded.refresh_seconds, loaded.file) == (0.0, other)
    assert loaded.origins == {"refreshSeconds": "other.jsonc"}


def test_loading_imports_no_plugin_and_json5_only_for_a_file(home: Path) -> None:
    program = (
        "import sys\nfrom sesame_core.config import file\nfile.load()\n"
        "print(*(name for name in sys.modules if name.split('.')[0] in"
        " ('json5', 'pluggy', 'sesame_parser_pi', 'sesame_parser_claude_code', 'sesame_backend_sqlite')))"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == ""


# -- mistakes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n  "backend": @\n}', 'config.jsonc:2:14: unexpected "@"'),
        ('{"backend": "sqlite"', "config.jsonc:1:21: unexpected end of input"),
        ('{"a": 1}\n}', 'config.jsonc:2:1: unexpected "}"'),
        ('{"backend": "a", "backend": "b"}', 'config.jsonc: duplicate key "backend" found in object'),
        ("[" * 5000, "config.jsonc: is nested too deeply"),
        ("/* never closed", "config.jsonc:1:16: unexpected end of input"),
    ],
)
def test_a_mistake_in_the_syntax_is_reported_with_its_place(text: str, message: str, file: Path) -> None:
    assert error_of(file, text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "must be an object, not a list"),
        ("null", "must be an object, not null"),
        ('{"sourcs": []}', "sourcs: unknown key; did you mean 'sources'?"),
        (
            '{"piSessionPaths": []}',
            "piSessionPaths: unknown key; there are sources, backend, redact, share, refreshSeconds, lockSeconds, "
            "indexWorkers, "
            "models, describe",
        ),
        ('{"describe": true}', "describe: must be an object, not true or false"),
        ('{"describe": {"auto": true}}', "describe.auto: unknown key; did you mean 'automatic'?"),
        ('{"describe": {"automatic": 1}}', "describe.automatic: must be true or false, not a number"),
        (
            '{"describe": {"minNewUserMessages": 0}}',
            "describe.minNewUserMessages: must be a whole number, 1 or more, not 0",
        ),
        (
            '{"describe": {"minNewUserMessages": true}}',
            "describe.minNewUserMessages: must be a whole number, 1 or more, not True",
        ),
        ('{"describe": {"directory": 1}}', "describe.directory: must be a string, not a number"),
        ('{"sources": "~/.pi"}', "sources: must be a list of sources, not a string"),
        ('{"sources": {"parser": "pi"}}', "sources: must be a list of sources, not an object"),
        ('{"sources": ["pi"]}', "sources[0]: must be an object, not a string"),
        ('{"sources": [{"path": "~"}]}', 'sources[0]: lacks "parser", the name of the plugin that reads it'),
        (
            '{"sources": [{"parser": "pi"}, {"parsr": "pi"}]}',
            "sources[1].parsr: unknown key; did you mean 'parser'?",
        ),
        (
            '{"sources": [{"parser": 7}]}',
            'sources[0].parser: must be a name or {"name": …, "options": …}, not a number',
        ),
        ('{"sources": [{"parser": ""}]}', "sources[0].parser: is empty"),
        ('{"sources": [{"parser": {"options": {}}}]}', 'sources[0].parser: lacks "name"'),
        ('{"sources": [{"parser": {"name": null}}]}', "sources[0].parser.name: must be a string, not null"),
        (
            '{"sources": [{"parser": {"nam": "pi"}}]}',
            "sources[0].parser.nam: unknown key; did you mean 'name'?",
        ),
        (
            '{"sources": [{"parser": {"name": "pi", "options": {}}, "options": {}}]}',
            'sources[0].options: the options are given twice, here and in "parser"',
        ),
        (
            '{"sources": [{"parser": "pi", "options": []}]}',
            "sources[0].options: must be an object, not a list",
        ),
        (
            '{"sources": [{"parser": "pi", "path": true}]}',
            "sources[0].path: must be a path or a list of paths, not true or false",
        ),
        (
            '{"sources": [{"parser": "pi", "path": []}]}',
            "sources[0].path: is empty; leave it out for the agent's own directory",
        ),
        (
            '{"sources": [{"parser": "pi", "path": ["~", 1]}]}',
            "sources[0].path[1]: must be a string, not a number",
        ),
        ('{"sources": [{"parser": "pi", "path": ""}]}', "sources[0].path: is empty"),
        ('{"sources": [{"parser": "pi", "path": "a\\u0000"}]}', "sources[0].path: contains a NUL character"),
        (
            '{"sources": [{"parser": "pi", "exclude": "~/x"}]}',
            "sources[0].exclude: must be a list of patterns, not a string",
        ),
        (
            '{"sources": [{"parser": "pi", "exclude": ["x", "clients/acme"]}]}',
            "sources[0].exclude[1]: 'clients/acme' cannot match: start it with '~/', '/' or '*/'",
        ),
        (
            '{"sources": [{"parser": "pi", "formatter": []}]}',
            'sources[0].formatter: must be a name or {"name": …, "options": …}, not a list',
        ),
        (
            '{"backend": {"name": "sqlite", "option": {}}}',
            "backend.option: unknown key; did you mean 'options'?",
        ),
        (
            '{"backend": {"name": "sqlite", "options": "x"}}',
            "backend.options: must be an object, not a string",
        ),
        ('{"indexWorkers": "2"}', "indexWorkers: must be a whole number of processes, not a string"),
        ('{"indexWorkers": 1.5}', "indexWorkers: must be a whole number of processes, not a number"),
        ('{"indexWorkers": true}', "indexWorkers: must be a whole number of processes, not true or false"),
        ('{"indexWorkers": null}', "indexWorkers: must be a whole number of processes, not null"),
        ('{"indexWorkers": -1}', "indexWorkers: must be 0 to 64 processes, not -1"),
        ('{"indexWorkers": 65}', "indexWorkers: must be 0 to 64 processes, not 65"),
        ('{"refreshSeconds": "1"}', "refreshSeconds: must be a number of seconds, not a string"),
        ('{"refreshSeconds": true}', "refreshSeconds: must be a number of seconds, not true or false"),
        ('{"refreshSeconds": -1}', "refreshSeconds: must be 0 or more seconds, not -1"),
        ('{"refreshSeconds": NaN}', "refreshSeconds: must be 0 or more seconds, not nan"),
        ('{"refreshSeconds": Infinity}', "refreshSeconds: must be 0 or more seconds, not inf"),
        ('{"redact": "yes"}', "redact: must be true, false or an object, not a string"),
        ('{"redact": {"enabled": 1}}', "redact.enabled: must be true or false, not a number"),
        ('{"redact": {"pattern": {}}}', "redact.pattern: unknown key; did you mean 'patterns'?"),
        ('{"redact": {"patterns": ["a"]}}', "redact.patterns: must be an object of names and patterns, not a list"),
        (
            '{"redact": {"patterns": {"A b": "a"}}}',
            "redact.patterns: 'A b' is not a valid name: use lower case, digits and dashes",
        ),
        (
            '{"redact": {"patterns": {"a": "("}}}',
            "redact.patterns.a: is not a regular expression: missing ), unterminated subpattern at position 0",
        ),
        ('{"redact": {"keep": "a"}}', "redact.keep: must be a list of patterns, not a string"),
        ('{"redact": {"keep": ["a", 1]}}', "redact.keep[1]: must be a string, not a number"),
        ('{"share": "none"}', "share: must be one of shared, metadata, private, not 'none'"),
        ('{"models": "gpt"}', "models: must be a list of models, not a string"),
        ('{"models": [""]}', "models[0]: is empty"),
        ('{"models": [7]}', "models[0]: must be an object, not a number"),
        ('{"models": [{"seconds": 1}]}', 'models[0]: lacks "name", the name of the model'),
        ('{"models": [{"command": ["b"]}]}', 'models[0]: lacks "name", the name of the model'),
        (
            '{"models": [{"name": "b", "command": "b -p"}]}',
            "models[0].command: must be a list: a program and its arguments, not a string",
        ),
        ('{"models": [{"name": "b", "command": []}]}', "models[0].command: must name a program"),
        ('{"models": [{"name": "b", "command": [""]}]}', "models[0].command: must name a program"),
        ('{"models": [{"name": "b", "command": ["b", 1]}]}', "models[0].command[1]: must be a string, not a number"),
        ('{"models": ["a", {"name": "b", "second": 1}]}', "models[1].second: unknown key; did you mean 'seconds'?"),
        ('{"models": [{"name": "b", "seconds": "1"}]}', "models[0].seconds: must be a number of seconds, not a string"),
        ('{"models": [{"name": "b", "inputPrice": -1}]}', "models[0].inputPrice: must be 0 or more dollars, not -1"),
    ],
)
def test_a_mistake_is_reported_with_its_key_and_what_would_be_right(text: str, message: str, file: Path) -> None:
    assert error_of(file, text) == f"config.jsonc: {message}"


def test_a_file_that_is_not_utf_8_is_reported(file: Path) -> None:
    file.write_bytes(b'{"backend": "\xff"}')
    with pytest.raises(ConfigError, match=r"config\.jsonc: is not UTF-8: invalid start byte at byte 13$"):
        config_file.load()


def test_a_directory_in_the_files_place_is_reported(file: Path) -> None:
    file.mkdir()
    with pytest.raises(ConfigError, match=r"config\.jsonc: cannot be read: "):
        config_file.load()


@pytest.mark.skipif(sys.platform == "win32", reason="needs symbolic links")
def test_a_link_to_nowhere_is_reported_instead_of_ignored(file: Path) -> None:
    file.symlink_to(file.parent / "gone")
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        config_file.load()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows reports no such file")
def test_a_file_in_the_directorys_place_is_reported(home: Path) -> None:
    (home / ".config").mkdir()
    (home / ".config/sesame").write_text("")
    with pytest.raises(ConfigError, match="cannot be read: Not a directory"):
        config_file.load()


def test_a_given_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.jsonc: cannot be read: No such file"):
        config_file.load(tmp_path / "absent.jsonc")


@pytest.mark.parametrize("tail", ["@", '{"a": ', "x"])
def test_a_long_run_of_comments_before_a_mistake_is_read_at_once(tail: str, file: Path) -> None:
    assert "unexpected" in error_of(file, "//      a      b      c\n" * 30 + tail)


# -- sources ----------------------------------------------------------------------------------------------


def test_without_a_file_each_default_root_that_exists_is_a_source(plugins: PluginManager, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    plugins.register(plugin("xyz", tmp_path / "there", tmp_path / "absent"), "xyz")
    plugins.register(plugin("abc", tmp_path / "absent"), "abc")
    (source,) = resolve_sources(config_file.load(), plugins)
    assert source == Source(parser=Selection(name="xyz"), path=tmp_path / "there", origin="found: default root exists")


def test_the_bundled_parsers_find_their_agents_sessions(home: Path) -> None:
    (home / ".pi/agent/sessions").mkdir(parents=True)
    (home / ".claude/projects").mkdir(parents=True)
    sources = resolve_sources(config_file.load(), PluginManager())
    assert {(source.parser.name, source.path) for source in sources} == {
        ("pi", home / ".pi/agent/sessions"),
        ("claude-code", home / ".claude/projects"),
    }


def test_a_broken_third_party_parser_is_left_out_with_a_warning(
    plugins: PluginManager, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plugins.register(plugin("broken"), "broken")
    plugins.register(plugin("xyz", tmp_path), "xyz")
    with caplog.at_level(logging.WARNING):
        (source,) = resolve_sources(Config(), plugins)
    assert source.parser.name == "xyz"
    assert caplog.messages == [
        "sessions of 'broken' are skipped: the parser 'broken' failed to return its default roots: KeyError('no roots')"
    ]


def test_a_plugin_that_cannot_be_imported_does_not_stop_the_others(
    plugins: PluginManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BUNDLED, "unimportable", "sesame_no_such_module")
    plugins.register(plugin("xyz", tmp_path), "xyz")
    assert [source.parser.name for source in resolve_sources(Config(), plugins)] == ["xyz"]


def test_a_named_source_without_a_path_stands_at_all_default_roots_with_its_own_settings(
    plugins: PluginManager, tmp_path: Path
) -> None:
    plugins.register(plugin("xyz", tmp_path / "a", tmp_path / "b"), "xyz")
    source = Source(parser=Selection(name="xyz"), exclude=("x",), origin="config.jsonc: sources[0]")
    resolved = resolve_sources(Config(sources=(source,)), plugins)
    assert [found.path for found in resolved] == [tmp_path / "a", tmp_path / "b"]
    assert {(found.exclude, found.origin) for found in resolved} == {(("x",), "config.jsonc: sources[0]")}


def test_a_parsers_options_decide_its_default_roots(plugins: PluginManager, tmp_path: Path) -> None:
    plugins.register(plugin("xyz"), "xyz")
    source = Source(parser=Selection(name="xyz", options={"roots": [tmp_path / "own"]}))
    (resolved,) = resolve_sources(Config(sources=(source,)), plugins)
    assert resolved.path == tmp_path / "own"


def test_a_named_source_whose_parser_is_broken_is_an_error(plugins: PluginManager) -> None:
    plugins.register(plugin("broken"), "broken")
    with pytest.raises(PluginError, match="the parser 'broken' failed to return its default roots"):
        resolve_sources(Config(sources=(Source(parser=Selection(name="broken")),)), plugins)


def test_sessions_dir_adds_a_claude_code_root_that_need_not_exist(
    plugins: PluginManager, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SESSIONS_DIR", "~/absent")
    named = Source(parser=Selection(name="xyz"), path=tmp_path)
    first, second = resolve_sources(Config(sources=(named,)), plugins)
    assert first == named
    assert second == Source(parser=Selection(name="claude-code"), path=home / "absent", origin="SESSIONS_DIR")
    assert resolve_sources(Config(), plugins) == (second,)


@pytest.mark.skipif(sys.platform == "win32", reason="needs symbolic links")
def test_one_place_counts_once_whatever_it_is_called(
    plugins: PluginManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.setenv("SESSIONS_DIR", str(tmp_path / "real"))
    sources = tuple(
        Source(parser=Selection(name=name), path=tmp_path / place, exclude=(place,))
        for name, place in [("claude-code", "link"), ("claude-code", "real"), ("xyz", "real")]
    )
    resolved = resolve_sources(Config(sources=sources), plugins)
    assert resolved == (sources[0], sources[2])


# -- the file that --init writes --------------------------------------------------------------------------


def test_init_writes_a_file_that_changes_nothing_and_only_the_user_can_read(home: Path) -> None:
    written = config_file.initialise()
    assert written == home / ".config/sesame/config.jsonc"
    assert config_file.load() == Config(file=written)
    assert [entry.name for entry in written.parent.iterdir()] == ["config.jsonc"]
    if sys.platform != "win32":
        assert written.stat().st_mode & 0o777 == 0o600


def test_init_refuses_to_overwrite(file: Path) -> None:
    file.write_text("mine")
    with pytest.raises(ConfigError, match=r"config\.jsonc: exists already and is left as it is$"):
        config_file.initialise()
    assert file.read_text() == "mine"


def test_init_says_why_it_cannot_write(home: Path) -> None:
    (home / ".config").write_text("a file")
    with pytest.raises(ConfigError, match=r"config\.jsonc: cannot be written: "):
        config_file.initialise()


def test_init_leaves_nothing_behind_when_it_fails(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def replace(source: str, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(ConfigError, match="cannot be written: No space left on device"):
        config_file.initialise()
    assert list(file.parent.iterdir()) == []


@pytest.mark.upstream(37)
def test_the_configuration_is_read_as_written_or_refused(home: Path, cli: Callable[..., Any]) -> None:
    config = home / ".config" / "sesame" / "config.jsonc"
    config.parent.mkdir(parents=True)
    odd = Pi("odd")
    write(home / "odd//dir" / "a.jsonl", odd.header(), odd.user("the pardalote nests"))
    pi_session("default", "the default pardalote")
    config.write_text('{\n  // a comment\n  "sources": [{"parser": "pi", "path": "~//odd//dir"},],\n}\n')
    assert cli("index", "--json").json["added"] == 1
    config.write_text('{"sources": [{"parser": "pi", "path": "~"},]}')
    assert cli("index", "--json").json["added"] == 1, "a bare ~ is the home directory"

    for text, complaint in (
        ('{"source": []}', "did you mean 'sources'?"),
        ('{"sources": "~/odd"}', "sources: must be a list of sources"),
        ('{"sources": [{"parser": "pie"}]}', "did you mean 'pi'?"),
        ('{"sources": [', "config.jsonc:1:"),
    ):
        config.write_text(text)
        done = cli("index")
        assert done.code == 1
        assert complaint in done.err
        assert "Traceback" not in done.err
    config.write_text('{"sources": [{"parser": "pi", "path": "/nowhere/at/all"}]}')
    done = cli("index")
    assert (done.code, done.err) == (1, "")
    assert "no such directory: /nowhere/at/all" in done.out
