"""Secrets that the index holds."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypedDict

from .doc import Doc
from .sessions import VersionedJson


class SecretJson(TypedDict):
    """Where a secret is stored."""

    sessionId: str | None
    file: str
    position: Annotated[int | None, Doc("null when it is not in the conversation.")]
    field: str
    kind: str
    fingerprint: Annotated[str, Doc("Equal for equal secrets.")]


class AuditJson(VersionedJson):
    """The secrets that the index holds: `sesame audit`."""

    sessions: Annotated[int, Doc("Sessions that were searched.")]
    chunks: int
    secrets: list[SecretJson]
