"""A few made-up sessions that ship with Sesame, for a first look when there are no sessions yet."""

from __future__ import annotations

from pathlib import Path


def sessions_dir() -> Path:
    """Return the folder with one sub-folder of sessions per parser: `pi` and `claude-code`."""
    return Path(__file__).parent / "sessions"
