"""How OpenCode resumes a session: by its id, from the session's directory."""

from __future__ import annotations

import os
from pathlib import Path

from sesame_core import ResumeError, Resumption, Session

from . import data_dir


def resumption(session: Session, path: Path) -> Resumption:
    """Return how a session is resumed; for a subagent's, how the session that started it is.

    :raises ResumeError: OpenCode has it no more, or only in the form of an older version.
    """
    container = path.parent
    name = session.id.partition("/")[0]
    if not container.is_file():
        if not path.exists():
            raise ResumeError(f"its file is gone, so OpenCode cannot resume it: {path}")
        raise ResumeError(
            f"OpenCode since 1.2 does not read {path}: open it once with a version from 1.2 to 1.17, which copies it"
        )
    return Resumption(command=("opencode", "--session", name), directory=session.cwd, environment=_variables(container))


def _variables(database: Path) -> dict[str, str | None]:
    """Return what must be set for OpenCode to open a database."""
    place = data_dir()
    present = os.environ.get("OPENCODE_DB")
    if os.path.realpath(place / (present or "opencode.db")) == os.path.realpath(database):
        return {}
    if os.path.realpath(place / "opencode.db") == os.path.realpath(database):
        return {"OPENCODE_DB": None}
    return {"OPENCODE_DB": str(database)}
