"""The session files of a parser that lists them itself (`plugin.parser.Listing`)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from .discovery import Files, FoundFile, is_below

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ..plugin.parser import Listing
    from ..types.index import KnownFile
    from ..types.listing import Unit

T = TypeVar("T")

#: In place of the time of a file that does not exist.
ABSENT = 0


class ListedFiles(Files):
    """The units that a parser lists, during one scan: what it has listed is not asked for again."""

    is_listed = True

    def __init__(self, parser: Listing) -> None:
        self.containers: dict[str, dict[str, int]] = {}
        self._parser = parser
        #: Containers that were listed, and places that could not be read.
        self._complete: set[str] = set()
        self._unreadable: set[str] = set()

    def scan(
        self,
        root: str,
        is_wanted: Callable[[str], bool],
        directories: dict[str, int] | None = None,
        problems: dict[str, Exception] | None = None,
    ) -> Iterator[FoundFile]:
        """Yield the wanted units below a root, each once.

        :param problems: collects the containers that cannot be read, by path.
        """
        place = os.path.realpath(root)
        if directories is not None and os.path.isdir(place):
            directories[place] = _mtime_ns(place)
        problems = {} if problems is None else problems
        if (unit := self._unit(place, problems)) is not None:
            if is_wanted(place):
                yield _found(unit)
            return
        seen: set[str] = set()
        is_known = False
        for container in self._told(place, lambda: self._parser.containers(Path(place)), problems):
            is_known = True
            # Before it is read: what changes meanwhile is found by the next scan.
            self.containers[container.path] = _times(container.files)
            for unit in self._told(container.path, lambda one=container: self._parser.units(one), problems):  # type: ignore[misc]
                if unit.path not in seen and is_wanted(unit.path):
                    yield _found(unit)
                seen.add(unit.path)
            if container.path not in self._unreadable:
                self._complete.add(container.path)
        if not is_known and place not in problems and os.path.isfile(place):
            is_wanted(place)  # it says of a file that was named why it is not a session

    def scan_again(
        self,
        root: str,
        is_wanted: Callable[[str], bool],
        known: Mapping[str, KnownFile],
        containers: Mapping[str, Mapping[str, int]],
        since_ns: int,
        problems: dict[str, Exception],
    ) -> Iterator[FoundFile]:
        """Yield the known units of the containers that have not changed, and the recent ones of the others."""
        changed = [path for path, times in containers.items() if is_below(path, root) and _times(times) != times]
        for container in changed:
            for found in self.scan(container, is_wanted, None, problems):
                if found.path in known or found.mtime_ns >= since_ns:
                    yield found
        for path, then in known.items():
            if is_below(path, root) and not _is_in(path, changed) and is_wanted(path):
                yield FoundFile(path, then[0], then[4] if len(then) > 4 else 0)

    def found(self, path: str) -> FoundFile:
        """Return a unit as it is at present; raises as `Listing.unit`."""
        return _found(self._parser.unit(Path(path)))

    def may_exist(self, path: str) -> bool:
        """Return whether a unit may exist: False only if its container was searched for it."""
        if _is_in(path, self._unreadable):
            return True
        if _is_in(path, self._complete):
            return False
        return self._unit(path, {}) is not None or path in self._unreadable

    def _unit(self, path: str, problems: dict[str, Exception]) -> Unit | None:
        """Return the unit at a path; None when there is none, or it cannot be read, which is noted."""
        try:
            return self._parser.unit(Path(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except Exception as error:  # noqa: BLE001 - one bad container, or one faulty plugin, must not lose the others
            self._unreadable.add(path)
            problems[path] = error
            return None

    def _told(self, path: str, told: Callable[[], Iterable[T]], problems: dict[str, Exception]) -> Iterator[T]:
        """Yield what the parser tells of a place, up to an error, which is noted."""
        try:
            yield from told()
        except FileNotFoundError:
            return  # deleted since it was found
        except Exception as error:  # noqa: BLE001 - one bad container, or one faulty plugin, must not lose the others
            self._unreadable.add(path)
            problems[path] = error


def _found(unit: Unit) -> FoundFile:
    return FoundFile(unit.path, unit.mtime_ns, unit.size)


def _is_in(path: str, containers: Iterable[str]) -> bool:
    return any(is_below(path, container) for container in containers)


def _times(files: Iterable[str]) -> dict[str, int]:
    return {file: _mtime_ns(file) for file in files}


def _mtime_ns(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return ABSENT
