"""The parser of OpenCode's sessions, and the directories of OpenCode."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sesame_core import Provider, hookimpl

if TYPE_CHECKING:
    from sesame_core import Options, Parser


def data_dir() -> Path:
    """Return OpenCode's data directory: the same on every system."""
    return _of("XDG_DATA_HOME", ".local/share")


def config_dir() -> Path:
    """Return the directory of the user's configuration."""
    chosen = os.environ.get("OPENCODE_CONFIG_DIR")
    return Path(chosen).expanduser() if chosen else _of("XDG_CONFIG_HOME", ".config")


def config_file() -> Path:
    """Return the user's configuration file: the one that a variable names, else the one that exists."""
    if chosen := os.environ.get("OPENCODE_CONFIG"):
        return Path(chosen).expanduser()
    place = config_dir()
    names = ("opencode.json", "opencode.jsonc", "config.json")
    return next((place / name for name in names if (place / name).exists()), place / names[0])


def default_roots() -> Iterator[Path]:
    """Yield the data directory, and a database elsewhere that `OPENCODE_DB` names."""
    place = data_dir()
    yield place
    chosen = os.environ.get("OPENCODE_DB", "")
    if chosen and chosen != ":memory:" and (database := place / chosen) and place not in database.parents:
        yield database


def _of(variable: str, fallback: str) -> Path:
    chosen = os.environ.get(variable)
    return (Path(chosen) if chosen else Path.home() / fallback) / "opencode"


def create(options: Options) -> Parser:
    """Return the parser; raises `ConfigError` for an unknown option."""
    from .parser import OpenCodeParser

    return OpenCodeParser.from_options(options)


@hookimpl
def sesame_register_parsers() -> Iterable[Provider[Parser]]:
    """Return the provider of this plugin's parser."""
    return [
        Provider(
            name="opencode",
            summary="OpenCode sessions, JSON trees and SQLite databases",
            create=create,
            roots=default_roots,
        )
    ]
