"""Metadata files, one for each session that was described: `<session id>.meta.json` in one directory.

The format is that of seed 002, so that other programs can read and write the files too.  An invalid file counts as
missing, and is reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..config.paths import write_private
from ..dataclass import dataclass, replace
from ..errors import LockedError, ParseError, SesameError
from ..text.tokens import clean
from ..types.transcript import Notes
from .directory import MARKS_SUFFIX, SUFFIX, id_of
from .storage import NAME_CHARS, TAG_CHARS, content, locked, named

if TYPE_CHECKING:
    from typing import Any

#: Most characters of the indexed fields of a file.
DESCRIPTION_CHARS, SUMMARY_CHARS = 1_200, 8_000
#: Most tags of a session.
TAGS = 12
#: The fields of a file, by attribute.
_FIELDS = {
    "session_id": "sessionId",
    "session_file": "sessionFile",
    "parent_session_file": "parentSessionFile",
    "name": "name",
    "description": "description",
    "summary": "summary",
    "tags": "tags",
    "cwd": "cwd",
    "created_at": "createdAt",
    "updated_at": "updatedAt",
    "model": "model",
    "last_indexed_leaf_id": "lastIndexedLeafId",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """The content of one file."""

    session_id: str
    session_file: str
    parent_session_file: str | None = None
    name: str
    description: str
    summary: str
    tags: tuple[str, ...]
    cwd: str
    #: Times of the first and the last write of the file: ISO 8601.
    created_at: str
    updated_at: str
    #: The model that wrote it.
    model: str
    #: Id of the last entry of the session that the metadata covers.
    last_indexed_leaf_id: str

    @property
    def notes(self) -> Notes:
        """The part that is indexed."""
        return Notes(name=self.name, description=self.description, summary=self.summary, tags=self.tags)


class MetadataFiles:
    """The directory of metadata files.

    :param directory: created at the first write, readable by its owner alone.
    :param has_marks: whether the notes of a session have what a person wrote, too; no index has stars.
    """

    def __init__(self, directory: Path, *, has_marks: bool = False) -> None:
        self.directory = directory
        self.has_marks = has_marks

    def path(self, session_id: str) -> Path:
        """Return the path of a session's file, whether it exists or not.

        :raises SesameError: the id is too long to name a file.
        """
        return named(self.directory, session_id, SUFFIX)

    def read(self, session_id: str) -> Metadata | None:
        """Return the metadata of a session; None when it has no file.

        :raises ParseError: the file cannot be read, or is invalid.
        """
        return read(self.path(session_id))

    def notes(self, session_id: str) -> Notes | None:
        """Return a session's notes; None when it has no file, or only ones that are not valid."""
        notes = None
        # What is not valid is reported by the code that scans the directory.
        with suppress(SesameError):
            found = self.read(session_id)
            notes = found.notes if found else None
        if self.has_marks:
            from . import marks

            with suppress(SesameError):
                found_marks = marks.read(named(self.directory, session_id, MARKS_SUFFIX))
                return marks.added(notes, found_marks and replace(found_marks, is_starred=False))
        return notes

    def check(self, path: Path) -> None:
        """Check a file of the directory, of either kind.

        :raises ParseError: it cannot be read, or is invalid.
        """
        if path.name.endswith(MARKS_SUFFIX):
            from .marks import read as read_marks

            read_marks(path)
        else:
            read(path)

    def write(self, metadata: Metadata) -> Path:
        """Write a session's file, whole or not at all; its lock must be held.

        :raises SesameError: it cannot be written.
        """
        import json

        path = self.path(metadata.session_id)
        value = {name: getattr(metadata, attribute) for attribute, name in _FIELDS.items()}
        if metadata.parent_session_file is None:
            del value["parentSessionFile"]
        data = json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace") + b"\n"
        try:
            write_private(path, data, fsync=True, draft=path.with_name(f".{path.name}.new"))
        except OSError as error:
            raise SesameError(f"{path}: cannot be written: {error.strerror or error}") from error
        return path

    @contextmanager
    def lock(self, session_id: str) -> Iterator[None]:
        """Hold the lock of a session's file; the operating system releases it when the process dies.

        :raises LockedError: another process or thread holds it.
        :raises SesameError: the directory cannot be written to.
        """
        with locked(self.directory, self.path(session_id).name.removesuffix(SUFFIX)) as is_locked:
            if not is_locked:
                raise LockedError(f"session {session_id} is being described by another process")
            yield


def read(path: Path) -> Metadata | None:
    """Return the metadata in a file for the session that its name contains; None when the file does not exist.

    :raises ParseError: it cannot be read, or is invalid.
    """
    try:
        value = content(path)
        return None if value is None else _decoded(value, id_of(path.name))
    except ValueError as error:
        raise ParseError(path, f"is not valid metadata of its session, and counts as missing: {error}") from error


def _decoded(value: dict[str, Any], session_id: str) -> Metadata:
    """Return the content of a file.

    :raises ValueError: it is invalid.
    """
    texts: dict[str, Any] = {}
    for attribute, name in _FIELDS.items():
        text = value.get(name)
        if attribute == "tags":
            if not isinstance(text, list) or not all(isinstance(tag, str) for tag in text):
                raise ValueError('"tags" must be a list of strings')
            texts["tags"] = tuple(clean(tag)[:TAG_CHARS] for tag in text[:TAGS])
        elif isinstance(text, str):
            texts[attribute] = clean(text)
        elif text is not None or attribute != "parent_session_file":
            raise ValueError(f'"{name}" must be a string')
    if texts["session_id"] != session_id:
        raise ValueError(f"it is about session {texts['session_id']!r}")
    texts["name"] = texts["name"][:NAME_CHARS]
    texts["description"] = texts["description"][:DESCRIPTION_CHARS]
    texts["summary"] = texts["summary"][:SUMMARY_CHARS]
    return Metadata(**texts)
