"""The parser of Sesame's own session format, for runtimes without one and for converted sessions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sesame_core import Provider, hookimpl

if TYPE_CHECKING:
    from sesame_core import Options, Parser


def create(options: Options) -> Parser:
    """Make the parser; raises `ConfigError` for an option it does not know."""
    from .parser import SesameParser

    return SesameParser.from_options(options)


@hookimpl
def sesame_register_parsers() -> Iterable[Provider[Parser]]:
    """Offer the one parser of this plugin."""
    return [Provider(name="sesame", summary="Sesame's own session format, JSONL", create=create)]
