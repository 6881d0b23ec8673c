"""Who may import whom: the architecture, as a test."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from sesame_core.plugin.manager import BUNDLED

ROOT = Path(__file__).parents[1]
CORE = ROOT / "sesame_core"
PLUGINS = ROOT / "plugins"

#: The packages of the core from the top of the house to the ground.  A package imports what stands on lower lines;
#: those on one line do not know each other.  Every module is in one of them.
LAYERS = (
    ("__main__",),
    ("cli",),
    ("mcp", "picker", "web"),
    ("sesame_core",),
    ("runtime",),
    ("api", "rendering"),
    ("sharing", "generation", "questions"),
    ("indexing", "search", "privacy", "integration"),
    ("metadata",),
    ("config", "query"),
    ("plugin", "sdk"),
    ("tool_calls",),
    ("text",),
    ("types",),
    ("errors", "dataclass", "demo", "installation"),
)
FLOOR = {package: len(LAYERS) - n for n, packages in enumerate(LAYERS) for package in packages}
#: Beside the layers: nothing of the core imports the kit, and this is what it imports.
TESTING = {"testing", "plugin", "query", "sdk", "text", "types", "errors", "dataclass", "sesame_core"}
#: Imports against the order, each with its reason.
EXCEPTIONS = {
    ("types.query", "query.serializer"): "str(query) is public, and is written by what reads it: looked up late",
    ("installation", "sesame_core"): "the name of the distribution, next to its version",
    ("plugin.manager", "sesame_core"): "`sesame plugins` tells the version of the bundled ones: looked up late",
}
#: The public face, `sesame_core/__init__.py`, as a module of itself.
FACE = "sesame_core"

#: Who may import a third-party package: a package of the core, or one module of it.  Nobody, where the set is empty.
OWNERS: dict[str, set[str]] = {
    "ahocorasick_rs": {"privacy.triggers"},
    "anyio": {"mcp"},
    "filelock": {"metadata", "generation"},
    "json5": {"config.file"},
    "jinja2": {"web.showing"},
    "llm": {"generation.models"},
    "markdown_it": {"rendering.export.markup"},
    "mcp": {"mcp"},
    "mcp_types": {"mcp"},
    "orjson": {"sdk.jsonl"},
    "platformdirs": {"config.paths"},
    "pluggy": {"plugin"},
    "psycopg": set(),
    "pydantic": {"mcp"},
    "pytest": {"testing"},
    "rich": {"rendering.screen.markdown"},
    "sqlalchemy": set(),
    "snowballstemmer": {"testing.memory.words"},
    "sqlite3": {"sdk.databases"},
    "starlette": {"mcp", "web"},
    "typer": {"cli"},
    "typing_extensions": {"rendering", "mcp"},
    "uvicorn": {"runtime.serving"},
    "watchfiles": {"runtime.watcher"},
}
#: What plugins may import of the core: packages whole, or one module of them.
OPEN = {"sesame_core", "dataclass", "errors", "installation", "types", "text", "plugin", "sdk"} | {
    "config.paths",
    "config.identity",
    "query.filters",
}


def imports(path: Path) -> Iterator[str]:
    """Yield what a module imports, anywhere in it and for types only, too, as absolute dotted names."""
    base = PLUGINS if path.is_relative_to(PLUGINS) else ROOT
    package = path.relative_to(base).parent.parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (start, node.module) if part)
            for alias in node.names:
                name = f"{module}.{alias.name}"
                yield name if module.startswith("sesame_core") and is_module(name) else module


def is_module(name: str) -> bool:
    place = ROOT.joinpath(*name.split("."))
    return place.with_suffix(".py").exists() or (place / "__init__.py").exists()


def name_of(path: Path) -> str:
    """Return a module's name inside the core: `query.parser`, `errors`; a package's own is the package's."""
    parts = path.relative_to(CORE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or FACE


@cache
def modules() -> dict[str, set[str]]:
    """Return what each module of the core imports of the core."""
    found: dict[str, set[str]] = {}
    for path in sorted(CORE.rglob("*.py")):
        names = {name.removeprefix("sesame_core.") for name in imports(path) if name.split(".")[0] == "sesame_core"}
        found[name_of(path)] = names
    return found


def package_of(module: str) -> str:
    return module.split(".")[0]


@pytest.mark.once
def test_every_module_stands_on_a_layer() -> None:
    assert {package_of(module) for module in modules()} == {*FLOOR, "testing"}


@pytest.mark.once
def test_every_import_goes_down() -> None:
    up, used, down = [], set(), 0
    for module, names in modules().items():
        for name in names:
            mine, other = package_of(module), package_of(name)
            if (module, name) in EXCEPTIONS:
                used.add((module, name))
            elif mine == "testing":
                up += [] if other in TESTING else [f"{module} -> {name}"]
            elif mine != other and FLOOR.get(other, len(LAYERS)) >= FLOOR[mine]:
                up.append(f"{module} -> {name}")
            else:
                down += 1
    print(f"{len(modules())} modules, {down} imports go down or stay, {len(up)} go up, {len(used)} exceptions")
    assert up == []
    assert used == EXCEPTIONS.keys(), "an exception that is not needed any more"


@pytest.mark.once
def test_no_modules_import_each_other_in_a_circle() -> None:
    """Type-only imports count, inside of packages too; the exceptions are the only way back."""
    arrows = {
        module: {name for name in names if (module, name) not in EXCEPTIONS} & modules().keys()
        for module, names in modules().items()
    }
    while free := {module for module, names in arrows.items() if not names & arrows.keys()}:
        for module in free:
            del arrows[module]
    assert arrows == {}, "these are on circles, or above one"


@pytest.mark.once
def test_a_package_says_what_it_owns() -> None:
    for place in CORE.iterdir():
        if (place / "__init__.py").exists():
            text = ast.get_docstring(ast.parse((place / "__init__.py").read_text(encoding="utf-8"))) or ""
            assert text.count(".") >= 2, f"{place.name}: say what it owns, and what it must not do"


@pytest.mark.once
def test_each_library_has_its_owner() -> None:
    strangers = [
        f"{module} -> {package}"
        for path in CORE.rglob("*.py")
        if (module := name_of(path))
        for package in {name.split(".")[0] for name in imports(path)} & OWNERS.keys()
        if not {module, package_of(module)} & OWNERS[package]
    ]
    assert strangers == []


@pytest.mark.once
def test_no_module_of_the_core_imports_a_plugin() -> None:
    for path in CORE.rglob("*.py"):
        packages = {name.split(".")[0] for name in imports(path)}
        assert not {name for name in packages if name.startswith("sesame_")} - {"sesame_core"}, path


@pytest.mark.once
def test_a_plugin_imports_what_is_open_and_no_other_plugin() -> None:
    for path in PLUGINS.rglob("*.py"):
        own = path.relative_to(PLUGINS).parts[0]
        names = set(imports(path))
        assert not {n.split(".")[0] for n in names if n.startswith("sesame_")} - {"sesame_core", own}, path
        core = {n.removeprefix("sesame_core.") for n in names if n.split(".")[0] == "sesame_core"}
        assert not {name for name in core if not {name, package_of(name)} & OPEN}, path


@pytest.mark.once
def test_only_backends_import_databases() -> None:
    for path in PLUGINS.rglob("*.py"):
        if "_backend_" not in path.relative_to(PLUGINS).parts[0]:
            assert not {name.split(".")[0] for name in imports(path)} & {"sqlite3", "sqlalchemy", "psycopg"}, path


def loaded_by(code: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after running some code, and not before."""
    code = (
        f"import sys; before = set(sys.modules)\n{code}\nimport json; print(json.dumps([*(set(sys.modules) - before)]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_sesame_loads_nothing_else() -> None:
    loaded = loaded_by("import sesame_core")
    assert {name for name in loaded if name.startswith("sesame_")} == {"sesame_core"}
    assert not {name.split(".")[0] for name in loaded} & {*OWNERS, "importlib.metadata", "asyncio", "email"}


def test_declaring_a_plugin_loads_no_more_than_the_contract() -> None:
    loaded = loaded_by("from sesame_core import Provider, hookimpl")
    assert {name for name in loaded if name.startswith("sesame_core")} == {
        f"sesame_core{name}" for name in ("", ".dataclass", ".plugin", ".plugin.provider", ".plugin.markers")
    }
    assert not {name.split(".")[0] for name in loaded} & set(OWNERS)


@pytest.mark.parametrize("package", sorted(BUNDLED.values()))
def test_naming_a_bundled_plugin_loads_none_of_its_modules(package: str) -> None:
    loaded = loaded_by(f"import {package}")
    assert {name for name in loaded if name.startswith(package)} == {package}
    assert not {name.split(".")[0] for name in loaded} & set(OWNERS)


def test_asking_for_one_plugin_imports_no_other() -> None:
    loaded = loaded_by("from sesame_core.plugin.manager import PluginManager; PluginManager().formatter('default')")
    assert {name.split(".")[0] for name in loaded if name.startswith("sesame_")} == {
        "sesame_core",
        "sesame_formatter_default",
    }
    assert not {"importlib.metadata", "pluggy"} & loaded


def test_the_first_list_of_the_picker_needs_only_the_standard_library() -> None:
    loaded = loaded_by("import sesame_core.picker.app; from sesame_core import Sesame; Sesame().search(limit=30)")
    assert not {name.split(".")[0] for name in loaded} & ({*OWNERS, "asyncio", "logging", "curses"} - {"sqlite3"})
