"""Sessions of the demo by their ids, a session of pi's, and `sesame` on a terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import termios
from collections.abc import Iterable
from pathlib import Path
from typing import Any

NIX = "01a0b03d-4300-7855-b6bd-70d8987fc91e"


SETTINGS = "d6bc0d35-ccec-43e4-a83f-b0efdb1ed801"


CLIENT = f"claude --resume {SETTINGS}"


def pi_session(path: Path, *texts: str, session_id: str = "0199cccc-0000-7000-8000-000000000001") -> Path:
    """Write a pi session in which a person says these texts."""
    records: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": session_id, "timestamp": "2026-05-01T10:00:00.000Z", "cwd": "/w/den"}
    ]
    for number, text in enumerate(texts):
        message = {"role": "user", "content": text}
        parent = f"{number - 1:08x}" if number else None
        records.append(
            {
                "type": "message",
                "id": f"{number:08x}",
                "parentId": parent,
                "timestamp": f"2026-05-01T10:{number:02}:00.000Z",
                "message": message,
            }
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def without_seconds(text: str) -> str:
    return re.sub(r"in \d+\.\d s", "in 0.0 s", text)


def on_a_terminal(arguments: Iterable[str], keys: bytes = b"", size: tuple[int, int] | None = None) -> tuple[int, str]:
    """Run `sesame` with a terminal as its three streams; return its exit code and what the terminal got.

    :param size: columns and rows of the terminal.
    """
    master, slave = pty.openpty()
    if size:
        termios.tcsetwinsize(slave, (size[1], size[0]))
    command = [sys.executable, "-m", "sesame_core", *arguments]
    # Its size, where it is given, is the terminal's and not that of a variable.
    env = {name: value for name, value in os.environ.items() if not (size and name in ("COLUMNS", "LINES"))}
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=env) as process:
        os.close(slave)
        os.write(master, keys)
        shown = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:  # Linux's way to say that the other end is closed
                break
            if not piece:
                break
            shown += piece
        code = process.wait(timeout=60)
    os.close(master)
    return code, shown.decode().replace("\r\n", "\n")
