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
    """A value in a file that belongs to the agent; the rest of the file stays as it is written.

    The file is TOML if its name ends in `.toml`, else JSON.  Of an object, keys that the user has added stay.
    """

    path: Path
    #: The path of keys to the value, outermost first.
    keys: tuple[str, ...]
    value: Any
    #: The agent reads comments in its JSON, and commas after the last member.
    has_comments: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Integration:
    """Everything through which one agent learns of Sesame."""

    parts: tuple[OwnFile | Setting, ...]
    #: The extra of Sesame that its settings need, and a package whose presence shows that the extra is installed.
    #: Without it the files are written, and the settings are not.
    extra: tuple[str, str] | None = None
