"""What every plugin promises, whatever it provides."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from sesame_core.errors import ConfigError
from sesame_core.plugin.manager import PluginManager

#: Packages that no plugin needs before `Provider.create` is called.
HEAVY = ("sqlalchemy", "psycopg", "pydantic", "typer", "orjson", "json5", "pytest")


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

    @pytest.fixture
    def plugins(self) -> PluginManager:
        """A plugin manager of the test's own."""
        return PluginManager()

    @pytest.fixture
    def options(self) -> dict[str, Any]:
        """Options every object is created with; override it when the plugin needs some."""
        return {}

    @pytest.fixture
    def create(self, plugins: PluginManager, options: dict[str, Any]) -> Callable[..., Any]:
        """Create the plugin's object, with more options when given."""
        make = {"parser": plugins.parser, "formatter": plugins.formatter, "backend": plugins.backend}[self.kind]
        return lambda **more: make(self.name, {**options, **more})

    def test_is_installed_under_its_name(self, plugins: PluginManager) -> None:
        """The name in config.jsonc is the entry-point name."""
        assert self.name in plugins.names()

    def test_is_listed_with_a_summary(self, plugins: PluginManager) -> None:
        """`sesame plugins` shows one line about it, and no error."""
        listed = [info for info in plugins.catalogue() if (info.name, info.kind) == (self.name, self.kind)]
        assert len(listed) == 1
        assert listed[0].error is None
        assert listed[0].summary
        assert "\n" not in listed[0].summary

    def test_naming_it_loads_nothing_heavy(self) -> None:
        """Heavy imports wait for `Provider.create`, so that no command pays for a plugin it only lists."""
        code = (
            "import sys; from sesame_core.plugin.manager import PluginManager\n"
            f"PluginManager().load({self.name!r})\n"
            "print(*{name.split('.')[0] for name in sys.modules})"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert not set(self.heavy) & set(done.stdout.split())

    def test_an_unknown_option_is_a_config_error(self, create: Callable[..., Any]) -> None:
        """A misspelt key in config.jsonc is refused with its name."""
        with pytest.raises(ConfigError, match="no_such_option"):
            create(no_such_option=1)
