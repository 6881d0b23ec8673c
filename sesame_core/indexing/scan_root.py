"""What is scanned for session files: a root of one source, with the rules for the files below it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ..dataclass import dataclass, replace
from .discovery import FILES, Files, is_below

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..config.model import Source
    from ..plugin.parser import Parser

#: Seconds in which a count opens files to see whether they are sessions; after that, their names tell.
OPENING_SECONDS = 0.3


def is_suspect(path: str) -> bool:
    """Return whether the name of a file is that of a session, or of a copy or an archive that a person made of one."""
    name = path[path.rfind(os.sep) + 1 :]
    if ".jsonl" not in name.lower():
        return False
    from .temporary import is_temporary  # a search mostly meets no such name

    return not is_temporary(name)


def files_of(parser: Parser) -> Files:
    """Return the session files of a parser."""
    # Not isinstance (`plugin.parser.Listing`), which loads `inspect` on Python 3.12.
    if not hasattr(parser, "containers"):
        return FILES
    from .listed import ListedFiles  # only for a parser that needs it

    return ListedFiles(parser)  # type: ignore[arg-type]


def _maybe(path: str) -> bool:
    return True


@dataclass(slots=True, kw_only=True)
class ScanRoot:
    """A file or directory that is scanned for files of one parser: the part of a source that `detect` needs."""

    #: Real path of a directory, or of one file.
    root: str
    #: The real paths to scan, below the root or the root itself; empty when nothing is to be scanned.
    parts: tuple[str, ...]
    #: Name of the parser.
    parser: str
    #: `Source.reading_version`.
    version: int
    exclude: tuple[str, ...] = ()
    #: Returns whether a file that the index does not know belongs to the parser; may raise anything.
    matches: Callable[[str], bool]
    #: Returns why a file that does not match is not a session, None if it cannot be one; None: by its first bytes.
    why_not: Callable[[str], str | None] | None = None
    #: Returns False when the path alone tells that a file does not belong to the parser.
    may_match: Callable[[str], bool] = _maybe
    #: Every known file of the parser is expected here, wherever it is.
    has_all: bool = False
    #: Where its files are looked for, and what was found of them in this scan.
    files: Files = FILES

    @classmethod
    def of(cls, source: Source, root: str, parser: Parser, within: Sequence[str] = ()) -> ScanRoot:
        """Return the scan root of a source.

        :param root: its real path.
        :param within: real paths to which the search is limited; empty: everything.
        """
        # `plugin.parser.Explaining` and `plugin.parser.Naming`, which a search does not load.
        explain: Callable[[Path], str | None] | None = getattr(parser, "why_not", None)
        by_name: Callable[[str], bool] | None = getattr(parser, "may_match", None)
        return cls(
            root=root,
            parts=_shared(within, root) if within else (root,),
            parser=source.parser.name,
            version=source.reading_version(parser.version),
            exclude=source.exclude,
            matches=lambda path: parser.matches(Path(path)),
            why_not=None if explain is None else lambda path: explain(Path(path)),
            may_match=_maybe if by_name is None else lambda path: by_name(os.path.basename(path)),
            files=files_of(parser),
        )

    def by_name(self, opening_until: float = 0.0) -> ScanRoot:
        """Return a scan root to which every file belongs that may, so that none is opened.

        :param opening_until: `time.monotonic()` until which files are opened all the same.
        """
        return replace(
            self, matches=lambda path: (self.matches if time.monotonic() < opening_until else self.may_match)(path)
        )

    def expects(self, path: str, parser: str) -> bool:
        """Return whether a file that the index knows would be found here if it existed."""
        return parser == self.parser and (self.has_all or any(is_below(path, part) for part in self.parts))

    def excludes(self, path: str) -> bool:
        """Return whether a pattern excludes a file."""
        from ..config.patterns import is_excluded

        return is_excluded(self.exclude, path, None)


def _shared(paths: Iterable[str], root: str) -> tuple[str, ...]:
    """Return the intersection of the trees below the paths with the tree below a root."""
    inside = [path for path in paths if is_below(path, root)]
    return (*inside, *[root for path in paths if path != root and is_below(root, path)][:1])
