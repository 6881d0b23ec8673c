"""The file and the lines that a question is about."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime

from ..dataclass import dataclass
from ..errors import QueryError, SesameError
from ..query.here import root_of

#: Bytes of a file that is read: generated files are larger, and nobody wrote their lines.
LARGEST = 4 << 20
_LINES = re.compile(r"(?P<path>.+?):(?P<first>\d+)(?:-(?P<last>\d+))?")
_REMOTE = re.compile(r'^\[remote "origin"\][^\[]*?^\s*url\s*=\s*(.+?)\s*$', re.MULTILINE | re.DOTALL)
_ADDRESS = re.compile(r"(?:\w+://)?(?:[^@/]*@)?(?P<host>[^/:]+)(?::\d+(?=/))?[/:](?P<name>.+?)(?:\.git)?/*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A file with the lines that are asked about."""

    #: Absolute, without links.
    path: str
    #: The repository around it; None outside of git.
    root: str | None
    #: Its path in the repository, with slashes; outside of git, its last two parts.
    name: str
    lines: tuple[str, ...]
    #: 1-based, inclusive.
    first: int
    last: int
    #: When it was last changed.
    modified: datetime
    #: The remote of the repository, `host/owner/name`; "" without one.
    repository: str = ""


def target(reference: str) -> Target:
    """Return the file that `FILE`, `FILE:LINE` or `FILE:LINE-LINE` means.

    :raises QueryError: the file has no such lines.
    :raises SesameError: there is no such file, or it has no lines to ask about.
    """
    if not os.path.exists(reference):
        reference = os.path.expanduser(reference)
    path, bounds = reference, None
    if not os.path.exists(reference) and (match := _LINES.fullmatch(reference)):
        path, bounds = match["path"], (int(match["first"]), int(match["last"] or match["first"]))
    lines, modified = _read(path)
    first, last = bounds or (1, len(lines))
    if bounds and not 1 <= first <= last <= len(lines):
        wanted = f"line {first}" if first == last else f"lines {first}-{last}"
        raise QueryError(f"{path}: has no {wanted}; its lines are 1-{len(lines)}")
    full = os.path.realpath(path)
    root = root_of(os.path.dirname(full))
    name = os.path.relpath(full, root) if root else os.sep.join(full.split(os.sep)[-2:])
    return Target(
        path=full,
        root=root,
        name=name.replace("\\", "/"),
        lines=tuple(lines),
        first=first,
        last=last,
        modified=modified,
        repository=remote_of(root) if root else "",
    )


def _read(path: str) -> tuple[list[str], datetime]:
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        # A pipe or a terminal would be waited for.
        raise SesameError(f"{path}: is a pipe or a device; ask about a file with lines")
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
            modified = datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime, UTC)
    except OSError as error:
        raise SesameError(f"{path}: {error.strerror or error}; name a file that exists, or FILE:LINE of one") from error
    if len(data) > LARGEST:
        raise SesameError(f"{path}: is larger than {LARGEST >> 20} MiB; ask about a smaller file")
    if b"\0" in data[:8192]:
        raise SesameError(f"{path}: is not text; ask about a file with lines")
    # As git and editors count them: a form feed and the like end no line.
    lines = data.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    if not lines[-1]:
        lines.pop()
    if not lines:
        raise SesameError(f"{path}: is empty; ask about a file with lines")
    return [line.removesuffix("\r") for line in lines], modified


def remote_of(root: str) -> str:
    """Return the remote of a repository as sessions have it; "" without one, and in a worktree."""
    try:
        with open(os.path.join(root, ".git", "config"), encoding="utf-8", errors="replace") as file:
            found = _REMOTE.search(file.read())
    except OSError:
        return ""
    address = _ADDRESS.fullmatch(found[1]) if found else None
    return f"{address['host']}/{address['name']}".lower() if address else ""
