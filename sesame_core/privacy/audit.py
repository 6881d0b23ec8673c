"""Looks for secrets in what an index holds, and tells where they are without telling them.

Ids and paths in its answers have marks where a secret is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..dataclass import dataclass
from ..plugin.backend import IndexReader, TracksFiles
from ..plugin.paging import all_chunks, all_sessions
from ..types.query import Filters
from .redactor import Finding, Redactor


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """A secret that is stored."""

    #: Id of the session it is in; None for a file of which no session is stored.
    session_id: str | None
    #: Path of the file the session was read from.
    file: str
    #: Position of the chunk; None when it is in what is known of the session or its file.
    position: int | None
    #: The field it is in, "title", "text" …
    field: str
    kind: str
    #: Equal for the same secret in two places.
    fingerprint: str


@dataclass(slots=True, kw_only=True)
class Audit:
    """What was looked at so far."""

    sessions: int = 0
    chunks: int = 0


def audit(reader: IndexReader, redactor: Redactor, seen: Audit) -> Iterator[Exposure]:
    """Yield each secret in the sessions, chunks and file names of an index.

    :param seen: counts what is looked at.
    """
    with reader.snapshot():
        paths = set()
        for stored in all_sessions(reader, Filters(all_kinds=True)):
            seen.sessions += 1
            paths.add(stored.path)
            where = redactor.text(stored.session.id), redactor.text(stored.path)
            yield from _exposures(redactor, where, None, {"file": stored.path, **_fields(stored.session)})
            for chunk in all_chunks(reader, stored.number):
                seen.chunks += 1
                yield from _exposures(redactor, where, chunk.seq, _fields(chunk))
        others = reader.known_files().keys() - paths if isinstance(reader, TracksFiles) else ()
        for path in sorted(others):
            yield from _exposures(redactor, (None, redactor.text(path)), None, {"file": path})
        for path, message in reader.statistics().failed:
            yield from _exposures(redactor, (None, redactor.text(path)), None, {"error": message})


def _fields(thing: Any) -> dict[str, Any]:
    return {name: getattr(thing, name) for name in thing.__dataclass_fields__}


def _exposures(
    redactor: Redactor, where: tuple[str | None, str], position: int | None, fields: dict[str, Any]
) -> Iterator[Exposure]:
    session_id, file = where
    for name, value in fields.items():
        for finding in _findings(redactor, value):
            yield Exposure(
                session_id=session_id,
                file=file,
                position=position,
                field=name,
                kind=finding.kind,
                fingerprint=finding.fingerprint,
            )


def _findings(redactor: Redactor, value: Any) -> Iterator[Finding]:
    if isinstance(value, str):
        yield from redactor.findings(value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from redactor.findings(key)
            yield from _findings(redactor, inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _findings(redactor, inner)
