"""Fourteen made-up sessions for a first look, in the formats of their agents.

No session of a real person is ever added here.
"""

from __future__ import annotations

from pathlib import Path


def sessions_dir() -> Path:
    """Return the folder with one sub-folder of sessions per parser, by its name."""
    return Path(__file__).parent / "sessions"
