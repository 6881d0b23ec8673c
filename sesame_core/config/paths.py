"""Sesame's directories, and how a path that a person wrote is expanded.

Linux and macOS follow the XDG rules (`~/.local/share/sesame`, `~/.config/sesame`), Windows its own.
Only `write_private` writes: it is how Sesame writes any file whole.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from stat import S_IMODE
from typing import TYPE_CHECKING

from ..errors import BackendError

if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    #: Which directory: for Sesame's data, or for the user's configuration.
    Purpose: TypeAlias = Literal["data", "config"]

APPLICATION = "sesame"

#: Default directory of each purpose by the XDG rules, unless `XDG_<PURPOSE>_HOME` is an absolute path.
_XDG_DEFAULTS = {"data": "~/.local/share", "config": "~/.config"}

#: The variables by which a user chooses the directories.
VARIABLES = ("SESAME_DATA_DIR", "SESAME_CONFIG_DIR")


def data_dir() -> Path:
    """Return the directory of the index: `SESAME_DATA_DIR`, else the platform's directory for user data."""
    return _directory("data")


def own_data_dir() -> Path:
    """Return the platform's directory for user data: of what is about the user's machine, whichever index is used."""
    return _of_platform("data")


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


def environment() -> dict[str, str]:
    """Return the variables with which Sesame finds the same directories, whatever else an agent passes on to it.

    None if they are the default ones.
    """
    purposes: tuple[Purpose, ...] = ("data", "config")
    chosen = {purpose: _directory(purpose) for purpose in purposes}
    return {_variable(purpose): str(place) for purpose, place in chosen.items() if place != _default(purpose)}


def expand(text: str, base: Path | None = None) -> Path:
    """Return the absolute path of one that a person wrote: `~` is the home directory.

    :param base: the directory that a relative path starts from; the current directory when None.
    """
    return Path(os.path.abspath(os.path.join(base or "", os.path.expanduser(text))))


def keep_private(path: Path, content: str) -> None:
    """Write a file of Sesame's own, as `write_private` does.

    :raises BackendError: it cannot be written.
    """
    try:
        write_private(path, content)
    except OSError as error:
        raise BackendError(f"{path}: cannot be written: {error.strerror or error}") from error


def write_private(
    path: Path,
    content: str | bytes,
    *,
    fsync: bool = False,
    keeps_rights: bool = False,
    replaces: bool = True,
    draft: Path | None = None,
) -> None:
    """Write a file atomically, readable by its owner alone; create its directory if it is missing.

    :param fsync: return only when the disk has the file and its name.
    :param keeps_rights: keep the permissions of the existing file.
    :param replaces: False keeps an existing file.
    :param draft: file in the same directory that is written first, for callers that hold a lock on `path`: the draft
        of a run that was killed is then overwritten by the next.  None: a file of a random name.
    :raises FileExistsError: the file exists and must not be replaced.
    :raises OSError: the file cannot be written; an existing file stays as it was.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0) | (os.O_TRUNC if draft else os.O_EXCL)
    # A random name, not the file's own with an ending, which could be longer than a file system takes.
    draft = draft or path.with_name(f".{os.urandom(8).hex()}.new")
    try:
        with open(os.open(draft, flags, 0o600), "wb") as out:
            out.write(content if isinstance(content, bytes) else content.encode())
            if fsync:
                out.flush()
                os.fsync(out.fileno())
        if keeps_rights and path.exists():
            draft.chmod(S_IMODE(path.stat().st_mode))
        (os.replace if replaces else _rename_to_free_name)(draft, path)
    finally:
        with suppress(OSError):
            draft.unlink()
    if fsync:
        fsync_directory(path.parent)


def _rename_to_free_name(draft: Path, path: Path) -> None:
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links, such as exFAT: an empty file reserves the name until it is replaced.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        os.replace(draft, path)


def fsync_directory(directory: Path) -> None:
    """Wait until the disk has a directory's entries; Windows does so by itself and cannot open a directory."""
    if os.name == "posix":
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _variable(purpose: Purpose) -> str:
    return f"SESAME_{purpose.upper()}_DIR"


def _directory(purpose: Purpose) -> Path:
    chosen = os.environ.get(_variable(purpose))
    return expand(chosen) if chosen else _of_platform(purpose)


def _of_platform(purpose: Purpose) -> Path:
    if sys.platform != "win32":
        return expand(os.path.join(_xdg(purpose)[1], APPLICATION))
    from platformdirs.windows import Windows

    directories = Windows(APPLICATION, appauthor=False)
    return directories.user_data_path if purpose == "data" else directories.user_config_path


def _default(purpose: Purpose) -> Path:
    """Return the directory that no variable has changed."""
    if sys.platform == "win32":
        return _of_platform(purpose)
    return expand(os.path.join(_XDG_DEFAULTS[purpose], APPLICATION))


def _xdg(purpose: Purpose) -> tuple[str, str]:
    """Return the origin and the directory by the XDG rules; platformdirs would take 12 ms to load for these lines."""
    variable = f"XDG_{purpose.upper()}_HOME"
    chosen = os.environ.get(variable, "")
    return (variable, chosen) if os.path.isabs(chosen) else ("default", _XDG_DEFAULTS[purpose])
