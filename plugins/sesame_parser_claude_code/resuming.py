"""Where Claude Code looks for a session: in its profile, in the directory whose name encodes the present one."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from sesame_core import ResumeError, Resumption, Session
from sesame_core.text.tokens import clean

from . import default_dir, session_root
from .files import UUID, SessionFile

#: A longer name of a directory is cut, and a hash is appended.
CUT = 200
#: Bytes at each end of a file that are searched for directories.
SEARCHED = 1 << 20
#: Most directories that are listed to find the one that a name encodes.
LISTED = 1_000
_CWD = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")')
_PROFILE = "CLAUDE_CONFIG_DIR"


def resumption(session: Session, path: Path) -> Resumption:
    """Return how a session is resumed; for a subagent's, how the session that started it is.

    :raises ResumeError: Claude Code would not find the session.
    """
    file = SessionFile(path)
    is_subagent = session.kind == "subagent" or file.agent_id is not None
    bucket = file.session_dir.parent if is_subagent else path.parent
    own = (session.parent_id or file.parent_id or "") if is_subagent else session.id
    if not is_subagent and UUID.fullmatch(path.stem):
        own = path.stem  # it looks for the name of the file, whatever is in it
    name = own.partition("/")[0]
    found = path if path.is_file() and not is_subagent else _file_of(name, bucket)
    if found is None and is_subagent:
        whose = f"session {name}, which started it," if name else "the session that started it"
        raise ResumeError(
            f"a subagent's session is resumed with its parent, but {whose} has no file in {bucket.parent}"
        )
    if found is None:
        raise ResumeError(f"its file is gone, so Claude Code cannot resume it: {path}")
    environment = _environment(found)
    problem = None
    directory = _directory(found, session.places)
    if environment is None:
        # A copy in a directory of another kind has the name of none in which Claude Code was.
        place = session_root() / (encoded(session.cwd) if session.cwd and not directory else found.parent.name)
        problem = f"Claude Code does not look for sessions in {found.parent}: copy {found.name} to {place}"
    return Resumption(
        command=("claude", "--resume", name),
        directory=directory or session.cwd,
        environment=environment or {},
        problem=problem,
    )


def moved_to(path: Path, places: Sequence[str]) -> str | None:
    """Return the directory to which a project was moved together with the file of a session; None if it was not.

    :param places: the directories in which the session was, by its records.
    """
    if path.parent.parent.name != "projects":
        return None
    wanted = encoded(path.parent.name)
    return None if any(encoded(place) == wanted for place in places) else _decoded(wanted)


def encoded(directory: str) -> str:
    """Return the name of the directory of the sessions that were held in a directory; of a long one, its beginning."""
    units = directory.encode("utf-16-le", "surrogatepass")
    text = "".join(chr(int.from_bytes(units[n : n + 2], "little")) for n in range(0, len(units), 2))
    return re.sub("[^a-zA-Z0-9]", "-", text)[:CUT]


def _file_of(name: str, bucket: Path) -> Path | None:
    """Return the file of a session, which moves with its directory; None if there is none."""
    if not UUID.fullmatch(name):
        return None
    places = [bucket, *sorted(bucket.parent.glob("*"))]
    return next((file for place in places if (file := place / f"{name}.jsonl").is_file()), None)


def _environment(file: Path) -> dict[str, str | None] | None:
    """Return what must be set for Claude Code to look at the profile that has a file; None if no profile has it."""
    projects = file.parent.parent
    if _same(projects, session_root()):
        return {}
    default = default_dir()
    for profile in (default, *sorted(Path.home().glob(".claude*"))):
        if _same(projects, profile / "projects"):
            return {_PROFILE: None if profile == default else str(profile)}
    return {_PROFILE: str(projects.parent)} if projects.name == "projects" else None


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _directory(file: Path, places: Sequence[str]) -> str | None:
    """Return the directory from which Claude Code looks at a file; None if it is not known.

    :param places: those in which the session was.
    """
    wanted = encoded(file.parent.name)
    fitting = [place for place in places if encoded(place) == wanted]
    if not fitting:
        fitting = [place for place in dict.fromkeys(_named_in(file)) if encoded(place) == wanted]
    existing = next((place for place in fitting if os.path.isdir(place)), None)
    # A project may have been moved with its sessions.
    return existing or next(iter(fitting), None) or _decoded(wanted)


def _named_in(file: Path) -> Iterator[str]:
    """Yield the directories that the records at both ends of a file name, the last ones first."""
    with file.open("rb") as opened:
        text = opened.read(SEARCHED)
        size = os.fstat(opened.fileno()).st_size
        opened.seek(max(len(text), size - SEARCHED))
        text += opened.read(SEARCHED)
    for quoted in reversed(_CWD.findall(text)):
        try:
            yield clean(json.loads(quoted))
        except ValueError:
            continue  # a record that is cut, or damaged


@lru_cache
def _decoded(wanted: str) -> str | None:
    """Return the existing directory that has this name when encoded; None if there is none, or several have it."""
    places, found = [os.sep], []
    for _ in range(LISTED):
        if not places:
            break
        try:
            below = [entry.path for entry in os.scandir(places.pop()) if entry.is_dir()]
        except OSError:
            continue  # not allowed, or gone meanwhile
        names = [(place, encoded(place)) for place in below]
        found += [place for place, name in names if name == wanted]
        places += [place for place, name in names if wanted.startswith(f"{name}-")]
    return found[0] if len(found) == 1 else None
