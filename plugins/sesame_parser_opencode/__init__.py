"""The parser of OpenCode's sessions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sesame_core import Provider, hookimpl

if TYPE_CHECKING:
    from sesame_core import Options, Parser


def create(options: Options) -> Parser:
    """Return the parser; raises `ConfigError` for an unknown option."""
    from .parser import OpenCodeParser

    return OpenCodeParser.from_options(options)


@hookimpl
def sesame_register_parsers() -> Iterable[Provider[Parser]]:
    """Return the provider of this plugin's parser."""
    return [Provider(name="opencode", summary="OpenCode sessions, JSON trees and SQLite databases", create=create)]
