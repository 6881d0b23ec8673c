"""How pi resumes a session: by its file, with the settings and the keys of the profile that has the file."""

from __future__ import annotations

import os
from pathlib import Path

from sesame_core import ResumeError, Resumption, Session
from sesame_core.config.paths import expand

from . import DEFAULT_DIR, agent_dir

#: Files of which one is in each of pi's own directories.
_OWN_FILES = ("settings.json", "auth.json")
_PROFILE = "PI_CODING_AGENT_DIR"


def resumption(session: Session, path: Path) -> Resumption:
    """Return how a session is resumed.

    :raises ResumeError: its file is gone.
    """
    if not path.is_file():
        raise ResumeError(f"its file is gone, so pi cannot resume it: {path}")
    return Resumption(
        command=("pi", "--session", str(path)),
        directory=session.cwd,
        environment=_environment(path),
        is_bound=False,
    )


def _environment(path: Path) -> dict[str, str | None]:
    """Return what must be set for pi to use the profile that has a file."""
    profile = next((place.parent for place in path.parents if place.name == "sessions"), None)
    if profile is None or not any((profile / name).is_file() for name in _OWN_FILES):
        return {}
    own, default = (os.path.realpath(place) for place in (agent_dir(), expand(DEFAULT_DIR)))
    used = os.path.realpath(profile)
    if used == own:
        return {}
    return {_PROFILE: None if used == default else str(profile)}
