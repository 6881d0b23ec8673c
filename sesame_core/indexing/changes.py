"""What has changed in the session files: one rule, for the refresh before a search and for a run of the indexer.

`detect` compares files with what the index knows of them by names and times alone.  It reads no session, writes
nothing, and meets the disk only through the functions that it is given.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..dataclass import dataclass, field
from ..types.index import NOTES, UNREAD
from . import discovery
from .discovery import FoundFile, is_below

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeAlias

    from ..config.model import Source
    from ..plugin.parser import Parser
    from ..types.index import KnownFile

    #: Finds the files below a real path that are wanted, as `discovery.scan` does.
    Scan: TypeAlias = Callable[[str, Callable[[str], bool]], Iterable[FoundFile]]


@dataclass(slots=True, kw_only=True)
class Place:
    """Where files of one parser are looked for: a source, as far as its changes go."""

    #: Real path of a directory, or of one file.
    root: str
    #: Real paths below the root, or the root itself, that are looked through; none when nothing of it is.
    parts: tuple[str, ...]
    #: Name of the parser.
    parser: str
    #: `Source.reading_version`.
    version: int
    exclude: tuple[str, ...] = ()
    #: Tells whether a file that the index does not know is the parser's; may raise anything.
    matches: Callable[[str], bool]
    #: Every known file of the parser is expected here, those that lie elsewhere, too.
    has_all: bool = False

    @classmethod
    def of(cls, source: Source, root: str, parser: Parser, within: Sequence[str] = ()) -> Place:
        """Return the place of a source.

        :param root: its real path.
        :param within: real paths to which the search is limited; empty: everything.
        """
        return cls(
            root=root,
            parts=_shared(within, root) if within else (root,),
            parser=source.parser.name,
            version=source.reading_version(parser.version),
            exclude=source.exclude,
            matches=lambda path: parser.matches(Path(path)),
        )

    def expects(self, path: str, parser: str) -> bool:
        """Tell whether a file that the index knows would be found here if it were there."""
        return parser == self.parser and (self.has_all or any(is_below(path, part) for part in self.parts))

    def excludes(self, path: str) -> bool:
        """Tell whether a pattern leaves a file out."""
        from ..config.patterns import is_excluded

        return is_excluded(self.exclude, path, None)


@dataclass(slots=True, kw_only=True)
class Changes:
    """How files differ from what the index knows of them; those that need not be read are named by stored paths."""

    #: Files to read, each with the number of the place that has it.
    read: list[tuple[int, FoundFile]] = field(default_factory=list)
    #: How many of these were read before by the same version and have another time now: most have grown.
    grown: int = 0
    #: Files that are as the index knows them, those that are back included.
    unchanged: int = 0
    #: Files that were gone and are back as they were.
    returned: list[str] = field(default_factory=list)
    #: Files that are gone now, and how many are gone in all.
    gone: list[str] = field(default_factory=list)
    missing: int = 0
    #: Files that are in the index and that a pattern leaves out now.
    excluded: list[str] = field(default_factory=list)
    #: Roots that do not exist; what the index knows of their files stays.
    absent_roots: list[str] = field(default_factory=list)
    #: Files about which a parser could not be asked: path, name of the parser, why.
    problems: list[tuple[str, str, Exception]] = field(default_factory=list)

    @property
    def is_growth(self) -> bool:
        """Whether there is nothing to do but to read files again that have another time."""
        return self.grown == len(self.read) and not (self.returned or self.gone or self.excluded or self.problems)


def detect(
    places: Sequence[Place],
    known: Mapping[str, KnownFile],
    stored_path: Callable[[str], str] | None = None,
    *,
    scan: Scan = discovery.scan,
    exists: Callable[[str], bool] = os.path.exists,
    growth_only: bool = False,
) -> Changes:
    """Return what has changed.

    A file belongs to the parser by which the index knows it, else to the first place whose parser matches it.

    :param known: what the index knows, by stored path: all that it knows of the places' parsers.
    :param stored_path: returns the stored path of a real one; None: they are the same.
    :param growth_only: stop as soon as `is_growth` is false; the result is then incomplete.
    """
    changes = Changes()
    claimed: set[str] = set()
    left_out: set[str] = set()
    for number, place in enumerate(places):
        is_wanted = _wanted(place, known, stored_path, claimed, left_out, changes.problems)
        expected = (place.parser, place.version, False)
        for part in place.parts:
            for file in scan(part, is_wanted):
                path = stored_path(file.path) if stored_path else file.path
                claimed.add(path)
                then = known.get(path)
                # INV-004: the modification time decides whether a file is read.
                if then == (file.mtime_ns, *expected):
                    changes.unchanged += 1
                    continue
                _add_found(changes, number, place, file, path, then)
                if growth_only and not changes.is_growth:
                    return changes
        if place.parts and not exists(place.root):
            changes.absent_roots.append(place.root)
    changes.excluded = sorted(left_out - claimed)
    present = [place for place in places if place.root not in changes.absent_roots]
    for path in sorted(known.keys() - claimed - left_out):
        _add_lost(changes, present, path, known[path], exists)
    return changes


def detect_notes(
    directory: Path,
    found: Mapping[str, int] | None,
    known: Mapping[str, KnownFile],
    stored_path: Callable[[str], str] | None = None,
) -> Changes:
    """Return what has changed in the files of metadata.

    :param found: modification times of the directory's files, by path; None when it does not exist: then nothing has
        changed.
    :param known: what the index knows, by stored path.
    :param stored_path: as `detect` takes it.
    """
    if found is None:
        return Changes()
    from ..metadata.directory import VERSION

    root = os.fspath(directory)
    place = Place(root=root, parts=(root,), parser=NOTES, version=VERSION, matches=lambda _: True, has_all=True)
    there = {root, *(map(stored_path, found) if stored_path else found)}
    return detect(
        [place],
        known,
        stored_path,
        scan=lambda _, is_wanted: (FoundFile(path, time, 0) for path, time in found.items() if is_wanted(path)),
        exists=there.__contains__,
    )


def _wanted(
    place: Place,
    known: Mapping[str, KnownFile],
    stored_path: Callable[[str], str] | None,
    claimed: set[str],
    left_out: set[str],
    problems: list[tuple[str, str, Exception]],
) -> Callable[[str], bool]:
    """Return what tells whether a file belongs to a place.

    :param claimed: stored paths that belong to an earlier place; takes those that no parser can look at.
    :param left_out: takes the stored paths of known files that a pattern leaves out: only the real path tells.
    """

    def is_wanted(path: str) -> bool:
        stored = stored_path(path) if stored_path else path
        if stored in claimed:
            return False
        then = known.get(stored)
        if place.exclude and place.excludes(path):
            if then is not None and place.expects(path, then[1]):
                left_out.add(stored)
            return False
        if then is not None:
            return then[1] == place.parser
        try:
            return place.matches(path) and _is_storable(path)
        except FileNotFoundError:
            return False  # gone since it was found, or a link to nothing
        except Exception as error:  # noqa: BLE001 - one odd file, or one faulty plugin, must not lose the others
            problems.append((path, place.parser, error))
            if isinstance(error, OSError):
                claimed.add(stored)  # no other parser could look at it either
            return False

    return is_wanted


def _add_found(changes: Changes, number: int, place: Place, file: FoundFile, path: str, then: KnownFile | None) -> None:
    if then is not None and then[:3] == (file.mtime_ns, place.parser, place.version):
        changes.unchanged += 1
        changes.returned.append(path)
        return
    changes.read.append((number, file))
    if then is not None and then[0] != UNREAD and then[2:] == (place.version, False):
        changes.grown += 1


def _add_lost(
    changes: Changes, places: Sequence[Place], path: str, then: KnownFile, exists: Callable[[str], bool]
) -> None:
    """Add a file that the index knows and no place has, if it is gone."""
    if any(place.expects(path, then[1]) for place in places) and not exists(path):
        changes.missing += 1
        if not then[3]:
            changes.gone.append(path)


def _is_storable(path: str) -> bool:
    """Return True.

    :raises OSError: no database takes a file's name.
    """
    try:
        path.encode()
    except UnicodeEncodeError:
        import errno

        raise OSError(errno.EILSEQ, "its name, or a directory's above it, is not UTF-8") from None
    return True


def _shared(paths: Iterable[str], root: str) -> tuple[str, ...]:
    """Return what the trees below the paths have in common with the tree below a root."""
    inside = [path for path in paths if is_below(path, root)]
    return (*inside, *[root for path in paths if path != root and is_below(root, path)][:1])
