"""Answers to questions about the past of files: who wrote a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from ..dataclass import dataclass

if TYPE_CHECKING:
    from datetime import datetime

    from .index import Freshness, StoredSession

#: What says that a session wrote a line, the strongest first: a note of git-ai; an edit of this file; the same text in
#: an edit, with other line breaks; a shell command that wrote the file; a script that has the line and names the file;
#: an edit of another file; the lines around it, of a line that says nothing alone.
Evidence: TypeAlias = Literal["note", "edit", "reflowed", "command", "script", "elsewhere", "neighbours"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """A place in a session where a line was written."""

    stored: StoredSession
    #: Position of the call; None when only a note names the session.
    position: int | None
    at: datetime | None
    tool: str | None
    evidence: Evidence
    #: Ids of other sessions that contain the same call: forks and resumed copies.
    copies: tuple[str, ...] = ()
    #: The path that the call names, if it is another file than the one asked about.
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlamedRun:
    """Consecutive lines that one call wrote."""

    #: 1-based, inclusive.
    first: int
    last: int
    #: The call that wrote them, then others that did, the latest first; none for lines that no known session wrote.
    writers: tuple[Writer, ...] = ()
    #: Who wrote them according to git-ai, when that is a person, or a session that the index does not have.
    noted: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlamedSession:
    """A session that wrote some of the lines."""

    stored: StoredSession
    #: Lines that it wrote.
    lines: int
    #: The call that wrote most of them.
    writer: Writer
    #: The last prompt before that, and its position; "" and None without one.
    asked: str = ""
    asked_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Blame:
    """Which sessions wrote the lines of a file."""

    #: The file: absolute, and relative to its repository; its lines, and the text of those asked about.
    path: str
    name: str
    line_count: int
    first: int
    last: int
    text: tuple[str, ...]
    runs: tuple[BlamedRun, ...]
    #: By the number of lines, most first: those of a page, if one was asked for.
    sessions: tuple[BlamedSession, ...]
    #: Number of all sessions, and of those before the page.
    total: int
    offset: int = 0
    #: Lines that sessions wrote, all of them.
    known: int
    #: Lines that no known session wrote; blank lines do not count.
    unknown: int
    #: Former names of the file, the latest first.
    former: tuple[str, ...] = ()
    #: Commit that is checked out, "" outside of git.
    revision: str = ""
    #: Edits of this file that the index has, of any line.
    edits: int = 0
    #: Something was left out: older calls, of too many with the file's name, or lines, of too many that no edit has.
    is_truncated: bool = False
    #: Sessions in this repository of which others see no text.
    withheld: int = 0
    #: Lines that git-ai attributes to others: people, and sessions that the index does not have.
    noted: int = 0
    freshness: Freshness | None = None
