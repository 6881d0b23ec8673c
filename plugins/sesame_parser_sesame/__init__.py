"""The parser of Sesame's own session format, for runtimes without one and for converted sessions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sesame_core import Provider, hookimpl
from sesame_core.config.paths import data_dir

if TYPE_CHECKING:
    from sesame_core import Options, Parser


def default_roots() -> Sequence[Path]:
    """Return the directory in which `sesame import` and `sesame_core.Runtime` write sessions."""
    return (data_dir() / "sessions",)


def create(options: Options) -> Parser:
    """Return the parser; raises `ConfigError` for an unknown option."""
    from .parser import SesameParser

    return SesameParser.from_options(options)


@hookimpl
def sesame_register_parsers() -> Iterable[Provider[Parser]]:
    """Return the provider of this plugin's parser."""
    return [Provider(name="sesame", summary="Sesame's own session format, JSONL", create=create, roots=default_roots)]
