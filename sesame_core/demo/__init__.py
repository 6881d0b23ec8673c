"""Ten made-up sessions for a first look.  No session of a real person is ever added here."""

from __future__ import annotations

from pathlib import Path


def sessions_dir() -> Path:
    """Return the folder with one sub-folder of sessions per parser: `pi` and `claude-code`."""
    return Path(__file__).parent / "sessions"
