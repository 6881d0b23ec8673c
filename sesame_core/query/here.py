"""The directories of the repository around the present one: its root, and its worktrees."""

from __future__ import annotations

import os


def here() -> tuple[str, ...]:
    """Return the directories of the git repository around the present directory, which comes alone if there is none."""
    try:
        present = os.getcwd()
    except FileNotFoundError:  # it was deleted
        return (os.environ.get("PWD", os.sep),)
    root = root_of(present)
    return (present,) if root is None else _checkouts(root)


def elsewhere(directory: str) -> list[str]:
    """Return what a directory is in the other checkouts of its git repository: the main one, and its worktrees."""
    root = root_of(directory)
    if root is None:
        return []
    inside = os.path.relpath(directory, root)
    return [os.path.normpath(os.path.join(other, inside)) for other in _checkouts(root) if other != root]


def _checkouts(root: str) -> tuple[str, ...]:
    """Return the directories in which a repository is checked out: one of them, the main one, and its worktrees."""
    shared = _shared(os.path.join(root, ".git"))
    found = [root]
    if os.path.basename(shared) == ".git":
        found.append(os.path.dirname(shared))
    worktrees = os.path.join(shared, "worktrees")
    for name in sorted(os.listdir(worktrees)) if os.path.isdir(worktrees) else ():
        if place := _read(os.path.join(worktrees, name, "gitdir")):
            found.append(os.path.dirname(os.path.join(worktrees, name, place)))
    return tuple(dict.fromkeys(map(os.path.normpath, found)))


def root_of(directory: str) -> str | None:
    """Return the nearest directory, from one upwards, that has a `.git`."""
    while not os.path.exists(os.path.join(directory, ".git")):
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent
    return directory


def _shared(git: str) -> str:
    """Return the directory that all worktrees of a repository share.

    :param git: `.git`: this directory, or in a worktree the file that names the worktree's own one.
    """
    if os.path.isdir(git):
        return git
    own = os.path.join(os.path.dirname(git), (_read(git) or "").removeprefix("gitdir:").strip())
    shared = _read(os.path.join(own, "commondir"))
    return os.path.normpath(os.path.join(own, shared) if shared else own)


def _read(path: str) -> str | None:
    """Return the only line of a file; None if there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip() or None
    except (OSError, UnicodeDecodeError):
        return None
