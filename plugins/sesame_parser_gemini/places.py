"""Where a session file is, and what its place says: the project, the parent session."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from sesame_core import Session

from .values import moment, string, strings

#: The directory of a project's sessions; the project's own is above it.
CHATS = "chats"
#: Prefix of a saved chat (`/chat save`), which has no id: it is in the project's directory.
SAVED = "checkpoint-"
#: Most bytes of a file that names projects.
NAMED = 4 << 20


def describe(path: Path, about: Mapping[str, object], workspace: tuple[str, ...], named: Iterable[str] = ()) -> Session:
    """Return the session of a file.

    :param about: the properties in the file.
    :param workspace: directories that the context at its start names.
    :param named: directories that its calls name; the hash of the project's tells which one that is.
    """
    own = string(about, "sessionId") or path.stem
    parent = parent_id(path)
    if is_saved := not about.get("sessionId") and path.name.startswith(SAVED):
        own = f"{path.parent.name}-{path.stem}"
    directories = strings(about.get("directories"))
    project = string(about, "projectHash")
    cwd = project_root(path, project) or next(iter((*workspace, *directories)), None)
    cwd = cwd or next((place for place in named if is_hash_of(project, place)), None)
    places = tuple(dict.fromkeys(place for place in (*workspace, *directories) if place != cwd))
    is_subagent = parent is not None or about.get("kind") == "subagent"
    return Session(
        id=f"{parent}/{own}" if parent else own,
        agent="gemini",
        kind="subagent" if is_subagent else "interactive",
        parent_id=parent,
        cwd=cwd,
        directories=places,
        title=path.stem.removeprefix(SAVED) if is_saved else None,
        created=moment(about.get("startTime")),
    )


def parent_id(path: Path) -> str | None:
    """Return the id of the session whose subagent's file this is, by its directory; None for a main session."""
    return path.parent.name if path.parent.parent.name == CHATS and path.parent.name != CHATS else None


def project_dir(path: Path) -> Path:
    """Return the directory of the project of a session file."""
    return next((place.parent for place in path.parents[:2] if place.name == CHATS), path.parent)


def project_root(path: Path, project_hash: str) -> str | None:
    """Return the directory of the project of a session file; None if no file says it.

    The name of the project's own directory cannot be decoded: it is shortened, or a hash.
    """
    place = project_dir(path)
    if root := _text(place / ".project_root").strip():
        return root
    try:
        registry = json.loads(_text(place.parent.parent / "projects.json") or "{}")
    except (ValueError, RecursionError):
        # Gemini CLI writes it again.
        return None
    projects = registry.get("projects") if isinstance(registry, dict) else None
    for root, name in projects.items() if isinstance(projects, dict) else ():
        if name == place.name or is_hash_of(place.name, root) or is_hash_of(project_hash, root):
            return str(root)
    return None


def directories_in(arguments: Mapping[str, object]) -> Iterator[str]:
    """Yield the directories above the files that a call names by absolute paths, and these themselves."""
    for key in ("file_path", "absolute_path", "path", "dir_path"):
        place = string(arguments, key)
        while len(place) > 1 and (place[0] == "/" or place[1] == ":"):
            yield place
            place = place[: max(place.rfind("/"), place.rfind("\\"), 0)]


def is_hash_of(value: str, directory: str) -> bool:
    """Return whether a value is the hash by which Gemini CLI names the project of a directory."""
    return value == sha256(directory.encode("utf-8", "replace")).hexdigest()


def _text(path: Path) -> str:
    """Return the text of a small file; "" if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(NAMED).decode("utf-8", "replace").replace("\0", "")
    except OSError:
        # These files are optional.
        return ""
