"""How Codex resumes a session: by its id, in the home that has its file."""

from __future__ import annotations

import os
from pathlib import Path

from sesame_core import ResumeError, Resumption, Session
from sesame_core.config.paths import expand

from . import ARCHIVED, DEFAULT_HOME, SESSIONS, codex_home, home_of
from .files import named

_HOME = "CODEX_HOME"


def resumption(session: Session, path: Path) -> Resumption:
    """Return how a session is resumed; for a subagent's, and for a segment's, how the thread that it belongs to is.

    A session of another agent that was imported is resumed as the thread that has it.

    :raises ResumeError: its file is gone.
    """
    thread, own = session.id.partition("/")[0], named(path).thread
    if own not in session.id:
        thread = own
    if not path.is_file():
        raise ResumeError(f"its file is gone, so Codex cannot resume it: {path}")
    home = home_of(path)
    problem = None
    if home is None or not named(path).thread:
        place = codex_home() / SESSIONS
        problem = f"Codex does not look for sessions in {path.parent}: copy {path.name} to {place}"
    elif path.parent.name == ARCHIVED:
        problem = f"the session is archived: run `codex unarchive {thread}` first"
    return Resumption(
        command=("codex", "resume", thread),
        directory=session.cwd,
        environment=_environment(home) if home is not None else {},
        is_bound=False,
        problem=problem,
    )


def _environment(home: Path) -> dict[str, str | None]:
    """Return what must be set for Codex to use a home."""
    used, own, default = (os.path.realpath(place) for place in (home, codex_home(), expand(DEFAULT_HOME)))
    if used == own:
        return {}
    return {_HOME: None if used == default else str(home)}
