"""What `sesame integrate` has written on this machine, so that removing it leaves nothing behind.

By this it knows its own text, of whatever version, from one that the user has edited, and directories that it has made
from those that were there before.  Without the file nothing is lost: more copies and directories are kept.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from ..config import paths


class Record:
    """The record, in the platform's directory for user data: agents are not others with another index."""

    def __init__(self) -> None:
        self._file = paths.own_data_dir() / "integrated.json"
        value: Any = None
        try:
            value = json.loads(self._file.read_bytes())
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as error:
            import logging

            logging.getLogger(__name__).warning("%s: cannot be read, and is not used: %s", self._file, error)
        value = value if isinstance(value, dict) else {}
        self._written: dict[str, str] = dict(value.get("written") or {})
        self._made: dict[str, int] = dict(value.get("made") or {})
        self._directories: list[str] = list(value.get("directories") or [])

    def has_written(self, name: str, content: object) -> bool:
        """Return whether this is what was last written under a name.

        :param name: the path of a file, or of a setting in it.
        """
        return self._written.get(name) == _digest(content)

    def made(self, name: str) -> int:
        """Return how many of the objects around a setting were made for it."""
        return self._made.get(name, 0)

    def add(self, name: str, content: object, path: Path, made: int) -> None:
        """Note what is about to be written under a name, and the directories that will be made for its file.

        :param made: the number of objects that will be made around a setting.
        """
        self._written[name] = _digest(content)
        self._made[name] = max(made, self.made(name))
        self._note_missing(path)

    def drop(self, name: str) -> None:
        """Note that what was written under a name is removed."""
        self._written.pop(name, None)
        self._made.pop(name, None)

    def remove_directories(self, above: Path) -> None:
        """Remove the directories above a file that were made for it, as long as they are empty."""
        for place in above.parents:
            if str(place) not in self._directories:
                break
            try:
                place.rmdir()
            except OSError:  # it has other files
                break
            self._directories.remove(str(place))

    def _note_missing(self, path: Path) -> None:
        missing = [str(place) for place in path.parents if not place.exists()]
        self._directories += [place for place in missing if place not in self._directories]

    def save(self) -> None:
        """Write the record; delete it when nothing is integrated any more.

        :raises BackendError: it cannot be written.
        """
        if self._written:
            self._note_missing(self._file)
            value = {"written": self._written, "made": self._made, "directories": self._directories}
            paths.keep_private(self._file, json.dumps(value, indent=2))
        else:
            self._file.unlink(missing_ok=True)
            self.remove_directories(self._file)


def _digest(content: object) -> str:
    text = content if isinstance(content, bytes) else json.dumps(content, sort_keys=True).encode()
    return hashlib.sha256(text).hexdigest()
