"""How the files of the directory of metadata are named, read and locked, and the limits that they share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import ParseError, SesameError

#: Bytes of the largest file that is read.
LARGEST = 1 << 18
#: Most characters of a name and of a tag.
NAME_CHARS, TAG_CHARS = 120, 60
#: Longest file name, in bytes: the limit of file systems.
LONGEST_NAME = 255


def named(directory: Path, session_id: str, suffix: str) -> Path:
    """Return the path of a session's file.

    :raises SesameError: the id is too long to name a file.
    """
    from urllib.parse import quote

    name = quote(session_id, safe="") + suffix
    if len(name) > LONGEST_NAME - len("..new"):
        raise SesameError(f"the id of session {session_id[:60]}… is too long to name a metadata file")
    return directory / name


@contextmanager
def locked(directory: Path, name: str, seconds: float = 0) -> Iterator[bool]:
    """Hold a lock of a directory of metadata; false if another process or thread holds it.

    :param seconds: how long to wait for it.
    :raises SesameError: the directory cannot be written to.
    """
    from filelock import FileLock, Timeout

    locks = directory / ".locks"
    try:
        # `mkdir` applies the mode to the last directory only.
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        locks.mkdir(mode=0o700, exist_ok=True)
        try:
            held = FileLock(locks / name, is_singleton=False).acquire(timeout=seconds)
        except Timeout:
            yield False
            return
        with held:
            yield True
    except OSError as error:
        raise SesameError(f"cannot write to {directory}: {error.strerror or error}") from error


def content(path: Path) -> dict[str, Any] | None:
    """Return the JSON object in a file; None when the file does not exist.

    :raises ParseError: it cannot be read.
    :raises ValueError: it has no such object.
    """
    import json

    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ParseError(path, error.strerror or str(error)) from error
    if len(data) > LARGEST:
        raise ValueError(f"it is larger than {LARGEST} bytes")
    try:
        value = json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("it is not an object")
    return value
