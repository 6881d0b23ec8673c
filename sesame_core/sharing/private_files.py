"""The list of files with private sessions, which never leaves this machine.

An index that others can read has no row for such a file, and without the list each run would read it again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from pathlib import Path

from ..config import paths
from ..dataclass import dataclass, field
from ..errors import BackendError
from ..plugin.backend import IndexWriter
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
    #: For each private session: id, agent, cwd, repository, the parent's id, and then its other directories.
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
        self.files: dict[str, PrivateFile] = {}
        #: The last sync of this workstation when the list was saved, as the index has it.
        self.synced_at: datetime | None = None
        self._saved = ""
        self._is_held = False
        if path is None:
            return
        try:
            self._saved = path.read_text(encoding="utf-8")
            value = json.loads(self._saved)
            if value["version"] == _VERSION:
                self.applied = value["applied"]
                self.files = {name: PrivateFile(**known) for name, known in value["files"].items()}
                if value.get("syncedAt"):  # a list of before has none
                    self.synced_at = datetime.fromisoformat(value["syncedAt"])
                for _ in self.sessions():
                    pass  # each has all its fields
        except FileNotFoundError:
            pass  # no file is private yet
        except OSError as error:
            raise BackendError(f"{path}: cannot be read: {error.strerror or error}") from error
        except (ValueError, KeyError, TypeError, AttributeError):
            self.applied, self.files, self.synced_at = "", {}, None  # it is only a cache: the next run rebuilds it

    def put(self, file: IndexedFile, sessions: Sequence[Session], *, is_whole: bool) -> None:
        """Record a file and its private sessions."""
        self.files[file.path] = PrivateFile(
            parser=file.parser,
            parser_version=file.parser_version,
            mtime_ns=file.mtime_ns,
            size=file.size,
            is_whole=is_whole,
            sessions=[
                [one.id, one.agent, one.cwd, one.repository, one.parent_id, *one.directories] for one in sessions
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
        if self._path is None or self._is_held or (text := self._text()) == self._saved:
            return
        paths.keep_private(self._path, text)
        self._saved = text

    @contextmanager
    def saved_after(self, opened: AbstractContextManager[IndexWriter]) -> Iterator[IndexWriter]:
        """Open a writer whose work counts at its end alone: until then the list is not saved either."""
        self._is_held = True
        with opened as writer:
            yield writer
        self._is_held = False
        self.save()

    def has_changed(self) -> bool:
        """Return whether the list is not as it was saved."""
        return self._text() != self._saved

    def _text(self) -> str:
        files = {path: {name: getattr(f, name) for name in PrivateFile.__slots__} for path, f in self.files.items()}
        synced_at = self.synced_at.isoformat() if self.synced_at else None
        return json.dumps({"version": _VERSION, "applied": self.applied, "syncedAt": synced_at, "files": files})


def this_machines() -> PrivateFiles:
    """Return the list of this machine."""
    return PrivateFiles(_file())


def is_kept() -> bool:
    """Return whether this machine has a list: each run to an index that others can read writes it."""
    return _file().exists()


def _file() -> Path:
    return paths.data_dir() / "withheld.json"
