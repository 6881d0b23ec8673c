"""Writes files of the native format, so that a crash loses no acknowledged record."""

from __future__ import annotations

import contextlib
import filecmp
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..config.paths import fsync_directory, write_private
from ..errors import ParseError, SesameError, UnknownSessionError
from ..plugin.parser import Parser
from ..types.transcript import SHORTENED, Checkpoint, Session, Skipped

#: Type of a file's first record.
HEADER = "sesame-session"
#: Version of the format that is written.
VERSION = 1

#: A valid session id; it is the name of the file.
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_SUFFIX = ".jsonl"


class SessionFiles:
    """The directory with one file per session, `<id>.jsonl`.

    :param directory: created at the first write, readable by its owner alone.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def path(self, session: str) -> Path:
        """Return the path of a session's file.

        :raises UnknownSessionError: the file does not exist.
        """
        path = self.directory / f"{session}{_SUFFIX}"
        if not _ID.fullmatch(session) or not path.is_file():
            raise UnknownSessionError(f"no session in {self.directory} has the id {session!r}")
        return path

    def ids(self) -> list[str]:
        """Return the ids of the existing sessions, last written first."""
        try:
            with os.scandir(self.directory) as entries:
                found = [(entry.stat().st_mtime_ns, Path(entry.name)) for entry in entries]
        except FileNotFoundError:
            return []
        return [name.stem for _, name in sorted(found, reverse=True) if _is_name(name)]

    def header(self, session: str) -> dict[str, Any]:
        """Return a session's header; {} when the first record is not a header.  Raises like `path`."""
        return _header(self.path(session))

    def create(self, session: str, header: dict[str, Any]) -> Path:
        """Write a new file with its header.

        :raises SesameError: it cannot be written.
        """
        path = self.directory / f"{session}{_SUFFIX}"
        with _readable_errors(path):
            write_private(path, _line({"type": HEADER, "version": VERSION, **header}), fsync=True, replaces=False)
        return path

    def append(self, session: str, record: dict[str, Any]) -> Path:
        """Append a record.

        :raises UnknownSessionError: the session does not exist.
        :raises SesameError: the record cannot be written, or is not JSON.
        """
        path = self.path(session)
        with _readable_errors(path):
            _append(path, record)
        return path

    def take(self, source: Path, parser: Parser) -> tuple[Path, bool]:
        """Copy a file into the directory under its session's id; return its path and whether it is new.

        :raises ParseError: a record is not valid.
        :raises SesameError: another session with this id exists, or a file cannot be read or written.
        """
        with _readable_errors(self.directory):
            self._make_directory()
            descriptor, name = tempfile.mkstemp(prefix=".import-", dir=self.directory)
        copy = Path(name)
        try:
            with open(descriptor, "wb") as file:
                with _readable_errors(source), source.open("rb") as original:
                    shutil.copyfileobj(original, file)
                os.fsync(file.fileno())
            path = self.directory / f"{_checked(copy, source, parser)}{_SUFFIX}"
            with _readable_errors(path):
                try:
                    os.link(copy, path)
                except FileExistsError:
                    if filecmp.cmp(copy, path, shallow=False):
                        return path, False
                    raise SesameError(f"{source}: {path} is another session with the same id") from None
                fsync_directory(self.directory)
            return path, True
        finally:
            copy.unlink()

    def _make_directory(self) -> None:
        # Transcripts are private, whatever the umask.
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)


def _is_name(name: Path) -> bool:
    return name.suffix == _SUFFIX and _ID.fullmatch(name.stem) is not None


def _header(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        try:
            record = json.loads(file.readline())
        except (ValueError, RecursionError):
            return {}
    return record if isinstance(record, dict) and record.get("type") == HEADER else {}


def _checked(path: Path, source: Path, parser: Parser) -> str:
    """Return the id of the session in a file, if every record of it can be indexed.

    :param source: the name of the file in messages.
    """
    size = path.stat().st_size
    session = ""
    if not _header(path):
        raise ParseError(source, f'the first record must be {{"type": "{HEADER}", …}}', line=1)
    try:
        for event in parser.parse(path):
            if isinstance(event, Skipped) and event.reason != SHORTENED:  # the file is copied whole
                raise ParseError(source, f"the record cannot be imported: {event.reason}", line=event.line)
            if isinstance(event, Session):
                session = event.id
            elif isinstance(event, Checkpoint) and event.offset < size:
                raise ParseError(source, "the record cannot be imported: incomplete", line=event.line + 1)
    except ParseError as error:
        raise ParseError(source, error.message, line=error.line) from None
    if not _ID.fullmatch(session):
        raise ParseError(source, "the id must be at most 200 letters, digits, '.', '_' and '-'", line=1)
    return session


def _line(record: dict[str, Any]) -> bytes:
    try:
        text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise SesameError(f"the record cannot be written as JSON: {error}") from error
    # A lone surrogate cannot be encoded; its escape is the same string in JSON.
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _append(path: Path, record: dict[str, Any]) -> None:
    """Write a record as one line and wait until the disk has it."""
    line = _line(record)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0))
    try:
        size = os.fstat(descriptor).st_size
        if size:
            os.lseek(descriptor, size - 1, os.SEEK_SET)
            if os.read(descriptor, 1) != b"\n":
                line = b"\n" + line  # a writer died while it wrote a record
        while line:
            line = line[os.write(descriptor, line) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    # The modification time shows that there is something to read (INV-004), and clocks of file systems are coarse.
    now = time.time_ns()
    os.utime(path, ns=(now, now))


@contextlib.contextmanager
def _readable_errors(path: Path) -> Iterator[None]:
    """Convert an `OSError` of a file into a `SesameError`."""
    try:
        yield
    except OSError as error:
        raise SesameError(f"{path}: {error.strerror or error}") from error
