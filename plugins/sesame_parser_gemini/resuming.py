"""Where Gemini CLI looks for a session: in its own directory, among those of the project that it is started in."""

from __future__ import annotations

import os
from pathlib import Path

from sesame_core import ResumeError, Resumption, Session

from . import own_dir
from .places import CHATS, SAVED, parent_id, project_dir, project_root

_HOME = "GEMINI_CLI_HOME"


def resumption(session: Session, path: Path) -> Resumption:
    """Return how a session is resumed; for a subagent's, how the session that started it is.

    :raises ResumeError: Gemini CLI would not find the session.
    """
    place = project_dir(path)
    own = session.parent_id or parent_id(path) if session.kind == "subagent" else session.id
    if path.name.startswith(SAVED):
        tag = path.stem.removeprefix(SAVED)
        raise ResumeError(f"a saved chat is resumed in gemini itself, in its directory: /chat resume {tag}")
    if not own:
        raise ResumeError("a subagent's session is resumed with its parent, which is not known")
    if session.kind == "subagent":
        if not next((place / CHATS).glob(f"session-*-{own[:8]}.json*"), None):
            raise ResumeError(f"a subagent's session is resumed with its parent, which has no file in {place / CHATS}")
    elif not path.is_file():
        raise ResumeError(f"its file is gone, so Gemini CLI cannot resume it: {path}")
    home = place.parent.parent
    environment: dict[str, str | None] = {}
    problem = None
    if os.path.realpath(home) != os.path.realpath(own_dir()):
        if home.name == ".gemini" and place.parent.name == "tmp":
            is_default = os.path.realpath(home.parent) == os.path.realpath(Path.home())
            environment = {_HOME: None if is_default else str(home.parent)}
        else:
            problem = (
                f"Gemini CLI does not look for sessions in {path.parent}: copy {path.name} to the project's own chats"
            )
    return Resumption(
        command=("gemini", "--resume", own),
        directory=project_root(path, "") or session.cwd,
        environment=environment,
        problem=problem,
    )
