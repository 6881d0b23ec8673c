"""Secrets in the index."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypedDict

from .doc import Doc
from .sessions import VersionedJson


class SecretJson(TypedDict):
    """The place of a secret in the index."""

    sessionId: str | None
    file: str
    position: Annotated[int | None, Doc("null when it is not in the conversation.")]
    field: str
    kind: str
    fingerprint: Annotated[str, Doc("Equal for equal secrets.")]


class SecretKindJson(TypedDict):
    """A kind of secrets that an audit looks for."""

    kind: Annotated[str, Doc("As in `secrets`; patterns of your own at the end.")]
    found: int


class AuditJson(VersionedJson):
    """The secrets in the index: `sesame audit`."""

    sessions: Annotated[int, Doc("Sessions that were scanned.")]
    chunks: int
    secrets: list[SecretJson]
    lookedFor: Annotated[list[SecretKindJson], Doc("Each kind that is known, with the number of secrets found.")]
