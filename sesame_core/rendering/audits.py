"""Secrets found in the index, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .text import SCHEMA_VERSION, count, printable

if TYPE_CHECKING:
    from ..privacy.audit import Audit, Exposure
    from .schemas.audits import AuditJson, SecretJson


def audit_json(exposures: Iterable[Exposure], seen: Audit) -> AuditJson:
    """Return an audit's JSON value."""
    found: list[SecretJson] = [
        {
            "sessionId": exposure.session_id,
            "file": exposure.file,
            "position": exposure.position,
            "field": exposure.field,
            "kind": exposure.kind,
            "fingerprint": exposure.fingerprint,
        }
        for exposure in exposures
    ]
    return {
        "schemaVersion": SCHEMA_VERSION,
        "sessions": seen.sessions,
        "chunks": seen.chunks,
        "secrets": found,
        "lookedFor": [{"kind": kind, "found": number} for kind, number in seen.found.items()],
    }


def audit_text(seen: Audit) -> str:
    """Return what an audit looked for and found, as lines of text."""
    secrets = sum(seen.found.values())
    found = [f"{kind} {number}" for kind, number in seen.found.items() if number]
    others = [kind for kind, number in seen.found.items() if not number]
    lines = [f"Found: {', '.join(found)}"] if found else []
    lines.append(f"Looked for{' and did not find' if found else ''}: {', '.join(others)}")
    what = count(secrets, "secret") if secrets else f"none of {len(seen.found)} known kinds of secrets"
    lines.append(f"{what} in {count(seen.sessions, 'session')}, {count(seen.chunks, 'chunk')}")
    return "\n".join(lines)


def exposure_text(exposure: Exposure) -> str:
    """Return the location of a secret as one line of text."""
    where = f"session {exposure.session_id}" if exposure.session_id else f"file {exposure.file}"
    if exposure.position is not None:
        where += f", position {exposure.position}"
    return printable(f"{where}, {exposure.field}: {exposure.kind} {exposure.fingerprint}")
