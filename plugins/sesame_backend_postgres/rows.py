"""Converts Sesame's objects to rows of this database and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from psycopg.types.json import Jsonb

from sesame_core.sdk import rows
from sesame_core.text.tokens import clean, subwords
from sesame_core.types.transcript import Notes, Session

FILE_COLUMNS, SESSION_COLUMNS, CHUNK_COLUMNS = rows.FILE_COLUMNS, rows.SESSION_COLUMNS, rows.CHUNK_COLUMNS
STORED_COLUMNS, STORED_FROM = rows.STORED_COLUMNS, rows.STORED_FROM

#: The latest time that both the database and Python can represent, in place of later ones.
_END = datetime(9999, 12, 31, tzinfo=UTC)


class _Rows(rows.Rows):
    """The database has a type for everything except checkpoints; its strings cannot have NUL and lone surrogates.

    A value of another shape is one that the schema's checks do not let in; what it has of the right shape is used, so
    that one role's row never breaks another one's list.
    """

    def text(self, text: str) -> str:
        return clean(text)

    def counts(self, counts: Mapping[str, int]) -> Jsonb:
        return Jsonb({clean(name): count for name, count in counts.items()})

    def from_counts(self, value: Any) -> dict[str, int]:
        pairs = value.items() if isinstance(value, dict) else ()
        return {name: count for name, count in pairs if isinstance(count, int)}

    def segments(self, numbers: Sequence[int]) -> list[int]:
        return list(numbers)

    def from_segments(self, value: Any) -> list[int]:
        return _flat(value, int)

    def origins(self, origins: Sequence[int]) -> list[int]:
        return list(origins)

    def from_origins(self, value: Any) -> list[int]:
        return _flat(value, int)

    def prompts(self, prompts: Sequence[str]) -> list[str]:
        return list(map(clean, prompts))

    def from_prompts(self, value: Any) -> list[str]:
        return _flat(value, str)

    def from_notes(self, value: Any) -> Notes | None:
        try:
            name, description, summary, tags, *more = super().from_json(value)
            own = more[1] if len(more) > 1 and isinstance(more[1], dict) else {}
            texts = {"name": name, "description": description, "summary": summary}
            texts |= {field: own.get(field) for field in ("title", "note")}
            strings = {field: text if isinstance(text, str) else "" for field, text in texts.items()}
            return Notes(**strings, tags=tuple(_flat(tags, str)))  # type: ignore[arg-type]
        except (TypeError, ValueError, RecursionError):
            return None


T = TypeVar("T")


def _flat(value: Any, kind: type[T]) -> list[T]:
    """Return the elements of a list, or of the lists in it, that are of a type."""
    if not isinstance(value, list):
        return [value] if isinstance(value, kind) else []
    return [element for part in value for element in _flat(part, kind)]


_rows = _Rows()
file_row, to_file = _rows.of_file, _rows.to_file
to_session, to_stored = _rows.to_session, _rows.to_stored
chunk_row, to_chunk = _rows.of_chunk, _rows.to_chunk
from_notes = _rows.notes


def session_row(session: Session, mtime_ns: int) -> tuple[Any, ...]:
    """Return the values of `SESSION_COLUMNS`.

    :param mtime_ns: modification time of its file: the default of the session's modified time.
    """
    return _rows.of_session(session, _moment(mtime_ns))


def head(session: Session) -> tuple[str, str, str]:
    """Return the texts of a session's head: title, summary, prompts, including its notes."""
    notes = session.notes
    about = (notes.description, notes.summary, *notes.tags, subwords(notes.text), *notes.own) if notes else ()
    name = session.title or (notes.name if notes else "")
    return name, "\n".join(filter(None, (session.summary, *about))), "\n".join(session.prompts)


def reversed_path(path: str) -> str:
    """Return a path reversed, so that an index finds it by its last parts; truncated to the size of an index entry."""
    return ("/" + clean(path).replace("\\", "/").removeprefix("/")).lower()[::-1][:600]


def _moment(mtime_ns: int) -> datetime:
    try:
        return datetime.fromtimestamp(mtime_ns / 1e9, UTC)
    except (OverflowError, ValueError, OSError):
        return _END
