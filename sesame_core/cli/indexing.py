"""`sesame index`, `watch` and `demo`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..api.sesame import Sesame
    from ..types.report import IndexReport, Progress

#: What the demo looks for in the sessions that come with Sesame when nobody says.
DEMO_QUERY = "nix infrastructure simplify"

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def add_to(app: typer.Typer) -> None:
    """Add these commands to the application."""
    for command in (index, watch, demo):
        app.command()(command)


def index(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="[PATH]...", help="Only these files or directories.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Build a new index beside the present one.")] = False,
    json: Json = False,
) -> None:
    """Index new and changed session files.  Exit code 1 when a file failed; all others are indexed."""
    from ..api.sesame import Sesame
    from ..rendering.reports import report_json, report_text
    from ..rendering.text import as_json

    with Sesame() as sesame:
        report = _run(sesame, paths or [], full=full)
    typer.echo(as_json(report_json(report)) if json else report_text(report))
    if report.errors:
        sys.exit(1)


def watch() -> None:
    """Index session files as they change; print one JSON line per change.  Ends with Ctrl-C."""
    import json

    from ..api.sesame import Sesame
    from ..runtime.watcher import watch as changes

    with Sesame() as sesame:
        for event in changes(sesame, log=lambda text: typer.echo(text, err=True)):
            typer.echo(json.dumps(event, ensure_ascii=False))
            sys.stdout.flush()


def demo(
    query: Annotated[list[str] | None, typer.Argument(metavar="[QUERY]...", help="What to look for.")] = None,
) -> None:
    """Index your sessions and show a search; without any, on sessions that come with Sesame.

    The demo sessions go into an index of their own that is deleted at the end.
    """
    import tempfile

    from ..api.sesame import Sesame
    from ..config.model import Selection, Source
    from ..demo import sessions_dir
    from ..rendering.reports import report_text

    with Sesame() as own:
        typer.echo("Indexing your sessions …")
        report = _run(own, [])
        typer.echo(report_text(report))
        if own.status().sessions:
            _show(own, " ".join(query or ()))
            return
    typer.echo("\nYou have no sessions yet.  These come with Sesame:")
    sources = [Source(parser=Selection(name=folder.name), path=folder) for folder in sorted(sessions_dir().iterdir())]
    with tempfile.TemporaryDirectory() as directory, Sesame(sources=sources, data_dir=directory) as sample:
        typer.echo(report_text(_run(sample, [])))
        _show(sample, " ".join(query or ()) or DEMO_QUERY)


def _show(sesame: Sesame, query: str) -> None:
    from ..rendering.answers import answer_text

    typer.echo(f"\n$ sesame search {query}".rstrip())
    answer = sesame.search(query, limit=5)
    typer.echo(answer_text(answer, abbreviate=sesame.abbreviate, is_terminal=sys.stdout.isatty()))


def _run(sesame: Sesame, paths: list[Path], *, full: bool = False) -> IndexReport:
    """Index, with a progress bar when a person is watching."""
    if not sys.stderr.isatty():
        return sesame.index(paths, full=full)
    bar = _Bar()
    try:
        return sesame.index(paths, full=full, on_progress=bar.show)
    finally:
        bar.clear()


class _Bar:
    """One line on the terminal: files, megabytes, chunks per second, time left."""

    #: Seconds between two drawings.
    INTERVAL = 0.1

    def __init__(self) -> None:
        self._started = self._drawn = time.monotonic()

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._drawn < self.INTERVAL:
            return
        self._drawn = now
        elapsed = now - self._started
        share = progress.bytes_done / progress.bytes_total if progress.bytes_total else 1.0
        left = elapsed * (1 - share) / share if share else 0.0
        filled = round(20 * share)
        sys.stderr.write(
            f"\r\x1b[K[{'#' * filled}{'.' * (20 - filled)}] {progress.files_done}/{progress.files_total} files  "
            f"{progress.bytes_done / 1e6:.0f}/{progress.bytes_total / 1e6:.0f} MB  "
            f"{progress.chunks / elapsed:.0f} chunks/s  {left:.0f} s left"
        )
        sys.stderr.flush()

    def clear(self) -> None:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
