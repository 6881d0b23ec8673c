"""Conformance tests for plugin authors: subclass one, set the plugin's name, override one fixture.

Needs pytest (`pip install 'sesame-search[testing]'`); import it from tests only.  `docs/tutorial-plugin.md` is an
example; the bundled plugins are tested by the same classes.
"""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(
    "sesame_core.testing.backend",
    "sesame_core.testing.formatters",
    "sesame_core.testing.parser",
    "sesame_core.testing.plugins",
)

from .backend.conformance import BackendConformance  # noqa: E402
from .builders import a_call, a_chunk, a_file, a_query, a_session  # noqa: E402
from .formatters import FormatterConformance  # noqa: E402
from .parser.conformance import ParserConformance  # noqa: E402
from .plugins import PluginConformance  # noqa: E402

__all__ = [
    "BackendConformance",
    "FormatterConformance",
    "ParserConformance",
    "PluginConformance",
    "a_call",
    "a_chunk",
    "a_file",
    "a_query",
    "a_session",
]
