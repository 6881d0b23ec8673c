"""Gemini CLI's own directory."""

from __future__ import annotations

import os
from pathlib import Path


def own_dir() -> Path:
    """Return Gemini CLI's directory: `.gemini` in `GEMINI_CLI_HOME`, else in the home directory."""
    chosen = os.environ.get("GEMINI_CLI_HOME")
    return (Path(chosen) if chosen else Path.home()) / ".gemini"


def session_root() -> Path:
    """Return the directory that has a directory for each project."""
    return own_dir() / "tmp"


def settings_file() -> Path:
    """Return the file with the user's settings."""
    return own_dir() / "settings.json"
