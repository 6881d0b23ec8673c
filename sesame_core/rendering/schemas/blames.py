"""Which sessions wrote the lines of a file."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypedDict

from .doc import Doc
from .freshness import IndexJson
from .sessions import SessionJson, VersionedJson


class WriterJson(TypedDict):
    """A call that wrote lines."""

    sessionId: Annotated[str, Doc("The argument session of the other tools.")]
    position: Annotated[
        int | None, Doc("Of the call: read it with list_messages; null if only a note names the session.")
    ]
    at: str | None
    tool: str | None
    evidence: Annotated[
        str, Doc("note, edit, reflowed, command, script, elsewhere or neighbours; the strongest first.")
    ]
    path: Annotated[str | None, Doc("The file that it changed, if that is another one.")]
    copies: Annotated[list[str], Doc("Ids of forks and copies with the same call.")]


class BlamedRunJson(TypedDict):
    """Consecutive lines that one call wrote."""

    first: int
    last: int
    writers: Annotated[
        list[WriterJson], Doc("The call that wrote them, then others with the same text; none is known if empty.")
    ]
    noted: Annotated[str | None, Doc("Who wrote them according to git-ai, if the index does not have it.")]


class BlamedSessionJson(SessionJson):
    """A session that wrote some of the lines."""

    lines: Annotated[int, Doc("Number of lines.")]
    position: Annotated[int | None, Doc("Of the call that wrote most of them.")]
    at: str | None
    askedPosition: Annotated[int | None, Doc("Of the prompt before it.")]
    asked: Annotated[str | None, Doc("The beginning of that prompt.")]


class BlameJson(VersionedJson):
    """Which sessions wrote the lines of a file: `sesame blame`."""

    file: str
    name: Annotated[str, Doc("Its path in the repository.")]
    formerNames: list[str]
    revision: Annotated[str | None, Doc("The commit that is checked out.")]
    first: int
    last: int
    lineCount: Annotated[int, Doc("Lines of the whole file.")]
    unknown: Annotated[int, Doc("Lines that no known session wrote, without blank ones.")]
    noted: Annotated[int, Doc("Lines that git-ai attributes to people, and to sessions that are not in the index.")]
    edits: Annotated[int, Doc("Changes of this file that are known, of any line.")]
    truncated: Annotated[bool, Doc("Too much to compare: something was left out.")]
    withheld: Annotated[int, Doc("Sessions of this repository whose texts are not visible.")]
    hints: list[str]
    index: Annotated[IndexJson, Doc("How fresh the answer is.")]
    runs: list[BlamedRunJson]
    sessions: Annotated[list[BlamedSessionJson], Doc("Those with most lines first.")]


class BriefBlamedJson(TypedDict):
    """A session that wrote some of the lines, as agents get it."""

    session: Annotated[str, Doc("The argument session of the other tools.")]
    title: str
    agent: str
    owner: str | None
    at: Annotated[int | None, Doc("Position of the call that wrote most of them: read it with list_messages.")]
    when: str | None
    tool: str | None
    evidence: Annotated[str, Doc("note, edit, reflowed, command, script, elsewhere or neighbours: less and less.")]
    lines: Annotated[str, Doc("Which lines.")]
    count: Annotated[int, Doc("How many.")]
    askedAt: Annotated[int | None, Doc("Position of the prompt before it.")]
    asked: Annotated[str | None, Doc("The beginning of that prompt.")]


class BlameAnswerJson(VersionedJson):
    """Which sessions wrote the lines of a file, as agents get it."""

    about: str
    total: Annotated[int, Doc("Sessions on all pages.")]
    unknown: Annotated[int, Doc("Lines that no known session wrote, without blank ones.")]
    noted: Annotated[int, Doc("Lines that git-ai attributes to people, and to sessions that are not in the index.")]
    withheld: Annotated[int, Doc("Sessions of this repository whose texts are not visible.")]
    truncated: Annotated[bool, Doc("Too much to compare: something was left out.")]
    hints: list[str]
    currentSessions: list[str]
    index: IndexJson
    sessions: list[BriefBlamedJson]
