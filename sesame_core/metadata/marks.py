"""What a person marks sessions with: a star, tags, a name, a note; one file a session, `<session id>.marks.json`.

No model writes these files, and no run of the indexer does.  A file without any mark is deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..config.paths import write_private
from ..dataclass import dataclass
from ..errors import LockedError, ParseError, QueryError, SesameError
from ..query.fields import tag_of
from ..text.folding import printable, spaced
from ..text.tokens import clean
from ..types.transcript import Notes
from .directory import MARKS_SUFFIX, id_of
from .storage import NAME_CHARS, TAG_CHARS, content, locked, named

#: Most characters of a note, and most tags that a person gives a session.
NOTE_CHARS, TAGS = 8_000, 50
#: Seconds that a change waits for another one of the same session.
PATIENCE = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """The marks of one session."""

    is_starred: bool = False
    tags: tuple[str, ...] = ()
    #: Tags that a model wrote and a person took away.
    without: tuple[str, ...] = ()
    #: The name in place of the title; "" for none.
    name: str = ""
    note: str = ""

    @property
    def has_texts(self) -> bool:
        """Whether there is anything but a star."""
        return bool(self.tags or self.without or self.name or self.note)


def added(notes: Notes | None, marks: Marks | None) -> Notes | None:
    """Return notes with the marks of a person, whose tags come first; None if there is nothing."""
    if marks is None or not (marks.is_starred or marks.has_texts):
        return notes
    gone = {tag.casefold() for tag in (*marks.without, *marks.tags)}
    written = tuple(tag for tag in notes.tags if tag.casefold() not in gone) if notes else ()
    return Notes(
        name=notes.name if notes else "",
        description=notes.description if notes else "",
        summary=notes.summary if notes else "",
        tags=(*marks.tags, *written),
        title=marks.name or (notes.title if notes else ""),
        note=marks.note or (notes.note if notes else ""),
        is_starred=marks.is_starred,
    )


def read(path: Path) -> Marks | None:
    """Return the marks in a file for the session that its name contains; None when the file does not exist.

    :raises ParseError: it cannot be read, or is invalid.
    """
    try:
        value = content(path)
        return None if value is None else _decoded(value, id_of(path.name))
    except ValueError as error:
        raise ParseError(path, f"has no valid marks of its session, and counts as missing: {error}") from error


def change(directory: Path, session_id: str, changed: Callable[[Marks], Marks]) -> Path:
    """Change the marks of a session, whole or not at all; return the path of its file.

    :raises LockedError: another process is changing them.
    :raises SesameError: the file is invalid, which a person has to correct, or it cannot be written.
    """
    path = named(directory, session_id, MARKS_SUFFIX)
    with locked(directory, path.name.removesuffix(".json"), PATIENCE) as is_locked:
        if not is_locked:
            raise LockedError(f"the marks of session {session_id} are being changed by another process")
        marks = changed(read(path) or Marks())
        if marks.is_starred or marks.has_texts:
            _write(path, session_id, marks)
        else:
            path.unlink(missing_ok=True)
    return path


def tags_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Return tags as they are stored: on one line, without `#` before them, each once.

    :raises QueryError: one is empty or too long.
    """
    found: dict[str, str] = {}
    for text in texts:
        tag = tag_of(text)
        if not tag or len(tag) > TAG_CHARS:
            raise QueryError(f"{text[:80]!r} is not a tag: use 1 to {TAG_CHARS} characters")
        found.setdefault(tag.casefold(), tag)
    return tuple(found.values())


def name_of(text: str) -> str:
    """Return a name as it is stored: what is seen of it, on one line.

    :raises QueryError: it is empty or too long.
    """
    name = spaced(text)
    if not name or len(name) > NAME_CHARS:
        raise QueryError(f"{text[:80]!r} is not a name: use 1 to {NAME_CHARS} characters")
    return name


def note_of(text: str) -> str:
    """Return a note as it is stored: what is seen of it.

    :raises QueryError: it is empty or too long.
    """
    note = printable(text).strip()
    if not note or len(note) > NOTE_CHARS:
        raise QueryError(f"a note must have 1 to {NOTE_CHARS:,} characters, not {len(note):,}")
    return note


def _write(path: Path, session_id: str, marks: Marks) -> None:
    import json

    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    value: dict[str, Any] = {"sessionId": session_id, "starred": marks.is_starred}
    texts = {"name": marks.name, "note": marks.note, "tags": list(marks.tags), "withoutTags": list(marks.without)}
    value |= {name: text for name, text in texts.items() if text}
    data = json.dumps({**value, "updatedAt": now}, ensure_ascii=False, indent=2)
    try:
        write_private(
            path,
            data.encode("utf-8", "backslashreplace") + b"\n",
            fsync=True,
            draft=path.with_name(f".{path.name}.new"),
        )
    except OSError as error:
        raise SesameError(f"{path}: cannot be written: {error.strerror or error}") from error


def _decoded(value: dict[str, Any], session_id: str) -> Marks:
    """Return the marks in a file.

    :raises ValueError: it is invalid.
    """
    if value.get("sessionId") != session_id:
        raise ValueError(f"it is about session {value.get('sessionId')!r}")
    is_starred = value.get("starred", False)
    if not isinstance(is_starred, bool):
        raise ValueError('"starred" must be true or false')
    for name in ("name", "note"):
        if not isinstance(value.get(name, ""), str):
            raise ValueError(f'"{name}" must be a string')
    for name in ("tags", "withoutTags"):
        if not (isinstance(tags := value.get(name, []), list) and all(isinstance(tag, str) for tag in tags)):
            raise ValueError(f'"{name}" must be a list of strings')
    return Marks(
        is_starred=is_starred,
        tags=tuple(clean(tag)[:TAG_CHARS] for tag in value.get("tags", [])[:TAGS]),
        without=tuple(clean(tag) for tag in value.get("withoutTags", [])),
        name=clean(value.get("name", ""))[:NAME_CHARS],
        note=clean(value.get("note", ""))[:NOTE_CHARS],
    )
