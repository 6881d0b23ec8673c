"""How an agent learns of Sesame: Sesame's own files, and settings in files of the agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFile:
    """A file that belongs to Sesame alone; its text contains `MARK`."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A value in a JSON file that belongs to the agent; the rest of the file stays unchanged."""

    path: Path
    #: The path of keys to the value, outermost first.
    keys: tuple[str, ...]
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Integration:
    """Everything through which one agent learns of Sesame."""

    parts: tuple[OwnFile | Setting, ...]
    #: The extra of Sesame that it needs, and a package whose presence shows that the extra is installed.
    extra: tuple[str, str] | None = None
