"""Finds OpenCode's sessions: databases, and trees of JSON files.

A session that a database has is not listed again from the tree that it was copied from.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator

from sesame_core.sdk.databases import is_database
from sesame_core.types.listing import Container, Unit

from .database import opened
from .trees import Tree, databases_of, is_session_name, is_storage

#: Directories without sessions, which may be large.
LEFT_OUT = frozenset(
    {".git", "bin", "cache", "log", "node_modules", "repos", "snapshot", "tool-output", "message", "part"}
)
#: What SQLite writes next to a database.
LOGS = ("-wal", "-journal")
#: Days since its last change in which a session in a tree may be written again.
RECENT_DAYS = 14


def containers(place: str) -> Iterator[Container]:
    """Yield the databases and trees below a directory, or the one that a file belongs to.

    :raises OSError: the place cannot be read.
    """
    if os.path.isdir(place):
        if (tree := Tree.of(os.path.join(place, "x"))) is not None:
            yield _tree(tree)
            return
        problems: list[OSError] = []
        for directory, names, files in os.walk(place, onerror=problems.append):
            if is_storage(directory):
                yield _tree(Tree(directory))
                names.clear()
            names[:] = sorted(name for name in names if name not in LEFT_OUT)
            for name in sorted(files):
                if name.endswith(".db") and _is_ours(path := os.path.join(directory, name)):
                    yield _database(path)
        if problems and problems[0].filename == place:
            raise problems[0]
        return
    for log in LOGS:
        place = place.removesuffix(log)
    if place.endswith(".db") and os.path.isfile(place) and _is_ours(place):
        yield _database(place)
    elif place.endswith(".json") and (tree := Tree.of(place)) is not None:
        yield _tree(tree)


def units(container: str) -> Iterator[Unit]:
    """Yield the sessions of a container.

    :raises OSError: it cannot be read.
    """
    if os.path.isfile(container):
        with opened(container) as database:
            yield from database.units()
        return
    tree = Tree(os.path.dirname(container))
    copied = _ids(tree)
    for file in tree.files():
        if os.path.basename(file).removesuffix(".json") not in copied:
            try:
                yield tree.unit(file)
            except FileNotFoundError:
                continue  # deleted since it was listed


def unit(path: str) -> Unit:
    """Return one session.

    :raises FileNotFoundError: there is none, or another container has it.
    :raises OSError: its container cannot be read.
    """
    container, name = os.path.split(path)
    if os.path.isfile(container) and container.endswith(".db") and is_database(container):
        with opened(container) as database:
            for found in database.units(name):
                return found
    tree = Tree.of(path) if is_session_name(name) else None
    if tree and container in tree.directories() and name.removesuffix(".json") not in _ids(tree):
        return tree.unit(path)
    raise FileNotFoundError(errno.ENOENT, "no session of OpenCode", path)


def _ids(tree: Tree) -> set[str]:
    """Return the ids of the sessions that the databases next to a tree have."""
    found: set[str] = set()
    for path in databases_of(tree.storage):
        with opened(path) as database:
            found |= database.ids()
    return found


def _is_ours(path: str) -> bool:
    """Return whether a database has sessions; of one that cannot be read the name tells."""
    try:
        if os.path.getsize(path) == 0 or not is_database(path):
            return _is_named(path) and os.path.getsize(path) > 0
        with opened(path) as database:
            return database.is_opencode or (_is_named(path) and database.is_unfinished)
    except OSError:
        return _is_named(path)


def _is_named(path: str) -> bool:
    return os.path.basename(path).startswith("opencode")


def _database(path: str) -> Container:
    # The log appears and disappears with the program.
    return Container(path=path, files=(path, f"{path}-wal"))


def _tree(tree: Tree) -> Container:
    since = time.time() - RECENT_DAYS * 86_400
    files = [tree.sessions, *tree.directories()]
    for directory in tree.message_directories():
        if directory.stat().st_mtime >= since:
            files.append(directory.path)
            files += sorted(entry.path for entry in os.scandir(directory.path))[-1:]
    return Container(path=tree.sessions, files=tuple(files))
