"""A record of Agent Trace 0.1.0, whose names are that specification's."""

from __future__ import annotations

from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from .doc import Doc


class TraceVcsJson(TypedDict):
    """The commit that the numbers of lines are of."""

    type: str
    revision: str


class TraceToolJson(TypedDict):
    """The program that wrote the record."""

    name: str
    version: str


class ContributorJson(TypedDict):
    """Who wrote lines."""

    type: str
    model_id: NotRequired[Annotated[str, Doc("As the agent's file names it.")]]


class RangeJson(TypedDict):
    """Consecutive lines."""

    start_line: int
    end_line: int
    content_hash: str


class ConversationJson(TypedDict):
    """A session."""

    url: Annotated[str, Doc("sesame:ID:POSITION, what `sesame show` takes.")]
    contributor: ContributorJson
    ranges: list[RangeJson]


class TraceFileJson(TypedDict):
    """A file."""

    path: str
    conversations: list[ConversationJson]


class TraceMetadataJson(TypedDict):
    """What the specification has no field for."""

    unknown_lines: int


class TraceJson(TypedDict):
    """Which sessions wrote the lines of a file: `sesame blame --trace`."""

    version: str
    id: str
    timestamp: str
    vcs: NotRequired[TraceVcsJson]
    tool: TraceToolJson
    files: list[TraceFileJson]
    metadata: TraceMetadataJson
