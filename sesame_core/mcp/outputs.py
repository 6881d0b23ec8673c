"""The answer of each tool: the JSON of the command line with the positions to continue from, and its schemas.

A schema names the fields that help an agent.  Other fields may be added at any time, as in the command line's JSON.
"""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypeAlias

from pydantic import TypeAdapter
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

Schema: TypeAlias = dict[str, Any]


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


class QueryAnswerJson(SessionAnswerJson, IndexedJson, BoundedJson):
    """Answer of `query_session`."""

    cutToBudget: Annotated[bool, Doc("Passages were left out: read on with list_messages, or raise max_bytes.")]


_OF_A_SESSION = {"directories", "exchangeCount", "toolCounts", "key", "workstation", "host", "owner"}
#: Fields that a schema leaves out, by type: each costs every client tokens, and no agent needs them to continue.
UNLISTED = {
    "SessionJson": _OF_A_SESSION,
    "ResultJson": _OF_A_SESSION | {"passages", "explain"},
    "SessionFactsJson": _OF_A_SESSION - {"toolCounts"},
    "AnswerJson": {"scanned", "chunkTotal", "explain"},
    "IndexJson": {"changed", "errors", "sources"},
    "AttemptJson": {"seconds", "cost"},
}


def schema_of(answer: type[Any]) -> Schema:
    """Return the JSON schema of an answer without references: not every client resolves a `$ref`.

    :param answer: a `TypedDict`.
    """
    schema = TypeAdapter(answer).json_schema(mode="serialization")
    tidied: Schema = _tidied(schema, schema.pop("$defs", {}))
    return tidied


def _tidied(schema: Any, definitions: Schema) -> Any:
    """Return a schema without references, titles, classes' docstrings and unlisted fields."""
    if isinstance(schema, list):
        return [_tidied(part, definitions) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        about = {key: value for key, value in schema.items() if key != "$ref"}
        return {**_tidied(definitions[name], definitions), **about}
    if "properties" not in schema:
        return {key: _tidied(value, definitions) for key, value in schema.items() if key != "title"}
    unlisted = UNLISTED.get(schema["title"], set())
    properties = {name: field for name, field in schema["properties"].items() if name not in unlisted}
    return {
        "type": "object",
        "properties": {name: _tidied(field, definitions) for name, field in properties.items()},
        "required": [name for name in schema["required"] if name in properties],
    }
