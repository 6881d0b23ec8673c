"""Where session files are looked for, and where others are."""

from __future__ import annotations

from ..dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """A directory or file in which a parser's session files are looked for."""

    parser: str
    path: str
    exists: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadRoot:
    """A directory or file of an agent whose sessions no installed parser reads."""

    #: Its name, for people.
    agent: str
    #: May contain a `*`: a part that has any name.
    path: str
