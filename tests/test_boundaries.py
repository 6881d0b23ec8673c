"""Who may import whom: the architecture, as a test."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sesame_backend_sqlite.reader import SqliteReader
from sesame_core import JsonLines
from sesame_core.abilities import has_ability
from sesame_core.plugin import provider as protocols
from sesame_core.plugin.manager import BUNDLED
from sesame_parser_claude_code.parser import ClaudeCodeParser
from sesame_parser_pi.parser import PiParser

ROOT = Path(__file__).parents[1]
CORE = ROOT / "sesame_core"
PLUGINS = ROOT / "plugins"

CORE_FILES = sorted(path for path in CORE.rglob("*.py") if "testing" not in path.parts)
PLUGIN_FILES = sorted(PLUGINS.rglob("*.py"))

#: Packages that only these modules of the core may import; anything else's business stays its own.
OWNERS = {
    "ahocorasick_rs": {"redaction"},
    "anyio": {"mcp"},
    "json5": {"config", "config_file"},
    "llm": {"models"},
    "mcp": {"mcp"},
    "mcp_types": {"mcp"},
    "orjson": {"jsonl"},
    "platformdirs": {"paths"},
    "pluggy": {"hookimpls", "hookspecs", "plugin_manager"},
    "psycopg": set(),
    "pydantic": {"mcp"},
    "pytest": set(),
    "sqlalchemy": set(),
    "sqlite3": set(),
    "starlette": {"mcp"},
    "typer": {"cli"},
    "uvicorn": {"mcp"},
    "watchfiles": {"watching"},
}

#: What these modules may import of the core; a module that is not listed may import any but FORBIDDEN.
FOUNDATION: dict[str, set[str]] = {
    "errors": set(),
    "dataclass": set(),
    "types": {"dataclass"},
    "segments": set(),
    "folding": set(),
    "tokens": {"dataclass", "folding"},
    "jsonl": {"types"},
    "paths": set(),
    "integration": {"dataclass", "errors", "paths"},
    "options": {"dataclass", "errors", "protocols"},
    "stored": {"dataclass", "types"},
    "protocols": {"dataclass", "integration", "query", "stored", "types"},
    "renewal": {"types"},
    "rows": {"stored", "types"},
    "sql": {"dataclass", "errors", "query"},
    "hookimpls": set(),
    "hookspecs": {"hookimpls", "protocols"},
    "plugin_manager": {
        "dataclass",
        "entry_points",
        "errors",
        "hookspecs",
        "options",
        "protocols",
        "sesame_core",
    },
}

#: Imports that would bend the straight line from files to answers.
FORBIDDEN = {
    "indexer": {"cli", "rendering", "search", "ranking"},
    "sources": {"cli", "indexer", "rendering", "search"},
    "answer": {"cli", "indexer", "rendering"},
    "search": {"cli", "indexer", "rendering"},
    "ranking": {"cli", "indexer", "rendering"},
    "rendering": {"cli", "config"},
    "passages": {"cli", "indexer", "models", "rendering"},
    "models": {"cli", "indexer", "rendering", "search"},
    "programs": {"cli", "indexer", "models", "rendering", "search"},
    "asking": {"cli", "indexer", "rendering"},
    "config": {"cli", "indexer", "search", "rendering"},
}

#: Modules of the core that plugins may use.
HELPERS = {
    *("dataclass", "errors", "hookspecs", "identity", "integration", "jsonl", "options", "paths", "protocols"),
    *("query", "renewal"),
    *("rows", "segments", "sql", "stored", "tokens", "types"),
}


def imports(path: Path) -> Iterator[str]:
    """Yield what a module imports, anywhere in it, as absolute dotted names."""
    base = PLUGINS if path.is_relative_to(PLUGINS) else ROOT
    package = path.relative_to(base).parent.parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (start, node.module) if part)
            if module == "sesame_core":
                yield from (f"sesame_core.{alias.name}" for alias in node.names)
            else:
                yield module


def module_of(path: Path) -> str:
    """Return the module's name inside the core: the package's when it is one."""
    return path.relative_to(CORE).parts[0].removesuffix(".py")


def of_the_core(path: Path) -> set[str]:
    """Return the modules of the core that a file imports; names from its top level count as `sesame_core`."""
    modules = {module_of(other) for other in CORE.rglob("*.py")}
    found = {name.split(".")[1] for name in imports(path) if name.startswith("sesame_core.")}
    return {name if name in modules else "sesame_core" for name in found}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", CORE_FILES, ids=name_of)
def test_the_core_imports_no_plugin(path: Path) -> None:
    packages = {name.split(".")[0] for name in imports(path)}
    assert not packages & set(BUNDLED.values())
    assert not {name for name in packages if name.startswith("sesame_")} - {"sesame_core"}


@pytest.mark.parametrize("path", CORE_FILES, ids=name_of)
def test_each_library_has_its_owner(path: Path) -> None:
    packages = {name.split(".")[0] for name in imports(path)}
    strangers = {name for name in packages & set(OWNERS) if module_of(path) not in OWNERS[name]}
    assert not strangers


@pytest.mark.parametrize("path", CORE_FILES, ids=name_of)
def test_only_the_entry_points_import_the_command_line_and_only_that_the_server(path: Path) -> None:
    if module_of(path) not in ("cli", "__main__"):
        assert "cli" not in of_the_core(path)
    if module_of(path) not in ("cli", "mcp"):
        assert "mcp" not in of_the_core(path)


@pytest.mark.parametrize("path", CORE_FILES, ids=name_of)
def test_the_core_does_not_import_the_kit(path: Path) -> None:
    assert "testing" not in of_the_core(path)


@pytest.mark.parametrize("module", FOUNDATION)
def test_the_foundation_stands_on_itself(module: str) -> None:
    assert of_the_core(CORE / f"{module}.py") <= FOUNDATION[module]


@pytest.mark.parametrize("path", [path for path in CORE_FILES if module_of(path) in FORBIDDEN], ids=name_of)
def test_the_line_is_straight(path: Path) -> None:
    assert not of_the_core(path) & FORBIDDEN[module_of(path)]


@pytest.mark.parametrize("path", PLUGIN_FILES, ids=name_of)
def test_a_plugin_imports_the_core_and_no_other_plugin(path: Path) -> None:
    own = path.relative_to(PLUGINS).parts[0]
    packages = {name.split(".")[0] for name in imports(path)}
    assert not {name for name in packages if name.startswith("sesame_")} - {"sesame_core", own}
    assert of_the_core(path) <= HELPERS | {"sesame_core"}


@pytest.mark.parametrize("path", PLUGIN_FILES, ids=name_of)
def test_databases_are_the_backends_business(path: Path) -> None:
    if "_backend_" not in name_of(path):
        assert not {name.split(".")[0] for name in imports(path)} & {"sqlite3", "sqlalchemy", "psycopg"}


def loaded_by(code: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after running some code, and not before."""
    code = (
        f"import sys; before = set(sys.modules)\n{code}\nimport json; print(json.dumps([*(set(sys.modules) - before)]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_sesame_loads_nothing_else() -> None:
    loaded = loaded_by("import sesame_core")
    ours = {name for name in loaded if name.startswith("sesame_")}
    assert ours == {"sesame_core"}
    assert not {name.split(".")[0] for name in loaded} & {*OWNERS, "importlib.metadata", "asyncio", "email"}


def test_declaring_a_plugin_loads_no_more_than_the_contract() -> None:
    loaded = loaded_by("from sesame_core import Provider, hookimpl")
    ours = {name for name in loaded if name.startswith("sesame_core")}
    assert ours == {f"sesame_core{name}" for name in ("", ".dataclass", ".protocols", ".hookimpls")}
    assert not {name.split(".")[0] for name in loaded} & set(OWNERS)


@pytest.mark.parametrize("package", sorted(BUNDLED.values()))
def test_naming_a_bundled_plugin_loads_none_of_its_modules(package: str) -> None:
    loaded = loaded_by(f"import {package}")
    assert {name for name in loaded if name.startswith(package)} == {package}
    assert not {name.split(".")[0] for name in loaded} & set(OWNERS)


def test_asking_for_one_plugin_imports_no_other() -> None:
    loaded = loaded_by("from sesame_core.plugin_manager import PluginManager; PluginManager().formatter('default')")
    assert {name.split(".")[0] for name in loaded if name.startswith("sesame_")} == {
        "sesame_core",
        "sesame_formatter_default",
    }
    assert not {"importlib.metadata", "pluggy"} & loaded


@pytest.mark.parametrize("thing", [object(), JsonLines, PiParser(), ClaudeCodeParser(), SqliteReader])
def test_to_have_an_ability_is_to_be_an_instance(thing: object) -> None:
    abilities = [one for one in vars(protocols).values() if getattr(one, "_is_runtime_protocol", False)]
    assert len(abilities) > 4
    for ability in abilities:
        assert has_ability(thing, ability) == isinstance(thing, ability)
