"""Indexes session files as they change."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import LockedError, SesameError
from ..indexing.discovery import scan

if TYPE_CHECKING:
    from ..api.sesame import Sesame
    from ..rendering.schemas.reports import FailureEventJson, FileEventJson
    from ..types.report import IndexReport

#: Milliseconds in which changes of a file count as one.
DEBOUNCE_MS = 500
#: The same for whoever only wants to know that something changed.
NOTICE_MS = 100
#: How the system is asked for changes: it says at least every second that there are none.
ASKED: dict[str, Any] = {
    "rust_timeout": 1_000,
    "yield_on_timeout": True,
    "watch_filter": None,
    "ignore_permission_denied": True,
}
#: Seconds between two full scans, for roots that appeared and changes that were missed.
RESCAN_SECONDS = 300
#: Seconds between two attempts while another process is indexing.
RETRY_SECONDS = 2.0


def watch(
    sesame: Sesame, *, log: Callable[[str], None] = lambda _: None, rescan_seconds: float = RESCAN_SECONDS
) -> Iterator[FileEventJson | FailureEventJson]:
    """Index everything once, then each changed file; yield an event per changed file or failure, until stopped.

    An event is `{timestamp, path, added, updated, skipped, errors}` or `{timestamp, path, error}`; `updated` includes
    files that grew, and `skipped` counts records.

    :param log: called with progress messages.
    :raises SesameError: watching needs the extra `watch`.
    """
    try:
        import watchfiles
    except ModuleNotFoundError as error:
        from ..installation import adding

        raise SesameError(f"watching needs watchfiles, which is not installed: {adding('watch')}") from error
    while True:
        # Watching begins before the full pass, so that no change falls between the two.
        roots = sesame.roots()
        present = [root for root in roots if os.path.isdir(root)]
        for root in roots:
            log(f"watching {root}" if root in present else f"waiting for {root}")
        deadline = time.monotonic() + rescan_seconds
        changes = watchfiles.watch(*present, debounce=DEBOUNCE_MS, **ASKED) if present else _ticks()
        is_first = True
        for batch in changes:
            if is_first:
                yield from _index(sesame, [], log)
                is_first = False
            paths = sorted(
                {file for change, path in batch for file in _files(path, is_new=change is watchfiles.Change.added)}
            )
            if paths:
                yield from _index(sesame, paths, log)
            appeared = any(os.path.isdir(root) for root in roots if root not in present)
            if appeared or time.monotonic() >= deadline:
                break


def notices(sesame: Sesame, stop: threading.Event, *, seconds: float) -> Iterator[None]:
    """Yield at once, and then whenever files of the sources have changed, until stopped; index nothing.

    :param seconds: between two notices, without the extra `watch` and where the system cannot watch.
    """
    yield
    while not stop.is_set():
        roots = sesame.roots()
        present = [root for root in roots if os.path.isdir(root)]
        try:
            import watchfiles

            changes = watchfiles.watch(*present, debounce=NOTICE_MS, stop_event=stop, **ASKED)
            is_first = True
            for batch in changes if present else ():
                # The first may be of none: what changed before the system watched is noticed with it.
                if batch or is_first:
                    yield
                is_first = False
                if any(os.path.isdir(root) for root in roots if root not in present):
                    break
        except (ModuleNotFoundError, OSError):
            # A system watches only some directories at once; looking at all of them again finds the same changes.
            present = []
        if not present and not stop.wait(seconds):
            yield


def _ticks() -> Iterator[set[Any]]:
    """Yield an empty set once a second, while there is no directory to watch."""
    while True:
        yield set()
        time.sleep(1)


def _files(path: str, *, is_new: bool) -> Iterator[str]:
    """Yield a file that exists, or the files of a new directory, for which there was no notification."""
    if os.path.isfile(path):
        yield path
    elif is_new:
        yield from (found.path for found in scan(path, lambda _: True))


def _index(sesame: Sesame, paths: list[str], log: Callable[[str], None]) -> Iterator[FileEventJson | FailureEventJson]:
    for path in paths or [""]:
        try:
            report = _patiently(sesame, [Path(path)] if path else [], log)
        except SesameError as error:
            yield {"timestamp": _now(), "path": path or None, "error": str(error)}
            continue
        # Agents write other files, too; no one has named this one.
        errors = [error for error in report.errors if error not in report.unrecognised]
        if report.changed or errors:
            yield {
                "timestamp": _now(),
                "path": path or None,
                "added": report.added,
                "updated": report.updated + report.appended,
                "skipped": sum(report.skipped.values()),
                "errors": len(errors),
            }


def _patiently(sesame: Sesame, paths: list[Path], log: Callable[[str], None]) -> IndexReport:
    while True:
        try:
            return sesame.index(paths)
        except LockedError as error:
            log(f"{error}")
            time.sleep(RETRY_SECONDS)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
