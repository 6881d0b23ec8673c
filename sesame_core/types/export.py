"""A session that leaves the index: as a file to read, or as a note for the agent that goes on with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dataclass import dataclass

if TYPE_CHECKING:
    from .index import Chunk, StoredSession


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One session of an export, whole."""

    stored: StoredSession
    chunks: tuple[Chunk, ...]
    #: Number of the part that started it, and the position there; None of the exported session itself, and where the
    #: index does not tell.
    parent: int | None = None
    started_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A session with its subagents."""

    #: The session itself, then its subagents in the order in which they started.
    parts: tuple[Part, ...]
    #: Secrets are replaced with placeholders.
    is_redacted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One entry of a handoff."""

    #: Position in the session.
    position: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Handoff:
    """What another agent must know to go on with a session: passages of it, within a bound."""

    stored: StoredSession
    #: What people asked for.
    asked: tuple[Point, ...] = ()
    #: The last that the agent said before each next prompt, and at the end.
    decided: tuple[Point, ...] = ()
    #: The files that it changed, each with the position of the last change.
    changed: tuple[Point, ...] = ()
    #: The commands that failed the last time that they ran, with the end of their output.
    failed: tuple[Point, ...] = ()
    #: Entries of the last list of tasks that are not done, marked lines, and a prompt without an answer.
    open: tuple[Point, ...] = ()
    #: Entries that did not fit.
    left_out: int = 0
    is_redacted: bool = True
