"""The tools without the wire."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.fixture
def tools_of() -> Iterator[Callable[..., Callable[..., dict[str, Any]]]]:
    """The tools in this process, for what the wire adds nothing to, with time to index on a slow machine."""
    # Only here: without the extra mcp the tests are skipped, and there are no tools.
    from sesame_core import Sesame
    from sesame_core.config.file import load
    from sesame_core.dataclass import replace
    from sesame_core.mcp.tools import Tools

    config = replace(load(), refresh_seconds=60)
    with contextlib.ExitStack() as opened:
        yield lambda **fields: Tools(opened.enter_context(Sesame(config)), **fields).call
