"""Detects changed session files: one rule, for the refresh before a search and for a run of the indexer.

`detect` compares files with the files that the index knows, by names and times alone.  It reads no session, writes
nothing, and accesses the disk only through the functions that are passed to it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..dataclass import dataclass, field
from ..types.index import NOTES, UNREAD
from . import discovery
from .discovery import FoundFile
from .scan_root import ScanRoot, is_suspect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import TypeAlias

    from ..types.index import KnownFile

    #: Finds the wanted files of a scan root below a real path, like `discovery.scan`; collects what cannot be read.
    Scan: TypeAlias = Callable[[ScanRoot, str, Callable[[str], bool], dict[str, Exception]], Iterable[FoundFile]]


def _scan(
    scan_root: ScanRoot, root: str, is_wanted: Callable[[str], bool], problems: dict[str, Exception]
) -> Iterable[FoundFile]:
    return scan_root.files.scan(root, is_wanted, None, problems)


def _may_exist(scan_root: ScanRoot, path: str) -> bool:
    return (path == scan_root.root and discovery.may_exist(path)) or scan_root.files.may_exist(path)


@dataclass(slots=True, kw_only=True)
class Changes:
    """The differences between files and the index; files that need not be read are named by stored paths."""

    #: Files to read, each with the number of its scan root.
    read: list[tuple[int, FoundFile]] = field(default_factory=list)
    #: Number of these that were read before by the same version and have another time or size now: most have grown.
    grown: int = 0
    #: Number of files that are as the index knows them, including those present again.
    unchanged: int = 0
    #: Files that were missing and are present again, unchanged.
    returned: list[str] = field(default_factory=list)
    #: Files that are missing now, and the number of all missing files.
    gone: list[str] = field(default_factory=list)
    missing: int = 0
    #: Files that are in the index and that a pattern excludes now.
    excluded: list[str] = field(default_factory=list)
    #: Roots that do not exist; their files stay in the index.
    absent_roots: list[str] = field(default_factory=list)
    #: Files that a parser failed to check: path, name of the parser, the error.
    problems: list[tuple[str, str, Exception]] = field(default_factory=list)
    #: Directories and links that cannot be read, and name of the parser: the files in them are neither new nor missing.
    unlisted: list[tuple[str, str, Exception]] = field(default_factory=list)
    #: Files that no parser recognises although their name is that of a session, or they were named: by real path.
    strange: dict[str, ScanRoot] = field(default_factory=dict)

    @property
    def is_growth(self) -> bool:
        """Whether the only work is to read known files again that have another time."""
        return self.grown == len(self.read) and not (self.returned or self.gone or self.excluded or self.problems)


def detect(
    scan_roots: Sequence[ScanRoot],
    known: Mapping[str, KnownFile],
    stored_path: Callable[[str], str] | None = None,
    *,
    scan: Scan = _scan,
    exists: Callable[[ScanRoot, str], bool] = _may_exist,
    is_empty: Callable[[str], bool] = discovery.is_empty,
    growth_only: bool = False,
) -> Changes:
    """Return the changes.

    A known file belongs to the parser that read it, any other to the first scan root whose parser matches it.

    :param known: all files that the index knows of the scan roots' parsers, by stored path.
    :param stored_path: returns the stored path of a real path; None when they are the same.
    :param growth_only: stop as soon as `is_growth` is false; the result is then incomplete.
    """
    changes = Changes()
    claimed: set[str] = set()
    left_out: set[str] = set()
    unlisted: dict[str, Exception] = {}
    strange: dict[str, ScanRoot] = {}
    for number, scan_root in enumerate(scan_roots):
        is_wanted = _wanted(scan_root, known, stored_path, claimed, left_out, strange, changes.problems)
        expected = (scan_root.parser, scan_root.version, False)
        for part in scan_root.parts:
            for file in scan(scan_root, part, is_wanted, unlisted):
                path = stored_path(file.path) if stored_path else file.path
                claimed.add(path)
                then = known.get(path)
                # INV-004: the modification time decides whether a file is read, with the size: not every file system
                # changes the time with each write.
                if then == (file.mtime_ns, *expected, file.size):
                    changes.unchanged += 1
                    continue
                _add_found(changes, number, scan_root, file, path, then)
                if growth_only and not changes.is_growth:
                    return changes
        changes.unlisted += [(path, scan_root.parser, error) for path, error in unlisted.items()]
        unlisted.clear()
        if scan_root.parts and not exists(scan_root, scan_root.root):
            changes.absent_roots.append(scan_root.root)
    changes.excluded = sorted(left_out - claimed)
    lost = sorted(known.keys() - claimed - left_out)
    present = [scan_root for scan_root in scan_roots if scan_root.root not in changes.absent_roots]
    emptied = [scan_root for scan_root in present if _is_emptied(changes, scan_root, lost, known, is_empty)]
    for path in lost:
        if known[path][3] or not any(scan_root.expects(path, known[path][1]) for scan_root in emptied):
            _add_lost(changes, present, path, known[path], exists)
    settled = left_out | claimed
    for path, scan_root in strange.items():
        if (stored_path(path) if stored_path else path) not in settled:
            changes.strange[path] = scan_root
    return changes


def detect_notes(
    directory: Path,
    found: Mapping[str, int] | None,
    known: Mapping[str, KnownFile],
    stored_path: Callable[[str], str] | None = None,
    redaction: int = 0,
) -> Changes:
    """Return the changes in the metadata files.

    :param found: modification times of the directory's files, by path; None when it does not exist: then nothing has
        changed.
    :param known: the files that the index knows, by stored path.
    :param stored_path: as in `detect`.
    :param redaction: as `Source.redaction`.
    """
    if found is None:
        return Changes()
    from ..metadata.directory import VERSION

    root = os.fspath(directory)
    version = VERSION + redaction
    scan_root = ScanRoot(root=root, parts=(root,), parser=NOTES, version=version, matches=lambda _: True, has_all=True)
    there = {root, *(map(stored_path, found) if stored_path else found)}
    return detect(
        [scan_root],
        known,
        stored_path,
        scan=lambda _, __, is_wanted, ___: (
            FoundFile(path, time, 0) for path, time in found.items() if is_wanted(path)
        ),
        exists=lambda _, path: path in there,
        is_empty=lambda _: False,
    )


def _wanted(
    scan_root: ScanRoot,
    known: Mapping[str, KnownFile],
    stored_path: Callable[[str], str] | None,
    claimed: set[str],
    left_out: set[str],
    strange: dict[str, ScanRoot],
    problems: list[tuple[str, str, Exception]],
) -> Callable[[str], bool]:
    """Return a function that returns whether a file belongs to a scan root.

    :param claimed: stored paths that belong to an earlier scan root; collects those that no parser can check.
    :param strange: takes the real paths of files that may be sessions and that the parser does not recognise.
    :param left_out: takes the stored paths of known files that a pattern leaves out: only the real path tells.
    """

    def is_wanted(path: str) -> bool:
        stored = stored_path(path) if stored_path else path
        if stored in claimed:
            return False
        then = known.get(stored)
        if scan_root.exclude and scan_root.excludes(path):
            if then is not None and scan_root.expects(path, then[1]):
                left_out.add(stored)
            elif path in scan_root.parts:
                strange[path] = scan_root
            return False
        if then is not None:
            return then[1] == scan_root.parser
        try:
            if scan_root.matches(path):
                return discovery.is_storable(path)
            if is_suspect(path) or path in scan_root.parts:
                strange[path] = scan_root
            return False
        except FileNotFoundError:
            return False  # deleted since it was found, or a dangling link
        except Exception as error:  # noqa: BLE001 - one bad file, or one faulty plugin, must not lose the others
            problems.append((path, scan_root.parser, error))
            if isinstance(error, OSError):
                claimed.add(stored)  # no other parser could check it either
            return False

    return is_wanted


def _add_found(
    changes: Changes, number: int, scan_root: ScanRoot, file: FoundFile, path: str, then: KnownFile | None
) -> None:
    as_known = (file.mtime_ns, scan_root.parser, scan_root.version)
    # Not every file's size is known.
    if then is not None and then[:3] == as_known and (len(then) < 5 or then[4] == file.size):
        changes.unchanged += 1
        if then[3]:
            changes.returned.append(path)
        return
    changes.read.append((number, file))
    if then is not None and then[0] != UNREAD and then[2:4] == (scan_root.version, False):
        changes.grown += 1


def _add_lost(
    changes: Changes,
    scan_roots: Sequence[ScanRoot],
    path: str,
    then: KnownFile,
    exists: Callable[[ScanRoot, str], bool],
) -> None:
    """Add a file that the index knows and no scan_root has, if it is gone."""
    expecting = [scan_root for scan_root in scan_roots if scan_root.expects(path, then[1])]
    if expecting and not exists(expecting[0], path):
        changes.missing += 1
        if not then[3]:
            changes.gone.append(path)


def _is_emptied(
    changes: Changes,
    scan_root: ScanRoot,
    lost: Sequence[str],
    known: Mapping[str, KnownFile],
    is_empty: Callable[[str], bool],
) -> bool:
    """Return whether a root is empty that had several files, or directories, and note that.

    Agents and people delete sessions one by one, and leave directories; so it is rather a disk that is not mounted.
    """
    there = [path for path in lost if not known[path][3] and scan_root.expects(path, known[path][1])]
    if not there or (len(there) == 1 and os.path.dirname(there[0]) == scan_root.root) or not is_empty(scan_root.root):
        return False
    files = "the only file" if len(there) == 1 else f"all {len(there)} files"
    error = OSError(0, f"is empty, but the index knows {files} of it: is it not mounted?")
    changes.unlisted.append((scan_root.root, scan_root.parser, error))
    return True
