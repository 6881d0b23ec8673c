"""docs/config.md says what the code does: keys, variables, examples."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sesame_core.config import file as config_file
from sesame_core.config import identity, schema
from sesame_core.config.model import SESSIONS_DIR, Config
from sesame_core.errors import ConfigError
from sesame_core.plugin.manager import BUNDLED, PluginManager

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = (REPOSITORY / "docs/config.md").read_text(encoding="utf-8")
DOCUMENTS = [*sorted((REPOSITORY / "docs").rglob("*.md")), REPOSITORY / "README.md"]

#: A line of the template that is a setting and not prose, behind its slashes.
_SETTING = re.compile(r"""^  // (?=[ "{}\[\]])""", re.MULTILINE)


def section(heading: str) -> str:
    """The text under a heading, down to the next one of its level or above."""
    level = heading.partition(" ")[0]
    _, found, rest = PAGE.partition(f"\n{heading}\n")
    assert found, f"docs/config.md has no heading {heading!r}"
    return re.split(rf"^#{{1,{len(level)}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def table(heading: str) -> list[str]:
    """The names in the first column of the first table under a heading."""
    rows = section(heading).partition("\n|---")[2].partition("\n\n")[0]
    return re.findall(r"^\| `([^`]+)` \|", rows, flags=re.MULTILINE)


def blocks() -> Iterator[object]:
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8") if document.exists() else ""
        for number, block in enumerate(re.findall(r"^```jsonc\n(.*?)^```", text, re.DOTALL | re.MULTILINE)):
            yield pytest.param(block, id=f"{document.name}-{number}")


def test_every_key_has_a_section_and_every_section_a_key() -> None:
    headings = re.findall(r"^### `(\w+)`$", PAGE, flags=re.MULTILINE)
    assert tuple(headings) == schema.KEYS


def test_every_key_of_a_source_is_in_its_table_and_no_other() -> None:
    assert tuple(table("### `sources`")) == schema.SOURCE_KEYS


def test_every_key_of_a_plugin_is_in_its_table_and_no_other() -> None:
    assert tuple(table("### Plugins with options")) == schema.SELECTION_KEYS


def test_every_key_of_redact_is_in_its_table_and_no_other() -> None:
    assert tuple(table("### `redact`")) == schema.REDACTION_KEYS


def test_every_key_of_a_model_is_in_its_table_and_no_other() -> None:
    assert tuple(table("### `models`")) == schema.MODEL_KEYS


def test_every_key_of_describe_is_in_its_table_with_its_default() -> None:
    assert tuple(table("### `describe`")) == schema.DESCRIBE_KEYS
    assert f"| `{Config().describe.min_new_user_messages}` |" in section("### `describe`")
    assert Config().describe.directory.name == "sessions-meta"
    assert not Config().describe.is_automatic


def test_the_documented_defaults_are_the_real_ones() -> None:
    assert f'Default: `"{Config().backend.name}"`' in section("### `backend`")
    assert f"Default: `{Config().refresh_seconds}`" in section("### `refreshSeconds`")


def test_every_environment_variable_of_the_core_is_documented() -> None:
    documented = table("## Environment variables")
    source = "\n".join(file.read_text(encoding="utf-8") for file in (REPOSITORY / "sesame_core").rglob("*.py"))
    named = set(re.findall(r"\bSESAME_[A-Z_]+[A-Z]\b", source))
    assert named | {SESSIONS_DIR, *identity.OVERRIDES} <= set(documented)
    assert {"CLAUDE_CONFIG_DIR", "PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR"} <= set(documented)


def test_every_documented_environment_variable_is_used() -> None:
    files = [*(REPOSITORY / "sesame_core").rglob("*.py"), *(REPOSITORY / "plugins").rglob("*.py")]
    source = "\n".join(file.read_text(encoding="utf-8") for file in files)
    # paths.py composes its two from the directory's purpose.
    composed = {"SESAME_DATA_DIR", "SESAME_CONFIG_DIR"}
    unused = {name for name in table("## Environment variables") if f'"{name}"' not in source}
    assert unused <= composed


@pytest.mark.parametrize("name", sorted(BUNDLED))
def test_every_option_of_a_bundled_plugin_is_documented_with_its_default(name: str, tmp_path: Path) -> None:
    heading, rows = next(
        (heading, re.findall(r"^\| `(\w+)` \|(.*)\| ([^|]+) \|$", section(heading), re.MULTILINE))
        for heading in re.findall(r"^#### Options of .*$", PAGE, re.MULTILINE)
        if f"`{name}`" in heading or (BUNDLED[name].startswith("sesame_parser_") and heading.endswith("parsers"))
    )
    documented = {
        option: default.strip("`")
        for option, text, default in rows
        if not (only := re.search(r"(`[^.]+`) only", text)) or f"`{name}`" in only[1]
        if not re.search(rf"\bNot `{name}`\.", text)
    }
    plugins = PluginManager()
    (kind,) = [info.kind for info in plugins.catalogue() if info.name == name]
    options = {"directory": str(tmp_path)} if name == "sqlite" else {}
    made = getattr(plugins, kind)(name, options)
    parameters = inspect.signature(type(made)).parameters
    assert set(documented) == set(parameters), heading
    for option, parameter in parameters.items():
        if parameter.default not in (parameter.empty, None):
            assert documented[option] == json.dumps(parameter.default)


@pytest.mark.parametrize("block", list(blocks()))
def test_an_example_in_the_documentation_loads(block: str, tmp_path: Path) -> None:
    file = tmp_path / "config.jsonc"
    file.write_text(block, encoding="utf-8")
    loaded = config_file.load(file)
    assert loaded.origins


@pytest.mark.parametrize("message", re.findall(r"config\.jsonc: (sources\[0\].*)", PAGE))
def test_the_documented_error_is_the_real_one(message: str, tmp_path: Path) -> None:
    file = tmp_path / "config.jsonc"
    file.write_text('{"sources": [{"parsr": "pi"}]}')
    with pytest.raises(ConfigError) as caught:
        config_file.load(file)
    assert str(caught.value) == f"{file}: {message}"


def test_the_commented_file_loads_to_the_defaults(tmp_path: Path) -> None:
    file = tmp_path / "config.jsonc"
    file.write_text(config_file.template(), encoding="utf-8")
    assert config_file.load(file) == Config(file=file)


def test_the_commented_file_without_its_slashes_is_valid_and_shows_every_key(tmp_path: Path, home: Path) -> None:
    file = tmp_path / "config.jsonc"
    text = _SETTING.sub("  ", config_file.template())
    file.write_text(text, encoding="utf-8")
    loaded = config_file.load(file)
    assert set(loaded.origins) == set(schema.KEYS)
    assert [source.parser.name for source in loaded.sources] == ["pi", "claude-code", "pi"]
    assert (loaded.backend, loaded.refresh_seconds) == (Config().backend, Config().refresh_seconds)
    for key in schema.SOURCE_KEYS + schema.SELECTION_KEYS:
        assert f'"{key}"' in config_file.template()
