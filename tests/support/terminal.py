"""Programs on a terminal of their own, for tests that read what they show."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

#: What a program may ask of a terminal, and an answer.
QUESTIONS = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?62;c"}
_ESCAPE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]_P][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")
#: Seconds to wait for a screen.
PATIENCE = 60


def shows(command: Sequence[str], wanted: str, environment: Mapping[str, str]) -> bool:
    """Run a program on a terminal, and return whether it shows a text, in whatever cells."""
    screen, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, env=environment
    )
    os.close(theirs)
    shown, end = b"", time.monotonic() + PATIENCE
    try:
        while (left := end - time.monotonic()) > 0 and select.select([screen], [], [], left)[0]:
            try:
                piece = os.read(screen, 65_536)
            except OSError:
                return False  # it has ended
            shown += piece
            for question, answer in QUESTIONS.items():
                if question in piece:
                    os.write(screen, answer)
            if wanted.replace(" ", "").encode() in _ESCAPE.sub(b"", shown).replace(b" ", b""):
                return True
        return False
    finally:
        # What npm installs starts the program as a child.
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=PATIENCE)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            os.close(screen)


def end_programs_in(place: Path) -> None:
    """End the processes whose program is a file in a directory of the test (Linux)."""
    for process in Path("/proc").glob("[0-9]*"):
        # It may end meanwhile, or be another user's.
        with suppress(OSError):
            if (process / "exe").readlink().is_relative_to(place):
                os.kill(int(process.name), signal.SIGKILL)
