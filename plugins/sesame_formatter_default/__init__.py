"""The chunk formatter of every source that does not configure another one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sesame_core import Provider, hookimpl

if TYPE_CHECKING:
    from sesame_core import ChunkFormatter, Options


def create(options: Options) -> ChunkFormatter:
    """Return the formatter; raises `ConfigError` for an unknown option."""
    from .formatter import DefaultFormatter

    return DefaultFormatter.from_options(options)


@hookimpl
def sesame_register_formatters() -> Iterable[Provider[ChunkFormatter]]:
    """Return the provider of this plugin's formatter."""
    return [Provider(name="default", summary="One chunk per message, tool call and tool result", create=create)]
