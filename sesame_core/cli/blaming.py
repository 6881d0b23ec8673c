"""`sesame blame`: which sessions wrote the lines of a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .options import JSON, REFRESH, Argument, Command, Option, limited, narrowing
from .terminal import narrowed, write, write_report


def blame(
    file: Path, *, exclude: Sequence[str], limit: int, trace: bool, json: bool, refresh: bool, **narrowing: Any
) -> None:
    """Print which sessions wrote the lines of a file, with what was asked for.

    :param file: `FILE`, `FILE:LINE` or `FILE:LINE-LINE`.
    :param limit: most sessions of the text.
    :param trace: print a record of Agent Trace.
    :param narrowing: values of `fields.FIELDS`.
    :raises QueryError: the file has no such lines, or two formats are given.
    :raises SesameError: there is no such file, or it is not text.
    """
    from ..errors import QueryError
    from ..rendering.blames import blame_json, blame_text, shown_ids
    from ..rendering.text import as_json

    if trace and json:
        raise QueryError("--trace and --json: an answer has one format")
    with narrowed(narrowing, exclude, refresh=refresh) as (sesame, filters, refreshed, _):
        found = sesame.blame(str(file), filters, limit=None if trace or json else limit)
        if trace:
            from .. import __version__
            from ..rendering.traces import trace_json

            write(as_json(trace_json(found, __version__)))
            return
        if json:
            write(as_json(blame_json(found, refreshed)))
            return
        short = sesame.abbreviations(shown_ids(found))
    write_report(blame_text(found, abbreviate=short.__getitem__, refreshed=refreshed))


COMMANDS = (
    Command(
        "blame",
        blame,
        "Find the sessions that wrote a file's lines, with what was asked for; by their edits, nothing to install.",
        (Argument("file", "FILE[:LINE[-LINE]]", "A file that exists, and lines of it.", Path, is_required=True),),
        (
            *narrowing("agent", "model", "after", "before", "workstation", "host", "owner", "exclude"),
            limited("Sessions at most.", 10),
            Option("trace", bool, "Print an Agent Trace 0.1.0 record.", default=False),
            JSON,
            REFRESH,
        ),
        examples=("sesame blame src/socket.ts:42", "sesame blame src/socket.ts --trace"),
    ),
)
