"""The input of each tool: types, bounds, and the descriptions that agents read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.json_schema import SkipJsonSchema

from ..query import fields as query
from ..rendering import brief
from .asking import ASKED, QUESTIONS
from .bounds import ANSWER_BYTES, LEAST_BYTES, MOST_BYTES

#: Most sessions and messages of one page.
MOST_SESSIONS = 100
MOST_MESSAGES = 200
#: Most answers from the history of one page.
MOST_ANSWERS = 20

# Agents may send null for an omitted argument; the schema need not say so in every line.
_Text = str | SkipJsonSchema[None]
# One string stands for a list of it.
_Texts = list[str] | str | SkipJsonSchema[None]


def _optional(description: str) -> Any:
    return Field(default=None, description=description)


_MaxBytes = Annotated[
    int,
    Field(
        ge=1,
        le=MOST_BYTES,
        description=f"Bytes of the answer at most; {LEAST_BYTES:,} at least whatever is asked for.",
    ),
]
_Session = Annotated[
    str, Field(min_length=1, description="A session's id or its beginning, its name or words of that, or latest.")
]


class _Input(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra=lambda schema: _tidy(schema))


def _with(base: type[BaseModel], fields: Iterable[query.Field]) -> type[BaseModel]:
    """Return a model with the fields of another one, and the given fields of a query that the tools take."""
    made: dict[str, Any] = {}
    for field in fields:
        if not field.for_agents:
            continue
        if field.is_switch:
            made[field.name] = Annotated[bool, Field(description=field.for_agents)], False
        else:
            kind = _Texts if field.is_repeatable else _Text
            made[field.name] = Annotated[kind, _optional(field.for_agents)], None
    return create_model(base.__name__, __base__=base, **made)


# A type checker cannot see the fields of a base that is made from the table.
class Filtered(_with(_Input, (f for f in query.FIELDS if not f.is_of_passages))):  # type: ignore[misc]
    """The filters of every tool that searches or lists sessions."""

    current_session: Annotated[
        _Text,
        _optional(
            "Id of the session you are in: it is left out, unless include_current. Known from the environment if "
            "the agent sets it."
        ),
    ]
    include_current: Annotated[bool, Field(description="Do not leave out the session you are in.")] = False


class _Asked(Filtered):
    """A query, and the windows around its results."""

    query: Annotated[
        str,
        Field(
            description="What it was about: a few distinctive words (identifiers, file names, error texts), any of "
            'which may match; a command or a message as it is. Also: "a phrase", +required, -excluded, AND, OR, NOT, '
            "( ), prefix*. Empty: the newest."
        ),
    ]
    context_before: Annotated[
        int, Field(ge=0, description="Items before the first passage of each session; a window has 16 items at most.")
    ] = brief.ITEMS
    context_after: Annotated[int, Field(ge=0, description="Items after it.")] = brief.ITEMS


class SearchSessions(_with(_Asked, (f for f in query.FIELDS if f.is_of_passages))):  # type: ignore[misc]
    """Input of `search_sessions`."""

    limit: Annotated[int, Field(ge=1, description="Sessions at most; 20 at most whatever is asked for.")] = (
        brief.RESULTS
    )
    offset: Annotated[int, Field(ge=0, description="Sessions to skip: the next page.")] = 0
    hits: Annotated[int, Field(ge=1, le=20, description="Passages of each session at most.")] = brief.PASSAGES
    max_bytes: Annotated[
        int, Field(ge=0, description="Bytes of the answer at most: windows shrink first, then passages, then results.")
    ] = brief.BYTES


class ListSessions(Filtered):
    """Input of `list_sessions`."""

    limit: Annotated[int, Field(ge=1, description=f"Sessions at most; {MOST_SESSIONS} at most.")] = 15
    offset: Annotated[int, Field(ge=0, description="Sessions to skip: nextOffset of the page before.")] = 0
    max_bytes: _MaxBytes = ANSWER_BYTES


class ListMessages(_Input):
    """Input of `list_messages`."""

    session: _Session
    offset: Annotated[int, Field(ge=0, description="First position; at of a passage is one.")] = 0
    limit: Annotated[int, Field(ge=1, description=f"Messages at most; {MOST_MESSAGES} at most.")] = 50
    max_bytes: _MaxBytes = ANSWER_BYTES
    text_offset: Annotated[
        int, Field(ge=0, description="Characters of the first message to skip: its nextTextOffset.")
    ] = 0


class GetSession(_Input):
    """Input of `get_session`."""

    session: _Session
    max_bytes: _MaxBytes = ANSWER_BYTES


class QuerySession(_Input):
    """Input of `query_session`."""

    session: _Session
    question: Annotated[str, Field(min_length=1, description="What to ask; name the things it is about.")]
    max_bytes: _MaxBytes = ANSWER_BYTES


class AskHistory(_with(_Input, (f for f in query.FIELDS if f.name in ASKED))):  # type: ignore[misc]
    """Input of `ask_history`."""

    question: Annotated[
        str,
        Field(description="What to ask.", json_schema_extra={"enum": [*QUESTIONS]}),
    ]
    about: Annotated[
        str,
        Field(
            min_length=1,
            description="What it is about: "
            + "; ".join(f"{name}: {one.about}" for name, one in QUESTIONS.items())
            + ".",
        ),
    ]
    current_session: Annotated[_Text, _optional("Id of the session you are in: it is left out.")]
    include_current: Annotated[bool, Field(description="Do not leave out the session you are in.")] = False
    limit: Annotated[int, Field(ge=1, description=f"Answers at most; {MOST_ANSWERS} at most.")] = 3
    offset: Annotated[int, Field(ge=0, description="Answers to skip: nextOffset of the page before.")] = 0
    max_bytes: _MaxBytes = ANSWER_BYTES


def several(value: list[str] | str | None) -> list[str]:
    """Return the strings of an argument that is a list or a single one."""
    return [value] if isinstance(value, str) else value or []


def _tidy(schema: dict[str, Any]) -> None:
    """Put required fields first, and drop titles that repeat a name: every client pays for a schema's tokens."""
    schema.pop("title", None)
    schema.pop("description", None)
    fields, required = schema["properties"], schema.get("required", [])
    schema["properties"] = {name: fields[name] for name in [*required, *(n for n in fields if n not in required)]}
    for field in fields.values():
        field.pop("title", None)
        if field.get("default", True) is None:
            del field["default"]
