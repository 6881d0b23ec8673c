"""What `sesame config` tells: values with their origins, problems, and no secrets."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sesame_core.config import file as config_file
from sesame_core.config.model import Config, Selection, Source
from sesame_core.config.report import check, describe, masked
from sesame_core.plugin.hookspecs import hookimpl
from sesame_core.plugin.manager import PluginManager
from sesame_core.plugin.provider import Provider


@pytest.fixture
def file(home: Path) -> Path:
    file = home / ".config/sesame/config.jsonc"
    file.parent.mkdir(parents=True)
    return file


def described(text: str, file: Path) -> dict[str, Any]:
    file.write_text(text)
    report = describe(config_file.load(), PluginManager())
    assert json.loads(json.dumps(report)) == report
    return report


def test_defaults_say_that_they_are_defaults(home: Path) -> None:
    report = describe(Config(), PluginManager())
    assert report["backend"] == {"name": "sqlite", "options": {}, "origin": "default"}
    assert report["refreshSeconds"] == {"value": 0.3, "origin": "default"}
    assert report["models"] == {"value": [], "origin": "default"}
    assert report["dataDir"] == {"value": str(home / ".local/share/sesame"), "origin": "XDG_DATA_HOME"}
    assert report["configFile"] == {
        "value": str(home / ".config/sesame/config.jsonc"),
        "origin": "XDG_CONFIG_HOME",
        "exists": False,
    }
    assert report["workstation"]["origin"] == "default"
    assert report["sources"] == []
    assert report["problems"] == []


def test_describing_without_a_model_is_a_problem(file: Path, home: Path) -> None:
    report = described('{"describe": {"automatic": true}}', file)
    assert report["describe"] == {
        "automatic": True,
        "minNewUserMessages": 5,
        "shareMarks": False,
        "directory": str(home / ".local/share/sesame/sessions-meta"),
        "origin": "config.jsonc",
    }
    assert report["problems"] == ['config.jsonc: describe.automatic: needs a model in "models"']
    assert described('{"describe": {"automatic": true}, "models": ["x"]}', file)["problems"] == []


def test_each_value_says_where_it_came_from(
    file: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SESSIONS_DIR", "~/more")
    monkeypatch.setenv("SESAME_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("WORKSTATION_ID", "desk")
    (home / "sessions").mkdir()
    report = described(
        '{"sources": [{"parser": "pi", "path": "~/sessions", "exclude": ["x"]}], "refreshSeconds": 1}', file
    )
    assert report["sources"] == [
        {
            "parser": {"name": "pi", "options": {}},
            "path": str(home / "sessions"),
            "exists": True,
            "formatter": {"name": "default", "options": {}},
            "exclude": ["x"],
            "origin": "config.jsonc: sources[0]",
        },
        {
            "parser": {"name": "claude-code", "options": {}},
            "path": str(home / "more"),
            "exists": False,
            "formatter": {"name": "default", "options": {}},
            "exclude": [],
            "origin": "SESSIONS_DIR",
        },
    ]
    assert report["refreshSeconds"] == {"value": 1.0, "origin": "config.jsonc"}
    assert report["backend"]["origin"] == "default"
    assert report["dataDir"] == {"value": str(tmp_path), "origin": "SESAME_DATA_DIR"}
    assert report["workstation"] == {"value": "desk", "origin": "WORKSTATION_ID"}
    assert report["configFile"]["exists"] is True
    assert report["problems"] == []


def test_a_file_given_by_the_caller_says_so(tmp_path: Path) -> None:
    report = describe(Config(file=tmp_path / "x.jsonc"), PluginManager())
    assert report["configFile"] == {"value": str(tmp_path / "x.jsonc"), "origin": "given", "exists": True}


def test_everything_that_is_wrong_is_reported_at_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKSTATION_ID", "a b")
    report = described(
        """{
          "sources": [
            {"parser": "claud-code"},
            {"parser": "sqlite"},
            {"parser": "pi", "path": ["/no/such/place", "/nor/here"], "formatter": "defualt"},
          ],
          "backend": {"name": "sqlite", "options": {"directry": "x"}},
        }""",
        file,
    )
    assert [problem.split(" (")[0] for problem in report["problems"]] == [
        "config.jsonc: sources[0]: no plugin named 'claud-code' is installed; did you mean 'claude-code'?",
        "config.jsonc: sources[1]: plugin 'sqlite'",
        "config.jsonc: sources[2]: no plugin named 'defualt' is installed; did you mean 'default'?",
        "config.jsonc: sources[2]: /no/such/place does not exist",
        "config.jsonc: sources[2]: /nor/here does not exist",
        "config.jsonc: backend: the sqlite backend has no option 'directry'; did you mean 'directory'?",
        "environment: WORKSTATION_ID must be 1 to 64 letters, digits, '.', '_' or '-', not 'a b'",
    ]
    assert [source["path"] for source in report["sources"]] == [None, None, "/no/such/place", "/nor/here"]
    assert report["workstation"] == {"value": None, "origin": "WORKSTATION_ID"}


def test_a_parser_that_cannot_tell_its_roots_is_a_problem_only_when_it_must() -> None:
    class Rootless:
        version = 1
        matches = parse = None

        def default_roots(self) -> list[Path]:
            raise RuntimeError("gone")

    @hookimpl
    def sesame_register_parsers() -> list[Provider[Rootless]]:
        return [Provider(name="rootless", summary="", create=lambda options: Rootless())]

    plugins = PluginManager()
    plugins.register(SimpleNamespace(sesame_register_parsers=sesame_register_parsers), "rootless")
    selection = Selection(name="rootless")
    there = Config(sources=(Source(parser=selection, path=Path("/"), origin="config.jsonc: sources[0]"),))
    nowhere = Config(sources=(Source(parser=selection, origin="config.jsonc: sources[0]"),))
    assert check(there, plugins) == []
    assert check(nowhere, plugins) == [
        "config.jsonc: sources[0]: the parser 'rootless' failed to return its default roots: RuntimeError('gone')"
    ]


def test_a_missing_sessions_dir_is_not_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESSIONS_DIR", "/no/such/place")
    assert check(Config(), PluginManager()) == []


def test_no_secret_is_shown(tmp_path: Path) -> None:
    options = {
        "dsn": "host=db password=hunter2",
        "url": "postgresql://ada:hunter2@db/sessions",
        "nested": [{"apiKey": "hunter2", "accessTokens": ["hunter2"], "PGPASSWORD": 0xBEEF}],
        "schema": "public",
        "useToken": True,
        "password": None,
    }
    unknown = Selection(name="no-such-backend", options=options)
    source = Source(parser=Selection(name="pi", options=options), path=tmp_path)
    report = describe(Config(backend=unknown, sources=(source,)), PluginManager())
    assert "hunter2" not in json.dumps(report)
    assert report["backend"]["options"] == report["sources"][0]["parser"]["options"]
    assert report["backend"]["options"] == {
        "dsn": "***",
        "url": "postgresql://ada:***@db/sessions",
        "nested": [{"apiKey": "***", "accessTokens": "***", "PGPASSWORD": "***"}],
        "schema": "public",
        "useToken": True,
        "password": None,
    }


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://ada:hunter2@db:5432/x", "postgresql://ada:***@db:5432/x"),
        ("postgresql+psycopg://:hunter2@/x", "postgresql+psycopg://:***@/x"),
        ("postgres://ada:hunt@er/2@db/x", "postgres://ada:***@db/x"),
        ("failed for 'postgres://ada:hunter2@db' there", "failed for 'postgres://ada:***@db' there"),
        (
            "postgresql://db/x?user=ada&password=hunter2&sslmode=on",
            "postgresql://db/x?user=ada&password=***&sslmode=on",
        ),
        ("host=db password = 'hunter 2' user=ada", "host=db password = *** user=ada"),
        ("PGPASSWORD=hunter2", "PGPASSWORD=***"),
        ("https://example.org:8080/a", "https://example.org:8080/a"),
        ("/home/ada/passwords/x", "/home/ada/passwords/x"),
        (7, 7),
    ],
)
def test_passwords_inside_text_are_masked(text: object, shown: object) -> None:
    assert masked(text) == shown
