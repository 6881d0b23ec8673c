"""Tells that nothing has changed since the last run, from the names and times of files alone.

Nearly every search finds that.  It is told here without a parser's reading half, a formatter, or the right to write;
whatever may call for a run is left to the indexer, whose rules decide what becomes of it.
"""

from __future__ import annotations

import os
import time

from . import metadata
from .discovery import belongs, is_below, scan
from .report import IndexReport, SourceReport
from .types import UNREAD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from .config import Source
    from .protocols import KnownFile, Parser


def report(
    sources: Sequence[tuple[Source, str, Parser]], known: Mapping[str, KnownFile], descriptions: Path
) -> IndexReport | None:
    """Return what a run of the indexer would report; None when it might change something.

    :param sources: with their real paths and parsers.
    :param known: what the index knows of files, by path.
    :param descriptions: directory of the files of metadata.
    """
    started = time.monotonic()
    if not metadata.is_unchanged(descriptions, known):
        return None
    report = IndexReport()
    seen: set[str] = set()
    for source, root, parser in sources:
        is_wanted = _Wanted(source, parser, known, seen)
        name, version = source.parser.name, source.reading_version(parser.version)
        for path, mtime_ns, _ in scan(root, is_wanted):
            if known.get(path) != (mtime_ns, name, version, False):
                return None
            seen.add(path)
            report.unchanged += 1
        report.sources.append(SourceReport(path=root, parser=name, changed=0, pending=0))
        if not os.path.exists(root):
            report.absent_roots.append(root)
            continue
        for path in known.keys() - seen:
            mtime_ns, of, _, was_missing = known[path]
            if of != name or not is_below(path, root):
                continue
            if os.path.exists(path):
                if source.exclude and mtime_ns != UNREAD:
                    return None
            elif was_missing:
                report.missing += 1
            else:
                return None
    report.seconds = time.monotonic() - started
    return report


class _Wanted:
    """Whether the indexer would look at a file for a source."""

    def __init__(self, source: Source, parser: Parser, known: Mapping[str, KnownFile], seen: set[str]) -> None:
        self._name, self._exclude = source.parser.name, source.exclude
        self._parser = parser
        self._known = known
        self._seen = seen

    def __call__(self, path: str) -> bool:
        if path in self._seen:
            return False
        known = self._known.get(path)
        return belongs(path, self._name, self._exclude, known[1] if known else None, self._matches)

    def _matches(self, path: str) -> bool:
        from pathlib import Path

        try:
            return self._parser.matches(Path(path))
        except FileNotFoundError:
            return False  # gone since it was found, or a link to nothing
        except Exception:  # noqa: BLE001 - the indexer will meet it again, and report it
            return True
