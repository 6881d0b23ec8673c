"""How a name becomes a plugin, and what is said when it does not."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from sesame_core import ConfigError, PluginError, Provider, hookimpl
from sesame_core.errors import DuplicatePluginError, PluginLoadError, UnknownPluginError
from sesame_core.plugin import entry_points
from sesame_core.plugin.hookspecs import hooks_of
from sesame_core.plugin.manager import BUNDLED, PluginManager

Install = Callable[..., None]

PARSER = """
from sesame_core import Provider, hookimpl

class Parser:
    version = 1

    def default_roots(self):
        return ()
    def matches(self, path): return False
    def parse(self, path): return iter(())

@hookimpl
def sesame_register_parsers():
    return [Provider(name={name!r}, summary="made up", create=lambda options: Parser())]
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a distribution with one plugin, as pip would: `install("xyz", source, version="2.0")`."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)
    modules_before = set(sys.modules)

    def install(name: str, source: str, *, distribution: str = "", version: str = "1.0") -> None:
        distribution = distribution or f"sesame-parser-{name}"
        module = f"plugin_{distribution.replace('-', '_')}"
        (site / f"{module}.py").write_text(source.replace("{name!r}", repr(name)), encoding="utf-8")
        info = site / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[sesame]\n{name} = {module}\n")

    yield install  # type: ignore[misc]
    for module in set(sys.modules) - modules_before:
        if module.startswith("plugin_"):
            del sys.modules[module]


UNCREATED = """
from pathlib import Path
from sesame_core import Provider, hookimpl

def create(options):
    raise RuntimeError("created")

@hookimpl
def sesame_register_parsers():
    return [Provider(name={name!r}, summary="made up", create=create, roots=lambda: (Path("/a"), "/b"))]
"""


def a_plugin(**hooks: Callable[..., Any]) -> types.ModuleType:
    plugin = types.ModuleType("a_plugin")
    vars(plugin).update({name: hookimpl(hook) for name, hook in hooks.items()})
    return plugin


def offering(name: str, create: Callable[[Any], Any]) -> types.ModuleType:
    return a_plugin(sesame_register_formatters=lambda: [Provider(name=name, summary="made up", create=create)])


def test_every_bundled_plugin_can_be_named() -> None:
    assert set(BUNDLED) <= set(PluginManager().names())


@pytest.mark.parametrize("name", sorted(BUNDLED))
def test_a_bundled_plugin_is_called_as_pluggy_would_call_it(name: str) -> None:
    plugins = PluginManager()
    plugins.load(name)
    assert plugins._hooks[name] == hooks_of(import_module(BUNDLED[name]), name) != {}


def test_a_mark_without_options_is_pluggys() -> None:
    def sesame_register_parsers() -> list[Any]:
        return []

    plugin = types.ModuleType("plain")
    vars(plugin)["sesame_register_parsers"] = hookimpl(sesame_register_parsers)
    assert hooks_of(plugin, "plain") == {"sesame_register_parsers": [sesame_register_parsers]}


def test_a_mark_with_options_is_pluggys() -> None:
    plugins = PluginManager()
    renamed = types.ModuleType("renamed")
    provider = Provider(name="f", summary="made up", create=lambda options: DummyFormatter())
    vars(renamed)["hook"] = hookimpl(specname="sesame_register_formatters")(lambda: [provider])
    plugins.register(renamed, "f")
    assert isinstance(plugins.formatter("f"), DummyFormatter)


@pytest.mark.parametrize("place", ["x-1.0.dist-info", "x-1.0-py3.12.egg-info", "EGG-INFO"])
def test_a_declaration_is_seen_wherever_it_may_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "absent")])
    (tmp_path / place).mkdir()
    assert not entry_points._may_exist("sesame")
    (tmp_path / place / "entry_points.txt").write_text("[console_scripts]\nsesame = x:y\n")
    assert not entry_points._may_exist("sesame")
    (tmp_path / place / "entry_points.txt").write_text("[a]\nb = c\n\n[sesame]\nxyz = x\n")
    assert entry_points._may_exist("sesame")


def test_a_zip_file_and_a_finder_of_its_own_kind_may_declare_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert not entry_points._may_exist("sesame")
    (tmp_path / "x.egg").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "x.egg")])
    assert entry_points._may_exist("sesame")
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "meta_path", [types.SimpleNamespace(find_distributions=lambda context: [])])
    assert entry_points._may_exist("sesame")


def test_a_third_party_plugin_is_found_by_its_entry_point(install: Install) -> None:
    install("xyz", PARSER)
    plugins = PluginManager()
    assert "xyz" in plugins.names()
    assert "plugin_sesame_parser_xyz" not in sys.modules
    assert plugins.parser("xyz").version == 1


def test_a_parser_whose_provider_says_its_roots_is_not_created_for_them(install: Install) -> None:
    install("xyz", UNCREATED)
    assert PluginManager().default_roots("xyz") == [Path("/a"), Path("/b")]


def test_a_parser_with_options_says_its_roots_itself(install: Install) -> None:
    install("xyz", UNCREATED)
    with pytest.raises(PluginLoadError, match="created"):
        PluginManager().default_roots("xyz", {"depth": 1})


def test_a_provider_that_fails_to_say_its_roots_is_named() -> None:
    plugins = PluginManager()
    provider = Provider[Any](name="xyz", summary="made up", create=lambda _: None, roots=lambda: [Path(str(1 / 0))])
    plugins.register(a_plugin(sesame_register_parsers=lambda: [provider]), "xyz")
    with pytest.raises(PluginError, match="the parser 'xyz' failed to return its default roots: ZeroDivisionError"):
        plugins.default_roots("xyz")


def test_options_reach_the_plugin_as_they_were_written() -> None:
    seen = []
    plugins = PluginManager()
    plugins.register(offering("f", lambda options: seen.append(options) or DummyFormatter()), "f")
    plugins.formatter("f", {"a": [1]})
    plugins.formatter("f")
    assert seen == [{"a": [1]}, {}]


def test_a_plugin_is_made_anew_for_every_source() -> None:
    plugins = PluginManager()
    assert plugins.formatter("default") is not plugins.formatter("default")


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownPluginError, match="no plugin named 'sqlitee' is installed; did you mean 'sqlite'"):
        PluginManager().backend("sqlitee")


@pytest.mark.parametrize("name", ["cluade", "claud", "claude", "claude_code"])
def test_an_unknown_name_like_the_beginning_of_one_is_answered_with_that_one(name: str) -> None:
    with pytest.raises(UnknownPluginError, match=f"no plugin named '{name}' is installed; did you mean 'claude-code'"):
        PluginManager().parser(name)


def test_a_name_like_no_other_is_answered_without_a_guess() -> None:
    with pytest.raises(UnknownPluginError, match=r"no plugin named 'qqqqqq' is installed$"):
        PluginManager().parser("qqqqqq")


def test_a_plugin_of_another_kind_is_named_with_its_distribution() -> None:
    with pytest.raises(UnknownPluginError, match=r"plugin 'default' \(sesame-search \S+\) provides no parser"):
        PluginManager().parser("default")


@pytest.mark.parametrize(
    "source",
    ["import no_such_module", "1 / 0", "def broken(:", "raise SystemError('no')"],
    ids=["import", "division", "syntax", "raise"],
)
def test_a_broken_plugin_is_named_and_breaks_nothing_else(install: Install, source: str) -> None:
    install("broken", source, version="3.1")
    install("xyz", PARSER)
    plugins = PluginManager()
    with pytest.raises(PluginLoadError, match=r"plugin 'broken' \(sesame-parser-broken 3\.1\) failed to load: \w+"):
        plugins.parser("broken")
    assert plugins.parser("xyz")
    assert plugins.formatter("default")


def test_two_distributions_with_one_name_are_both_named(install: Install) -> None:
    install("xyz", PARSER, distribution="sesame-parser-xyz", version="1.0")
    install("xyz", PARSER, distribution="other-xyz", version="2.0")
    with pytest.raises(DuplicatePluginError) as caught:
        PluginManager().parser("xyz")
    assert "sesame-parser-xyz 1.0" in str(caught.value)
    assert "other-xyz 2.0" in str(caught.value)


def test_a_third_party_cannot_take_a_bundled_name(install: Install) -> None:
    install("default", "raise AssertionError('imported')", distribution="evil-default")
    plugins = PluginManager()
    assert plugins.formatter("default")
    (refused,) = [info for info in plugins.catalogue() if info.distribution == "evil-default"]
    assert (refused.name, refused.version) == ("default", "1.0")
    assert "belongs to a bundled plugin" in (refused.error or "")


def test_a_misspelt_hook_is_an_error(install: Install) -> None:
    install("xyz", PARSER.replace("sesame_register_parsers", "sesame_register_parser"))
    plugins = PluginManager()
    for _ in range(2):
        with pytest.raises(PluginLoadError, match=r"'xyz' \(sesame-parser-xyz 1\.0\).*sesame_register_parser'"):
            plugins.parser("xyz")
    assert plugins.formatter("default")


def test_a_hook_with_arguments_that_do_not_exist_is_an_error() -> None:
    plugins = PluginManager()
    with pytest.raises(PluginLoadError, match=r"'odd'.*sesame_register_parsers"):
        plugins.register(a_plugin(sesame_register_parsers=lambda config: []), "odd")
    assert plugins.formatter("default")


def test_what_lacks_a_method_is_named_with_the_method() -> None:
    plugins = PluginManager()
    plugins.register(offering("f", lambda options: object()), "f")
    with pytest.raises(PluginError, match="plugin 'f' is not a formatter: it lacks format"):
        plugins.formatter("f")


def test_a_plugin_that_cannot_be_created_is_named(install: Install) -> None:
    install("xyz", PARSER.replace("Parser())]", "1 / 0)]"))
    with pytest.raises(PluginLoadError, match=r"'xyz' \(sesame-parser-xyz 1\.0\) could not be created: ZeroDiv"):
        PluginManager().parser("xyz")


def test_a_config_error_of_a_plugin_is_shown_as_it_is() -> None:
    def create(options: Any) -> Any:
        raise ConfigError("the option is wrong")

    plugins = PluginManager()
    plugins.register(offering("f", create), "f")
    with pytest.raises(ConfigError, match=r"^the option is wrong$"):
        plugins.formatter("f")


def test_two_providers_of_one_name_are_an_error() -> None:
    plugins = PluginManager()
    provider = Provider(name="f", summary="made up", create=lambda options: DummyFormatter())
    plugins.register(a_plugin(sesame_register_formatters=lambda: [provider, provider]), "f")
    with pytest.raises(DuplicatePluginError, match="more than one formatter is named 'f'"):
        plugins.formatter("f")


def test_a_plugin_does_not_provide_under_the_name_of_another() -> None:
    plugins = PluginManager()
    plugins.register(offering("default", lambda options: DummyFormatter()), "g")
    assert not isinstance(plugins.formatter("default"), DummyFormatter)
    with pytest.raises(UnknownPluginError, match="plugin 'g' provides no formatter"):
        plugins.formatter("g")


@pytest.mark.parametrize("result", [7, ["not a provider"], Provider(name="f", summary="", create=dict)])
def test_a_hook_that_returns_nonsense_is_a_load_error(result: Any) -> None:
    plugins = PluginManager()
    plugins.register(a_plugin(sesame_register_formatters=lambda: result), "f")
    with pytest.raises(PluginLoadError, match="plugin 'f' failed to load"):
        plugins.formatter("f")


def test_a_name_is_registered_once() -> None:
    plugins = PluginManager()
    plugins.register(offering("f", lambda options: DummyFormatter()), "f")
    with pytest.raises(DuplicatePluginError, match="'f' is already registered"):
        plugins.register(offering("f", lambda options: DummyFormatter()), "f")


def test_the_catalogue_lists_what_works_and_what_does_not(install: Install) -> None:
    install("xyz", PARSER, version="2.5")
    install("broken", "import no_such_module")
    install("silent", "")
    infos = {(info.name, info.kind): info for info in PluginManager().catalogue()}
    assert {("default", "formatter"), ("sqlite", "backend"), ("pi", "parser")} <= set(infos)
    good = infos["xyz", "parser"]
    assert (good.distribution, good.version, good.summary, good.error) == (
        "sesame-parser-xyz",
        "2.5",
        "made up",
        None,
    )
    assert "no_such_module" in (infos["broken", "plugin"].error or "")
    assert "provides nothing under its own name" in (infos["silent", "plugin"].error or "")
    bundled = infos["sqlite", "backend"]
    assert (bundled.distribution, bundled.error) == ("sesame-search", None)


def test_a_hook_that_raises_does_not_spoil_the_catalogue(install: Install) -> None:
    install("xyz", PARSER.replace("    return [Provider", "    1 / 0\n    return [Provider"))
    infos = {info.name: info for info in PluginManager().catalogue()}
    assert "ZeroDivisionError" in (infos["xyz"].error or "")
    assert infos["sqlite"].error is None
    assert infos["pi"].error is None


def test_a_hook_that_raises_harms_only_its_own_plugin(install: Install) -> None:
    install("xyz", PARSER.replace("    return [Provider", "    1 / 0\n    return [Provider"))
    plugins = PluginManager()
    with pytest.raises(PluginLoadError, match=r"'xyz' \(sesame-parser-xyz 1\.0\).*ZeroDivisionError"):
        plugins.parser("xyz")
    assert plugins.parser("pi")


class DummyFormatter:
    def format(self, message: Any) -> list[Any]:
        return []
