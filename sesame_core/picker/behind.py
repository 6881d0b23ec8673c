"""Indexing behind the picker, by a process of its own: in a thread it would slow each keystroke down."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from ..types.report import FileProblem, IndexReport

#: Seconds that the process may take to end after what it has read.
END_SECONDS = 2.0
_MAIN = (
    "import sys; sys.path[:] = {path!r}; sys.argv[1:] = ['index', '--json']; from sesame_core.cli import main; main()"
)


class Behind:
    """A run over all sources.

    :param wake: called when it has ended.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._process: subprocess.Popen[bytes] | None = None
        #: What it reported, at its end.
        self.report: IndexReport | None = None

    def start(self) -> None:
        """Start the run; that it cannot be started is in the report."""
        # Ctrl-C of the terminal is the picker's; and nothing is imported from the directory that it was started in.
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _MAIN.format(path=[path for path in sys.path if path])],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                process_group=0,
            )
        except OSError as error:
            self.report = IndexReport(reason=f"it cannot be started: {error.strerror or error}")
            return
        threading.Thread(target=self._wait, args=(self._process,), name="sesame-behind", daemon=True).start()

    @property
    def is_running(self) -> bool:
        """Whether files are being indexed."""
        return self._process is not None and self.report is None

    def stop(self) -> None:
        """End it; what it has read is kept."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        out, told = process.communicate()
        self.report = _report(out, told.decode("utf-8", "replace"))
        self._wake()


def _report(out: bytes, told: str) -> IndexReport:
    """Return the report of a run from what it has printed."""
    try:
        value = json.loads(out)
    except ValueError:
        last = (told.strip().splitlines() or ["it ended without a report"])[-1]
        return IndexReport(reason=last.removeprefix("sesame: "))
    report = IndexReport(unchanged=value["unchanged"], missing=value["missing"], pending=value["pending"])
    report.added, report.updated, report.appended = value["added"], value["updated"], value["appended"]
    report.errors = [_problem(each) for each in value["errors"]]
    report.unrecognised = [_problem(each) for each in value["unrecognised"]]
    report.absent_roots = value["absentRoots"]
    return report


def _problem(value: dict[str, Any]) -> FileProblem:
    return FileProblem(path=value["path"], message=value["message"], line=value["line"])
