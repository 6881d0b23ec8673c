"""The parser of Claude Code's session files, and the directories of Claude Code."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sesame_core import Provider, hookimpl

if TYPE_CHECKING:
    from sesame_core import Options, Parser


def default_dir() -> Path:
    """Return Claude Code's configuration directory if no variable names another."""
    return Path.home() / ".claude"


def config_dir() -> Path:
    """Return Claude Code's configuration directory: `CLAUDE_CONFIG_DIR`, else `~/.claude`."""
    chosen = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(unicodedata.normalize("NFC", chosen)).expanduser() if chosen else default_dir()


def session_root() -> Path:
    """Return the directory that contains the session files."""
    return config_dir() / "projects"


def default_roots() -> Sequence[Path]:
    """Return Claude Code's session directory: `projects` in its configuration directory."""
    return (session_root(),)


def create(options: Options) -> Parser:
    """Return the parser; raises `ConfigError` for an unknown option."""
    from .parser import ClaudeCodeParser

    return ClaudeCodeParser.from_options(options)


@hookimpl
def sesame_register_parsers() -> Iterable[Provider[Parser]]:
    """Return the provider of this plugin's parser."""
    return [Provider(name="claude-code", summary="Claude Code sessions, JSONL", create=create, roots=default_roots)]
