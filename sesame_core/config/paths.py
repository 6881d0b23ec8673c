"""Sesame's directories, and how a path that a person wrote is expanded.

Linux and macOS follow the XDG rules (`~/.local/share/sesame`, `~/.config/sesame`), Windows its own.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    #: Which directory: for Sesame's data, or for the user's configuration.
    Purpose: TypeAlias = Literal["data", "config"]

APPLICATION = "sesame"

#: Default directory of each purpose by the XDG rules, unless `XDG_<PURPOSE>_HOME` is an absolute path.
_XDG_DEFAULTS = {"data": "~/.local/share", "config": "~/.config"}


def data_dir() -> Path:
    """Return the directory of the index: `SESAME_DATA_DIR`, else the platform's directory for user data."""
    return _directory("data")


def config_dir() -> Path:
    """Return the directory of config.jsonc: `SESAME_CONFIG_DIR`, else the platform's directory for settings."""
    return _directory("config")


def config_file() -> Path:
    """Return the path of config.jsonc, whether it exists or not."""
    return config_dir() / "config.jsonc"


def origin(purpose: Purpose) -> str:
    """Return the environment variable that decides the directory of this purpose, or "default"."""
    if os.environ.get(_variable(purpose)):
        return _variable(purpose)
    return _xdg(purpose)[0] if sys.platform != "win32" else "default"


def expand(text: str, base: Path | None = None) -> Path:
    """Return the absolute path of one that a person wrote: `~` is the home directory.

    :param base: the directory that a relative path starts from; the current directory when None.
    """
    return Path(os.path.abspath(os.path.join(base or "", os.path.expanduser(text))))


def write_private(path: Path, content: str | bytes, *, keeps_rights: bool = False) -> None:
    """Write a file atomically, readable by its owner alone.

    :param keeps_rights: keep the permissions of the existing file.
    :raises OSError: it cannot be written; an existing file stays as it was.
    """
    import shutil
    import tempfile

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(descriptor, "wb") as out:
            out.write(content if isinstance(content, bytes) else content.encode())
        if keeps_rights and path.exists():
            shutil.copymode(path, draft)
        os.replace(draft, path)
    except OSError:
        os.unlink(draft)
        raise


def _variable(purpose: Purpose) -> str:
    return f"SESAME_{purpose.upper()}_DIR"


def _directory(purpose: Purpose) -> Path:
    if chosen := os.environ.get(_variable(purpose)):
        return expand(chosen)
    if sys.platform != "win32":
        return expand(os.path.join(_xdg(purpose)[1], APPLICATION))
    from platformdirs.windows import Windows

    directories = Windows(APPLICATION, appauthor=False)
    return directories.user_data_path if purpose == "data" else directories.user_config_path


def _xdg(purpose: Purpose) -> tuple[str, str]:
    """Return the origin and the directory by the XDG rules; platformdirs would take 12 ms to load for these lines."""
    variable = f"XDG_{purpose.upper()}_HOME"
    chosen = os.environ.get(variable, "")
    return (variable, chosen) if os.path.isabs(chosen) else ("default", _XDG_DEFAULTS[purpose])
