"""What indexing knows of the redaction of what is stored: a writer that redacts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, runtime_checkable

from ..types.index import IndexedFile
from ..types.transcript import Event


class RedactingEvents(Protocol):
    """Redacts the events of a parser before a formatter cuts them into chunks."""

    def redacted(self, file: IndexedFile, events: Iterable[Event]) -> Iterator[Event]:
        """Yield the events of a file without secrets."""


@runtime_checkable
class Redacting(RedactingEvents, Protocol):
    """A writer that redacts what it stores, and the events of a parser."""

    #: As `Source.redaction`.
    redaction: int

    def stored_path(self, path: str) -> str:
        """Return a file's path as in `files`: a secret in it is stored as a placeholder."""

    def elsewhere(self) -> RedactingEvents:
        """Return what redacts events in another process, which it is sent to."""

    def was_redacted(self, file: IndexedFile) -> None:
        """Take the content of a file, which the next call passes, as redacted: its events were."""
