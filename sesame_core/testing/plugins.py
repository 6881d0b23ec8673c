"""Conformance tests of every plugin, whatever it provides."""

from __future__ import annotations

import functools
import inspect
import subprocess
import sys
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import pytest

from sesame_core.errors import ConfigError
from sesame_core.plugin.manager import PluginManager

#: Packages that no plugin needs before `Provider.create` is called.
HEAVY = ("sqlalchemy", "psycopg", "pydantic", "typer", "orjson", "json5", "pytest")


T = TypeVar("T", bound=Callable[..., None])


def _naming_its_rule(test: T) -> T:
    """Return a test whose failed assertions name the broken rule: the test's name, a sentence, and its docstring."""
    rule = test.__name__.removeprefix("test_").replace("_", " ")

    @functools.wraps(test)
    def run(*arguments: Any, **values: Any) -> None:
        __tracebackhide__ = True
        try:
            test(*arguments, **values)
        except AssertionError as error:
            error.add_note(f"The rule: {rule}.  {inspect.getdoc(test)}")
            raise

    return run  # type: ignore[return-value]


class PluginConformance:
    """Base of the other conformance classes.

    Set `name`; set `kind` when no subclass of the kit does it.
    """

    #: What users write in config.jsonc; also the entry-point name.
    name: ClassVar[str]
    #: "parser", "formatter" or "backend".
    kind: ClassVar[str]
    #: Top-level modules that importing the plugin must not load.
    heavy: ClassVar[tuple[str, ...]] = HEAVY

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, test in vars(cls).copy().items():
            if name.startswith("test_") and inspect.isfunction(test):
                setattr(cls, name, _naming_its_rule(test))

    @pytest.fixture
    def plugins(self) -> PluginManager:
        """A plugin manager for this test alone."""
        return PluginManager()

    @pytest.fixture
    def options(self) -> dict[str, Any]:
        """Options with which every object is created; override it if the plugin needs some."""
        return {}

    @pytest.fixture
    def create(self, plugins: PluginManager, options: dict[str, Any]) -> Callable[..., Any]:
        """A function that creates the plugin's object, with more options if given."""
        make = {"parser": plugins.parser, "formatter": plugins.formatter, "backend": plugins.backend}[self.kind]
        return lambda **more: make(self.name, {**options, **more})

    def test_is_installed_under_its_name(self, plugins: PluginManager) -> None:
        """The name in config.jsonc is the entry-point name."""
        assert self.name in plugins.names(), f"no entry point of the group `sesame` is named {self.name!r}"

    def test_is_listed_with_a_summary(self, plugins: PluginManager) -> None:
        """`sesame plugins` prints one line about it, and no error."""
        listed = [info for info in plugins.catalogue() if (info.name, info.kind) == (self.name, self.kind)]
        assert len(listed) == 1, f"the hook returns one Provider(name={self.name!r}): the entry point's name"
        assert listed[0].error is None
        assert listed[0].summary, "`Provider.summary` is one line about the plugin"
        assert "\n" not in listed[0].summary, "`Provider.summary` is one line"

    def test_naming_it_loads_nothing_heavy(self) -> None:
        """Heavy imports wait for `Provider.create`, so that no command pays for a plugin that it only lists."""
        code = (
            "import sys; from sesame_core.plugin.manager import PluginManager\n"
            f"PluginManager().load({self.name!r})\n"
            "print(*{name.split('.')[0] for name in sys.modules})"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        loaded = set(self.heavy) & set(done.stdout.split())
        assert not loaded, f"import {', '.join(sorted(loaded))} inside `Provider.create`, not with the plugin"

    def test_an_unknown_option_is_a_config_error(self, create: Callable[..., Any]) -> None:
        """A misspelt key in config.jsonc is rejected by name."""
        with pytest.raises(ConfigError, match="no_such_option"):
            create(no_such_option=1)
