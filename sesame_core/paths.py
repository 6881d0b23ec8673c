"""Where Sesame keeps its things, and how a path that a person wrote is read.

Linux and macOS follow the XDG rules (`~/.local/share/sesame`, `~/.config/sesame`), Windows its own.
Nothing here creates a directory.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Literal, TypeAlias

APPLICATION = "sesame"

#: Which directory: what Sesame stores, or what the user configures.
Purpose: TypeAlias = Literal["data", "config"]


def data_dir() -> Path:
    """Return the directory of the index: `SESAME_DATA_DIR`, else the platform's place for user data."""
    return _directory("data")


def config_dir() -> Path:
    """Return the directory of config.jsonc: `SESAME_CONFIG_DIR`, else the platform's place for settings."""
    return _directory("config")


def config_file() -> Path:
    """Return the path of config.jsonc, whether it exists or not."""
    return config_dir() / "config.jsonc"


def origin(purpose: Purpose) -> str:
    """Return the environment variable that decides the directory of this purpose, or "default"."""
    candidates = [_variable(purpose)]
    if sys.platform != "win32":
        candidates.append(f"XDG_{purpose.upper()}_HOME")
    return next((name for name in candidates if os.environ.get(name)), "default")


def expand(text: str, base: Path | None = None) -> Path:
    """Return a path that a person wrote as an absolute one: `~` is the home directory.

    :param base: where a relative path begins; the current directory when None.
    """
    return Path(os.path.abspath(os.path.join(base or "", os.path.expanduser(text))))


def _variable(purpose: Purpose) -> str:
    return f"SESAME_{purpose.upper()}_DIR"


def _directory(purpose: Purpose) -> Path:
    if chosen := os.environ.get(_variable(purpose)):
        return expand(chosen)
    # Imported this late because it takes longer than a search.
    if sys.platform == "win32":
        from platformdirs.windows import Windows as Platform
    else:
        from platformdirs.unix import Unix as Platform
    directories = Platform(APPLICATION, appauthor=False)
    return directories.user_data_path if purpose == "data" else directories.user_config_path
