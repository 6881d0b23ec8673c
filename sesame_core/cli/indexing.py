"""`sesame index`, `watch` and `demo`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import StoppedError
from .options import JSON, Argument, Command, Option
from .sharing import agree
from .stopping import STOPPED, stoppable, where
from .terminal import progress_bar, write, write_error, write_report

if TYPE_CHECKING:
    from ..api.sesame import Sesame
    from ..types.report import IndexReport

#: The demo's query for the sessions that come with Sesame, if none is given.
DEMO_QUERY = "nix infrastructure simplify"
#: Words of its query for a person's own sessions, and characters of a prompt from which they are chosen.
WORDS, PROMPT_CHARS = 3, 200


def index(paths: Sequence[Path], *, full: bool, yes: bool, json: bool) -> None:
    """Index new and changed session files; exit with 1 when a file failed, with 130 when it was stopped.

    :param paths: only these; all sources when empty.
    :param full: build a new index, and replace the present one with it.
    :param yes: send what the rules allow to an index that others read, without asking at the first time.
    """
    from ..api.sesame import Sesame
    from ..rendering.reports import report_json, report_text
    from ..rendering.text import as_json

    with Sesame() as sesame:
        agree(sesame, yes=yes)
        report = _run(sesame, paths, full=full)
    if json or not report.is_stopped:
        if json:
            write(as_json(report_json(report)))
        else:
            write_report(report_text(report))
    _end_if_stopped(report, shlex.join(["sesame", "index", *map(str, paths)]))
    # The directory of the variable is an offer, and need not exist [seed 004].
    offered = os.path.realpath(os.path.expanduser(os.environ.get("SESSIONS_DIR", "")))
    if report.errors or any(root != offered for root in report.absent_roots):
        raise SystemExit(1)


def watch() -> None:
    """Index session files as they change and print one JSON line per change, until Ctrl-C."""
    import json

    from ..api.sesame import Sesame
    from ..runtime.watcher import watch as changes

    with Sesame() as sesame:
        agree(sesame, yes=False)
        for event in changes(sesame, log=write_error):
            write(json.dumps(event, ensure_ascii=False))


def demo(query: Sequence[str]) -> None:
    """Index the sessions of this machine and show a search; if there are none, those that come with Sesame."""
    import tempfile

    from ..api.sesame import Sesame
    from ..config.model import Selection, Source
    from ..demo import sessions_dir
    from ..rendering.reports import report_text

    with Sesame() as own:
        agree(own, yes=False)
        write("Indexing your sessions …")
        report = _run(own, [])
        _end_if_stopped(report, "sesame demo")
        write_report(report_text(report))
        if own.status().sessions:
            of, chosen = ("", "") if query else _of_own(own)
            _show(own, query or chosen.split())
            if chosen:
                write(f"\nNext:\n  sesame search {chosen}\n  sesame show {of}\n  sesame resume {of}")
            return
    write("\nYou have no sessions yet.  These come with Sesame:")
    sources = [Source(parser=Selection(name=folder.name), path=folder) for folder in sorted(sessions_dir().iterdir())]
    with tempfile.TemporaryDirectory() as directory, Sesame(sources=sources, data_dir=directory) as sample:
        write_report(report_text(_run(sample, [])))
        _show(sample, query or DEMO_QUERY.split())


def _of_own(sesame: Sesame) -> tuple[str, str]:
    """Return the short id of a late session, and words of its first prompt that find it; "" without such a session."""
    import re

    sessions, _ = sesame.list_sessions()
    for stored in sessions:
        for prompt in stored.session.prompts:
            words = list(dict.fromkeys(re.findall(r"\b[^\W\d_]{4,20}\b", prompt[:PROMPT_CHARS].lower())))
            if len(words) >= WORDS:
                chosen = sorted(words, key=len, reverse=True)[:WORDS]
                return sesame.abbreviate(stored.session.id), " ".join(word for word in words if word in chosen)
    return "", ""


def _show(sesame: Sesame, words: Sequence[str]) -> None:
    from ..api.resuming import quoted
    from ..rendering.answers import shown_ids
    from .searching import write_answer

    dashes = ["--"] if any(word.startswith("-") for word in words) else []
    typed = (word if word.isalnum() else quoted(word) for word in words)
    write(" ".join(["\n$ sesame search", *dashes, *typed]))
    answer = sesame.search(" ".join(words), limit=5)
    write_answer(answer, sesame.abbreviations(shown_ids(answer)))


def _run(sesame: Sesame, paths: Sequence[Path], *, full: bool = False) -> IndexReport:
    """Index, with a progress bar on a terminal, until a signal stops it; exit when it stopped a full run."""
    with progress_bar() as show, stoppable() as is_stopped:
        try:
            return sesame.index(paths, full=full, on_progress=show, is_stopped=is_stopped)
        except StoppedError as stop:
            message = str(stop)
        except KeyboardInterrupt:
            message = "stopped; go on with: sesame index"
    write_error(message)
    raise SystemExit(STOPPED)


def _end_if_stopped(report: IndexReport, command: str) -> None:
    """Say where a run stopped, and exit.

    :param command: the command that continues.
    """
    if report.is_stopped:
        write_error(where(report, command))
        raise SystemExit(STOPPED)


COMMANDS = (
    Command(
        "index",
        index,
        "Index new and changed session files.  Exit code 1 when a file failed; all others are indexed.",
        (Argument("paths", "[PATH]...", "Only these files or directories.", kind=Path, is_repeatable=True),),
        (
            Option("full", bool, "Build a new index, and replace the present one with it.", default=False),
            Option("yes", bool, "Send to a shared index without asking at the first time.", default=False),
            JSON,
        ),
        examples=(
            "sesame index",
            "sesame index ~/backup/sessions",
        ),
    ),
    Command(
        "watch",
        watch,
        "Index session files as they change; print one JSON line per change.  Ends with Ctrl-C.",
        examples=("sesame watch",),
    ),
    Command(
        "demo",
        demo,
        "Index your sessions and show a search; if you have none, in sessions that come with Sesame.\n\n"
        "Those sessions get an index of their own that is deleted at the end.",
        (Argument("query", "[QUERY]...", "What to search for.", is_repeatable=True),),
        examples=(
            "sesame demo",
            "sesame demo flaky test",
        ),
    ),
)
