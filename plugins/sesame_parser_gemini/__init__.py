"""The parser of Gemini CLI's session files, and the directories of Gemini CLI."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sesame_core import Provider, hookimpl

if TYPE_CHECKING:
    from sesame_core import Options, Parser


def own_dir() -> Path:
    """Return Gemini CLI's directory: `.gemini` in `GEMINI_CLI_HOME`, else in the home directory."""
    chosen = os.environ.get("GEMINI_CLI_HOME")
    return (Path(chosen) if chosen else Path.home()) / ".gemini"


def session_root() -> Path:
    """Return the directory that has a directory for each project."""
    return own_dir() / "tmp"


def default_roots() -> Sequence[Path]:
    """Return where Gemini CLI keeps its sessions: `tmp` in its directory."""
    return (session_root(),)


def settings_file() -> Path:
    """Return the file with the user's settings."""
    return own_dir() / "settings.json"


def create(options: Options) -> Parser:
    """Return the parser; raises `ConfigError` for an unknown option."""
    from .parser import GeminiParser

    return GeminiParser.from_options(options)


@hookimpl
def sesame_register_parsers() -> Iterable[Provider[Parser]]:
    """Return the provider of this plugin's parser."""
    return [Provider(name="gemini", summary="Gemini CLI sessions, JSON and JSONL", create=create, roots=default_roots)]
