"""How fresh an answer is, for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .text import count, iso, minute

if TYPE_CHECKING:
    from datetime import datetime

    from ..types.index import Freshness
    from ..types.report import IndexReport
    from .schemas.freshness import FreshnessJson, IndexJson, RefreshJson


def index_json(refreshed: IndexReport | None, freshness: Freshness | None = None) -> IndexJson:
    """Return the JSON value of how fresh the index is."""
    known: FreshnessJson = {}
    if freshness:
        known = {"lastSync": iso(freshness.last_sync), "unreadable": freshness.unreadable}
    return {**_refresh_json(refreshed), **known}


def state_line(sessions: int, synced: datetime | None, pending: int) -> str:
    """Return the state of the index in one line.

    :param pending: files that are not indexed yet.
    """
    said = [count(sessions, "session")]
    if synced:
        said.append(f"index changed {minute(synced)}")
    if pending:
        said.append(f"{count(pending, 'file')} not indexed yet")
    return " · ".join(said)


def _refresh_json(refreshed: IndexReport | None) -> RefreshJson:
    if refreshed is None:
        return {"refreshed": False}
    return {
        "refreshed": refreshed.reason is None,
        "reason": refreshed.reason,
        "changed": refreshed.changed,
        "pending": refreshed.pending,
        "errors": len(refreshed.errors),
        "notSearched": [{"path": of.path, "message": of.message} for of in refreshed.not_searched],
        "unrecognised": len(refreshed.unrecognised),
        "notScanned": refreshed.not_scanned,
        "scannedAt": iso(refreshed.scanned_at) if refreshed.not_scanned else None,
        "sources": [
            {"path": source.path, "parser": source.parser, "changed": source.changed, "pending": source.pending}
            for source in refreshed.sources
        ],
    }
