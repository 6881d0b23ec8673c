"""The list of files with private sessions, which never leaves this machine.

An index that others can read has no row for such a file, and without the list each run would read it again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ..config import paths
from ..dataclass import dataclass, field
from ..errors import BackendError
from ..types.index import IndexedFile, KnownFile
from ..types.transcript import Session

#: Version of the list's format; a list of another version is rebuilt.
_VERSION = 3


@dataclass(slots=True, kw_only=True)
class PrivateFile:
    """A file with private sessions."""

    parser: str
    parser_version: int
    mtime_ns: int
    size: int
    #: Whether all its sessions are private, so that the whole file is.
    is_whole: bool
    #: For each private session: id, agent, cwd, repository, the parent's id, and then its other directories, also by
    #: the names that they had without symbolic links.
    sessions: list[list[str | None]] = field(default_factory=list)


class PrivateFiles:
    """The list.

    :param path: path of the list; None keeps it in memory only.
    :raises BackendError: it cannot be read.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        #: Digest of the rules that were last applied.
        self.applied = ""
        #: Whether there were any: when their file is gone, they are not.
        self.has_rules = False
        #: The index's `Fingerprinted.fingerprint` since then; another one when someone else has changed it.
        self.fingerprint = ""
        #: Agent and id of forgotten sessions: the index forgets them when a backup of it is restored.
        self.forgotten: set[tuple[str, str]] = set()
        self.files: dict[str, PrivateFile] = {}
        self._saved = ""
        self._is_held = False
        if path is None:
            return
        try:
            self._saved = path.read_text(encoding="utf-8")
            value = json.loads(self._saved)
            if value["version"] == _VERSION:
                self.applied, self.fingerprint = value["applied"], value.get("fingerprint", "")
                self.has_rules = bool(value.get("hasRules"))
                self.forgotten = {(agent, session) for agent, session in value.get("forgotten", ())}
                self.files = {name: PrivateFile(**known) for name, known in value["files"].items()}
                for _ in self.sessions():
                    pass  # each has all its fields
        except FileNotFoundError:
            pass  # no file is private yet
        except OSError as error:
            raise BackendError(f"{path}: cannot be read: {error.strerror or error}") from error
        except (ValueError, KeyError, TypeError, AttributeError):
            self.applied, self.forgotten, self.files = "", set(), {}  # only a cache: the next run rebuilds it

    def put(self, file: IndexedFile, sessions: Sequence[Session], *, is_whole: bool) -> None:
        """Record a file and its private sessions."""
        known = self.files.get(file.path)
        before = {one[0]: one[5:] for one in known.sessions} if known else {}
        self.files[file.path] = PrivateFile(
            parser=file.parser,
            parser_version=file.parser_version,
            mtime_ns=file.mtime_ns,
            size=file.size,
            is_whole=is_whole,
            sessions=[
                [one.id, one.agent, one.cwd, one.repository, one.parent_id, *_others(one, before.get(one.id, ()))]
                for one in sessions
            ],
        )

    def keep_sessions(self, path: str) -> None:
        """Let the next run read a file that is missing or failed; its private sessions stay known."""
        known = self.files.pop(path, None)
        if known is not None and known.sessions:
            known.is_whole = False
            self.files[path] = known

    def whole(self) -> dict[str, IndexedFile]:
        """Return the wholly private files, as `IndexedFile`s by path."""
        return {
            path: IndexedFile(
                path=path, parser=f.parser, parser_version=f.parser_version, mtime_ns=f.mtime_ns, size=f.size
            )
            for path, f in self.files.items()
            if f.is_whole
        }

    def known(self) -> dict[str, KnownFile]:
        """Return the wholly private files as a reader's `known_files` does."""
        return {
            path: (f.mtime_ns, f.parser, f.parser_version, False, f.size)
            for path, f in self.files.items()
            if f.is_whole
        }

    def count(self) -> int:
        """Return the number of wholly private files that have sessions."""
        return sum(known.is_whole and bool(known.sessions) for known in self.files.values())

    def sessions(self) -> Iterator[tuple[str, Session]]:
        """Yield the private sessions, each with its file."""
        for path, known in self.files.items():
            for session_id, agent, cwd, repository, parent, *others in known.sessions:
                session = Session(id=session_id or "", agent=agent or "", cwd=cwd, repository=repository)
                session.visibility = "private"
                session.parent_id, session.directories = parent, tuple(filter(None, others))
                yield path, session

    def save(self) -> None:
        """Write the list, readable by its owner alone.

        :raises BackendError: it cannot be written.
        """
        if self._path is None or self._is_held:
            return
        files = {path: {name: getattr(f, name) for name in PrivateFile.__slots__} for path, f in self.files.items()}
        state = {
            "applied": self.applied,
            "hasRules": self.has_rules,
            "fingerprint": self.fingerprint,
            "forgotten": sorted(self.forgotten),
        }
        text = json.dumps({"version": _VERSION, **state, "files": files})
        if text == self._saved:
            return
        paths.keep_private(self._path, text)
        self._saved = text

    def hold(self) -> None:
        """Save nothing until `release`: a new index counts at its end alone, and so does its list."""
        self._is_held = True

    def release(self) -> None:
        """Save what was held."""
        self._is_held = False
        self.save()


def _others(session: Session, before: Iterable[str | None]) -> list[str | None]:
    """Return the directories of a session besides its first, with their real names and those that they had before.

    When a symbolic link is gone, a rule for the directory that it led to still applies.
    """
    names = [name for place in session.places for name in (place, os.path.realpath(place))]
    return [name for name in dict.fromkeys((*names, *before)) if name != session.cwd]


def this_machines() -> PrivateFiles:
    """Return the list of this machine."""
    return PrivateFiles(_file())


def is_kept() -> bool:
    """Return whether this machine has a list: each run to an index that others can read writes it."""
    return _file().exists()


def _file() -> Path:
    return paths.data_dir() / "withheld.json"
