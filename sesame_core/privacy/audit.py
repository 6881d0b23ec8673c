"""Scans an index for secrets, and reports their places without the secrets.

Ids and paths in its results have placeholders for secrets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..dataclass import dataclass, field
from ..plugin.backend import IndexReader, TracksFiles
from ..plugin.paging import all_chunks, all_sessions
from ..types.query import Filters
from .redactor import Finding, Redactor


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """A secret that is stored."""

    #: Id of the session that contains it; None for a file of which no session is stored.
    session_id: str | None
    #: Path of the file that the session was read from.
    file: str
    #: Position of the chunk; None when the secret is in a field of the session or the file.
    position: int | None
    #: The field that contains it: "title", "text" …
    field: str
    kind: str
    #: The same for equal secrets.
    fingerprint: str


@dataclass(slots=True, kw_only=True)
class Audit:
    """Counts of what was scanned and found so far."""

    sessions: int = 0
    chunks: int = 0
    #: The number of secrets of each kind that is looked for.
    found: dict[str, int] = field(default_factory=dict)


def audit(reader: IndexReader, redactor: Redactor, seen: Audit) -> Iterator[Exposure]:
    """Yield each secret in the sessions, chunks and file names of an index.

    :param seen: counts what is scanned and found.
    """
    seen.found.update(dict.fromkeys(redactor.kinds, 0))
    for exposure in _scanned(reader, redactor, seen):
        seen.found[exposure.kind] += 1
        yield exposure


def _scanned(reader: IndexReader, redactor: Redactor, seen: Audit) -> Iterator[Exposure]:
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
