"""pyproject.toml, plugins/ and the plugin manager tell the same story."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import tomllib
from pathlib import Path

import pytest

import sesame_core
from sesame_core import DISTRIBUTION
from sesame_core.plugin.manager import BUNDLED, ENTRY_POINT_GROUP, PluginManager
from sesame_core.testing import BackendConformance, FormatterConformance, ParserConformance, PluginConformance

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
KITS: dict[str, type[PluginConformance]] = {
    kit.kind: kit for kit in (ParserConformance, FormatterConformance, BackendConformance)
}


def test_every_plugin_on_disk_is_shipped_and_bundled() -> None:
    on_disk = {path.parent.name for path in (ROOT / "plugins").glob("*/__init__.py")}
    assert on_disk == set(BUNDLED.values())
    assert {f"plugins/{name}" for name in on_disk} | {"sesame_core"} == set(PACKAGES)


def test_every_plugin_is_type_checked_and_measured() -> None:
    packages = {Path(package).name for package in PACKAGES}
    assert set(PROJECT["tool"]["mypy"]["packages"]) == packages
    assert set(PROJECT["tool"]["coverage"]["run"]["source_pkgs"]) == packages


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_ships_its_types(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()


def test_the_names_in_the_code_are_those_of_the_distribution() -> None:
    assert PROJECT["project"]["name"] == DISTRIBUTION
    example = tomllib.loads((ROOT / "docs/examples/sesame-parser-xyz/pyproject.toml").read_text("utf-8"))
    assert DISTRIBUTION in example["project"]["dependencies"]
    assert list(example["project"]["entry-points"]) == [ENTRY_POINT_GROUP]


def test_the_version_stands_in_one_place() -> None:
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "sesame_core/__init__.py"
    assert sesame_core.version() == sesame_core.__version__ == importlib.metadata.version(DISTRIBUTION)


def test_no_plugin_of_ours_is_an_entry_point() -> None:
    assert "entry-points" not in PROJECT["project"]


def test_the_kit_is_part_of_the_wheel() -> None:
    spec = importlib.util.find_spec("sesame_core.testing")
    assert spec is not None
    assert spec.origin is not None
    assert Path(spec.origin).is_relative_to(ROOT / "sesame_core")


def kits() -> set[tuple[str, str]]:
    """What the classes under tests/plugins run the kit on: the kind and the name of a provider."""
    found = set()
    for path in (ROOT / "tests" / "plugins").rglob("test_*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
                bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
                set_to = {ast.unparse(p.targets[0]): p.value for p in node.body if isinstance(p, ast.Assign)}
                name = ast.literal_eval(set_to["name"]) if "name" in set_to else ""
                found |= {(kind, name) for kind, kit in KITS.items() if kit.__name__ in bases}
    return found


def test_every_bundled_parser_formatter_and_backend_passes_the_kit() -> None:
    provided = {(info.kind, info.name) for info in PluginManager().catalogue() if info.name in BUNDLED}
    assert {name for _, name in provided} == set(BUNDLED)
    assert {kind for kind, _ in provided} == set(KITS)
    assert provided - kits() == set()


def test_the_public_names_are_the_lazy_ones() -> None:
    assert sesame_core.__all__ == sorted({*sesame_core._HOME_OF, "version"})
    for name in sesame_core.__all__:
        assert getattr(sesame_core, name) is not None


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        sesame_core.no_such_name  # noqa: B018
