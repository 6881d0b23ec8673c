"""An exported session as a JSON value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..sessions import session_json, session_summary
from ..text import SCHEMA_VERSION
from ..transcripts import chunk_json

if TYPE_CHECKING:
    from ...types.export import Export, Part
    from ..schemas.exports import ExportJson, PartJson


def export_json(export: Export) -> ExportJson:
    """Return the JSON value of an exported session."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "redacted": export.is_redacted,
        "sessions": [_part_json(export, part) for part in export.parts],
    }


def _part_json(export: Export, part: Part) -> PartJson:
    parent = None if part.parent is None else export.parts[part.parent].stored.session.id
    return {
        **session_json(part.stored),
        "summary": session_summary(part.stored),
        "startedBy": parent,
        "startedAt": part.started_at,
        "chunks": [chunk_json(chunk) for chunk in part.chunks],
    }
