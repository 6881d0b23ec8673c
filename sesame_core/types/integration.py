"""What tells an agent of Sesame: files of Sesame's own, and settings in files of the agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFile:
    """A file that is Sesame's alone; its text holds `MARK`."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A value in a JSON file that belongs to the agent; everything else in the file stays."""

    path: Path
    #: The keys of the objects that lead to it, outermost first, and its own.
    keys: tuple[str, ...]
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Integration:
    """All that tells one agent of Sesame."""

    parts: tuple[OwnFile | Setting, ...]
    #: An extra of Sesame that it needs, and the package by which to tell whether that is installed.
    extra: tuple[str, str] | None = None
