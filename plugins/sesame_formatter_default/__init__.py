"""The chunk formatter of every source that names no other one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sesame_core import Provider, hookimpl

if TYPE_CHECKING:
    from sesame_core import ChunkFormatter, Options


def create(options: Options) -> ChunkFormatter:
    """Make the formatter; raises `ConfigError` for an option it does not know."""
    from .formatter import DefaultFormatter

    return DefaultFormatter.from_options(options)


@hookimpl
def sesame_register_formatters() -> Iterable[Provider[ChunkFormatter]]:
    """Offer the one formatter of this plugin."""
    return [Provider(name="default", summary="One chunk per message, tool call and tool result", create=create)]
