"""How a session is resumed, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .text import SCHEMA_VERSION

if TYPE_CHECKING:
    from ..types.index import StoredSession
    from ..types.resumption import Resumption
    from .schemas.sessions import ResumeJson, ResumptionJson


def resumption_json(stored: StoredSession, found: Resumption, shell: str | None) -> ResumptionJson:
    """Return the JSON value of how a session is resumed.

    :param shell: the line for a shell; None when it would not work at present.
    """
    return {
        "schemaVersion": SCHEMA_VERSION,
        "sessionId": stored.session.id,
        **resume_json(found),
        "shell": shell,
    }


def refusal_json(stored: StoredSession, reason: str) -> ResumptionJson:
    """Return the JSON value of a session that cannot be resumed here."""
    from ..types.resumption import Resumption

    return resumption_json(stored, Resumption(command=(), directory=stored.session.cwd, problem=reason), None)


def resume_json(found: Resumption) -> ResumeJson:
    """Return the JSON value of a command that resumes a session."""
    return {
        "command": list(found.command),
        "cwd": found.directory,
        "environment": dict(found.environment),
        "problem": found.problem,
        "nearest": found.nearest,
    }
