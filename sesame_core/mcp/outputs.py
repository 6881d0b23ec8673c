"""The answer of each tool: the JSON of the command line with the positions to continue from.

Tools declare no output schemas.  One would oblige the server to send each answer twice, as text and as structured
content, and some clients pass both to the model; no client known shows the model a schema.
"""

from __future__ import annotations

from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from ..rendering.schemas.doc import Doc
from ..rendering.schemas.freshness import IndexJson
from ..rendering.schemas.generation import SessionAnswerJson
from ..rendering.schemas.sessions import (
    ListedSessionJson,
    ReadChunkJson,
    ResumeJson,
    SessionJson,
    SessionPageJson,
    VersionedJson,
)


class IndexedJson(TypedDict):
    """The freshness of the index, in each answer."""

    index: Annotated[IndexJson, Doc("How fresh the answer is.")]


class BoundedJson(TypedDict):
    """An answer of at most `max_bytes`."""

    shortened: NotRequired[
        Annotated[list[str], Doc("Fields cut to fit max_bytes; get_session with a larger one has them whole.")]
    ]


class SessionListJson(SessionPageJson, BoundedJson):
    """Answer of `list_sessions`."""

    nextOffset: Annotated[int | None, Doc("Where to continue; null at the end.")]
    currentSessions: Annotated[list[str], Doc("Ids of the sessions you are in, left out of this answer.")]
    sessions: list[ListedSessionJson]


class MessagesJson(VersionedJson, ListedSessionJson, IndexedJson, BoundedJson):
    """Answer of `list_messages`."""

    offset: int
    nextOffset: Annotated[int | None, Doc("Where to continue; null at the end.")]
    nextTextOffset: Annotated[int, Doc("text_offset to continue with; 0 where the next message begins.")]
    chunks: list[ReadChunkJson]


class SessionFactsJson(VersionedJson, SessionJson, IndexedJson, BoundedJson):
    """Answer of `get_session`."""

    summary: str | None
    prompts: Annotated[list[str], Doc("The first prompts.")]
    resumeCommand: Annotated[ResumeJson | None, Doc("The command that resumes it in its agent, if known.")]
    resumeProblem: Annotated[str | None, Doc("Why there is none.")]


class HistoryJson(IndexedJson, BoundedJson):
    """Answer of `ask_history`: the fields of the question's own command that say something, and where to continue."""

    about: str
    total: Annotated[int, Doc("Answers on all pages.")]
    nextOffset: Annotated[int | None, Doc("Where to continue; null at the end.")]
    sessionCount: NotRequired[Annotated[int, Doc("Sessions that have it, of those that were read.")]]
    searched: NotRequired[Annotated[int, Doc("Sessions of the index, if nothing was found.")]]
    occurrences: NotRequired[int]
    runs: NotRequired[int]
    lines: NotRequired[list[str]]
    truncated: NotRequired[bool]
    leftOut: NotRequired[dict[str, int]]
    withheld: NotRequired[int]
    hints: NotRequired[list[str]]
    currentSessions: NotRequired[list[str]]
    fixes: NotRequired[list[dict[str, object]]]
    ways: NotRequired[list[dict[str, object]]]
    sessions: NotRequired[Annotated[list[dict[str, object]], Doc("Sessions that wrote lines, with these lines.")]]
    unknown: NotRequired[Annotated[int, Doc("Lines that no session is known for.")]]
    noted: NotRequired[Annotated[int, Doc("Lines that git-ai's notes give to others.")]]
    people: NotRequired[list[dict[str, object]]]
    name: NotRequired[Annotated[str, Doc("The path that was searched for.")]]
    subject: NotRequired[Annotated[str, Doc("What it was taken for: file, directory or topic.")]]
    otherNames: NotRequired[list[str]]
    elsewhere: NotRequired[Annotated[bool, Doc("The sessions are of other repositories.")]]
    weak: NotRequired[bool]
    uncounted: NotRequired[int]
    changes: NotRequired[int]


class QueryAnswerJson(SessionAnswerJson, IndexedJson, BoundedJson):
    """Answer of `query_session`."""

    cutToBudget: Annotated[bool, Doc("Passages were left out: read on with list_messages, or raise max_bytes.")]
