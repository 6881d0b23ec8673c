"""What a rebuilt index takes over from the old one: sessions of files that cannot be read any more."""

from __future__ import annotations

from datetime import UTC, datetime

from sesame_core.sdk.ingest import is_carried_over

from .files import Files
from .sessions import Sessions


def carry_over(files: Files, sessions: Sessions) -> None:
    """Decide at the end of a rebuild what becomes of the files that were set aside; most make room."""
    rebuilt = files.all()

    def drop(number: int) -> None:
        sessions.delete_of_file(number)
        files.delete(number)

    for number, path in files.superseded():
        if not is_carried_over(path, rebuilt):
            drop(number)
            continue
        now = rebuilt.get(path)
        if now is not None and (new := files.number(path)) is not None:
            drop(new)
        files.restore(
            number, error=now.error if now else None, missing_since=None if now is not None else datetime.now(UTC)
        )
