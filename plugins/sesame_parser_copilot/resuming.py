"""How Copilot CLI resumes a session: by its id, in the home that has its directory."""

from __future__ import annotations

import os
from pathlib import Path

from sesame_core import ResumeError, Resumption, Session
from sesame_core.config.paths import expand

from . import DEFAULT_DIR, HOME, SESSIONS, copilot_home
from .files import LOG, SessionFile


def resumption(session: Session, path: Path) -> Resumption:
    """Return how a session is resumed; for a subagent's, how the session that started it is.

    :raises ResumeError: its file is gone, and Copilot CLI would start a new session.
    """
    if not path.is_file():
        raise ResumeError(f"its file is gone, so Copilot CLI cannot resume it: {path}")
    name = SessionFile(path).id or session.id.partition("/")[0]
    places = session.places
    environment, problem = _environment(path)
    return Resumption(
        command=("copilot", f"--resume={name}"),
        # It stays where it was last; that directory is the one of its workspace.
        directory=places[-1] if places else None,
        environment=environment,
        is_bound=False,
        problem=problem,
    )


def _environment(path: Path) -> tuple[dict[str, str | None], str | None]:
    """Return what must be set for Copilot CLI to look at the home that has a file, and what must be done before."""
    sessions = path.parent.parent if path.name == LOG else path.parent
    used, own, default = (os.path.realpath(place) for place in (sessions.parent, copilot_home(), expand(DEFAULT_DIR)))
    if sessions.name not in SESSIONS:
        what, place = path.parent if path.name == LOG else path, copilot_home() / SESSIONS[0]
        return {}, f"Copilot CLI does not look for sessions in {sessions}: copy {what} to {place}"
    # 1.0.102 says so of a flat log, and does not look at the JSON objects.
    old = f"recent versions of Copilot CLI cannot load this layout, which those before 1.0 wrote: {path}"
    environment = {} if used == own else {HOME: None if used == default else str(sessions.parent)}
    return environment, None if path.name == LOG else old
