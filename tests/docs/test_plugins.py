"""What docs/ says about plugins is what the code does."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import sesame_core
from sesame_core.plugin import backend, formatter, hookspecs, parser, provider
from sesame_core.plugin import manager as plugin_manager
from sesame_core.sdk import ingest, rows, sql

from ..support.tutorial import File, steps

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = DOCS / "examples"
#: The tutorials, each with the example that it shows.
TUTORIALS = {
    "tutorial-plugin.md": EXAMPLES / "sesame-parser-xyz",
    "tutorial-backend.md": EXAMPLES / "sesame-backend-pickle",
}
HOOKS = {name: hook for name, hook in vars(hookspecs).items() if name.startswith("sesame_")}
PAGE = (DOCS / "hooks.md").read_text(encoding="utf-8")
PROTOCOLS = {**vars(parser), **vars(formatter), **vars(backend)}


def test_the_headings_are_the_hooks_with_their_exact_signatures() -> None:
    expected = [f"{name}({', '.join(inspect.signature(hook).parameters)})" for name, hook in HOOKS.items()]
    assert re.findall(r"^## (.+)$", PAGE, re.M) == expected


@pytest.mark.parametrize("name", ["Parser", "ChunkFormatter", "StorageBackend", "IndexReader", "IndexWriter"])
def test_the_table_of_protocols_names_every_member(name: str) -> None:
    (row,) = re.findall(rf"^\| `{name}` \|.*$", PAGE, re.M)
    members = [m for m in vars(PROTOCOLS[name]) if not m.startswith("_")]
    assert members
    assert all(re.search(rf"`{member}[`(]", row) for member in members)


def test_every_optional_ability_is_listed_with_its_signature() -> None:
    abilities = [
        protocol
        for protocol in PROTOCOLS.values()
        if inspect.isclass(protocol) and getattr(protocol, "_is_runtime_protocol", False)
    ]
    assert {a.__name__ for a in abilities} >= {"TailParser", "Resumer", "Expiring"}
    for ability in abilities:
        methods = {name: method for name, method in vars(ability).items() if not name.startswith("_")}
        assert methods
        signatures = (
            f"`{name}({', '.join([*inspect.signature(method).parameters][1:])})`" for name, method in methods.items()
        )
        assert f"| `{ability.__name__}` | {', '.join(signatures)} |" in PAGE


def test_the_fields_of_a_provider_are_listed() -> None:
    assert f"`Provider({', '.join(inspect.signature(provider.Provider).parameters)})`" in PAGE


def test_what_a_dialect_must_fill_in_is_listed() -> None:
    section = PAGE[PAGE.index("# Backends in SQL") : PAGE.index("# Evolution")]
    signatures = (
        f"{name}({', '.join(list(inspect.signature(getattr(sql.Dialect, name)).parameters)[1:])})"
        for name in sql.Dialect.__abstractmethods__
    )
    assert all(f"| `{signature}` |" in section for signature in signatures)
    assert all(f"`{name}`" in section for name in sql.Dialect.__annotations__)
    written = {name.removeprefix("from_") for name in vars(rows.Rows) if name.startswith("from_")} - {"json"}
    assert all(f"`{name}`" in section for name in written)


def test_the_calls_that_renew_an_index_are_listed_with_their_signatures() -> None:
    functions = {
        name: f for name, f in vars(ingest).items() if inspect.isfunction(f) and f.__module__ == ingest.__name__
    }
    assert len(functions) > 4
    for name, function in functions.items():
        assert f"| `{name}({', '.join(inspect.signature(function).parameters)})` |" in PAGE


def test_every_bundled_name_is_listed_as_taken() -> None:
    assert all(f"`{name}`" in PAGE for name in plugin_manager.BUNDLED)


def test_every_error_a_plugin_may_raise_can_be_imported_from_the_top() -> None:
    errors = re.findall(r"^\| `(\w+Error)` \|", PAGE, re.M)
    assert errors
    assert all(error in sesame_core.__all__ for error in errors if error != "OSError")


@pytest.mark.parametrize("page", TUTORIALS)
def test_a_tutorial_shows_every_file_of_its_example_as_it_is(page: str) -> None:
    example = TUTORIALS[page]
    files = {
        path.relative_to(example).as_posix(): path.read_text(encoding="utf-8")
        for pattern in ("*.toml", "src/*/*.py", "tests/*.py")
        for path in example.glob(pattern)
    }
    shown = {step.path: step.text for step in steps(DOCS / page) if isinstance(step, File)}
    assert {path: text for path, text in shown.items() if not path.startswith(("~", "trial/"))} == files


def test_the_parser_of_the_tutorial_is_short() -> None:
    code = TUTORIALS["tutorial-plugin.md"] / "src" / "sesame_parser_xyz" / "parser.py"
    assert len(code.read_text(encoding="utf-8").splitlines()) <= 40


def test_the_backend_of_the_tutorial_is_short() -> None:
    files = [path.read_text(encoding="utf-8") for path in TUTORIALS["tutorial-backend.md"].glob("src/*/*.py")]
    assert len([line for file in files for line in file.splitlines() if line.strip()]) <= 350


def test_the_example_in_a_hook_is_the_one_on_the_page() -> None:
    code, *_ = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
    documented = inspect.getdoc(hookspecs.sesame_register_parsers) or ""
    for line in code.splitlines():
        if line.startswith(("    return", "@", "def")):
            assert line.strip() in documented
