"""How a session is resumed: by its parser, from a file that the agent finds, in a directory that exists."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from os.path import isdir
from pathlib import Path

from ..config import identity
from ..dataclass import replace
from ..errors import ResumeError, UnknownPluginError
from ..plugin.backend import IndexReader
from ..plugin.manager import PluginManager
from ..plugin.parser import Resumer, Resuming
from ..query.directories import is_of_windows
from ..query.here import root_of
from ..search import values
from ..search.grouping import copy_rank
from ..types.index import StoredSession
from ..types.query import Filters
from ..types.resumption import Resumption

#: Most sessions of a repository whose directories are tried in place of one that is missing.
TRIED = 100


def resumption(reader: IndexReader, plugins: PluginManager, stored: StoredSession) -> Resumption:
    """Return how a session is resumed; of its copies, the first one that its agent finds.

    :raises ResumeError: its agent cannot resume it here; the message says why.
    """
    session = stored.session
    if session.workstation and session.workstation != identity.workstation_id():
        host = f" ({session.host})" if session.host else ""
        raise ResumeError(f"session {session.id} is of workstation {session.workstation}{host}: resume it there")
    problem: ResumeError | None = None
    second: tuple[StoredSession, Resumption] | None = None
    for copy in _copies(reader, stored):
        try:
            found = _by(_parser(plugins, copy.session.agent), copy)
        except ResumeError as error:
            problem = problem or error
            continue
        if found.problem is None:
            return _checked(reader, copy, found)
        second = second or (copy, found)
    if second:
        return _checked(reader, *second)
    assert problem is not None
    raise problem


def shell_line(found: Resumption) -> str:
    """Return the line for a shell that resumes a session."""
    changes = [f"-u {name}" for name, value in found.environment.items() if value is None]
    changes += [f"{name}={quoted(value)}" for name, value in found.environment.items() if value is not None]
    command = " ".join(map(quoted, found.command))
    if changes:
        is_unset = None in found.environment.values()
        command = f"{'env ' if is_unset else ''}{' '.join(changes)} {command}"
    if not found.directory:
        return command
    return f"cd {quoted(found.directory)} && {command}"


def refusal(found: Resumption) -> str | None:
    """Return why a session cannot be resumed at present, and what to do; None when it can."""
    if found.problem is None or not found.directory or isdir(found.directory):
        return found.problem
    elsewhere = f"in {found.nearest}, or " if found.nearest and not found.is_bound else ""
    return f"{found.problem}; resume it {elsewhere}after: mkdir -p {quoted(found.directory)}"


def quoted(text: str) -> str:
    """Return a word for a shell; one with control characters is written so that a terminal does not obey them."""
    if text.isprintable():
        return shlex.quote(text)
    written = (c if c.isprintable() and c not in "\\'" else _escaped(c) for c in text)
    return f"$'{''.join(written)}'"


def _escaped(character: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape"))


def _copies(reader: IndexReader, stored: StoredSession) -> Iterator[StoredSession]:
    """Yield a session and its copies on this workstation, the representing one first."""
    yield stored
    session = stored.session
    others = [
        other
        for other in reader.find_sessions(session.id)
        if (other.session.id, other.session.workstation) == (session.id, session.workstation)
        and other.number != stored.number
    ]
    yield from sorted(others, key=copy_rank, reverse=True)


def _parser(plugins: PluginManager, agent: str) -> Resumer | Resuming:
    """Return the parser of an agent; of a session that was imported, each copy may be another agent's.

    :raises ResumeError: there is none, or it cannot resume sessions.
    """
    try:
        parser = plugins.parser(agent)
    except UnknownPluginError as error:
        raise ResumeError(f"sessions of {agent!r} cannot be resumed: {error}") from error
    if not isinstance(parser, Resumer | Resuming):
        raise ResumeError(f"sessions of {agent!r} cannot be resumed")
    return parser


def _by(parser: Resumer | Resuming, stored: StoredSession) -> Resumption:
    path = Path(stored.path)
    if isinstance(parser, Resuming):
        return parser.resumption(stored.session, path)
    return Resumption(command=tuple(parser.resume_command(stored.session, path)), directory=stored.session.cwd)


def _checked(reader: IndexReader, stored: StoredSession, found: Resumption) -> Resumption:
    """Return a resumption that says whether its directory exists, and if not, which one is nearest.

    :raises ResumeError: it is a directory of another system.
    """
    place = found.directory
    if not place or isdir(place):
        return found
    if os.sep == "/" and is_of_windows(place):
        raise ResumeError(f"the session's directory is one of Windows: {place}; resume it there")
    if os.sep == "\\" and place.startswith("/"):
        raise ResumeError(f"the session's directory is not one of Windows: {place}; resume it there")
    nearest = next(_nearest(reader, stored, place), None)
    what = "is not a directory" if os.path.lexists(place) else "does not exist"
    missing = f"the session's directory {what}: {place}" + (f"; the nearest that exists: {nearest}" if nearest else "")
    return replace(found, problem="; ".join(filter(None, (found.problem, missing))), nearest=nearest)


def _nearest(reader: IndexReader, stored: StoredSession, place: str) -> Iterator[str]:
    """Yield existing directories in place of a missing one, the most likely first."""
    above = os.path.dirname(place)
    while not isdir(above) and os.path.dirname(above) != above:
        above = os.path.dirname(above)
    if root := root_of(above):
        yield root
    yield from filter(isdir, reversed(stored.session.places))
    if stored.session.repository:
        same, _ = reader.list_sessions(Filters(repo=stored.session.repository, all_kinds=True), limit=TRIED)
        yield from (cwd for one in same if (cwd := one.session.cwd) and isdir(cwd))
    name = os.path.basename(place.rstrip("/\\"))
    known = [cwd for cwd, _ in values.known(reader, "cwd") if os.path.basename(cwd.rstrip("/\\")) == name]
    yield from filter(isdir, known)
    yield above
