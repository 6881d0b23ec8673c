"""The parser of pi's session files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sesame_core import Provider, hookimpl

if TYPE_CHECKING:
    from sesame_core import Options, Parser


def create(options: Options) -> Parser:
    """Make the parser; raises `ConfigError` for an option it does not know."""
    from .parser import PiParser

    return PiParser.from_options(options)


@hookimpl
def sesame_register_parsers() -> Iterable[Provider[Parser]]:
    """Offer the one parser of this plugin."""
    return [Provider(name="pi", summary="pi sessions, JSONL of versions 1 to 3", create=create)]
