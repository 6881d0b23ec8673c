"""Many small runs leave the database as tidy as one."""

from __future__ import annotations

import psycopg
import pytest

from sesame_core.plugin.backend import StorageBackend
from sesame_core.testing import a_chunk, a_file, a_query, a_session
from sesame_core.types.query import Filters

pytestmark = pytest.mark.once

APPENDS = 100
WORD_INDEXES = ("texts_words", "heads_words", "conversations_words", "vocabularies_words", "commands_words")
#: Tables of which a run that appends changes rows, and adds none.
CHANGED = ("sessions", "files", "heads", "conversations", "workstations", "paths", "vocabularies")


def append(backend: StorageBackend, first: int, count: int) -> None:
    """Let a session grow by a chunk in each of so many runs."""
    for number in range(first, first + count):
        session, chunk = a_session(a_chunk(f"said number{number} the quick fox", role="assistant"), title="a title")
        with backend.writer() as writer:
            writer.append(a_file(version=number + 2), [session, chunk])
            writer.finish(synced_at=None)


def sizes(db: psycopg.Connection) -> dict[str, int]:
    """Return the bytes of each table with its indexes, when what is dead was cleared away."""
    found = {}
    for table in CHANGED:
        db.execute(f"VACUUM {table}")  # type: ignore[arg-type]
        row = db.execute("SELECT pg_total_relation_size(%s::regclass)", (table,)).fetchone()
        assert row is not None
        found[table] = row[0]
    return found


def test_a_hundred_appends_leave_no_waiting_index_entries_and_no_bloat(
    backend: StorageBackend, db: psycopg.Connection
) -> None:
    with backend.writer() as writer:
        writer.replace(a_file(), a_session("a first prompt", title="a title"))
        writer.finish(synced_at=None)
    append(backend, 0, APPENDS // 2)
    half = sizes(db)
    append(backend, APPENDS // 2, APPENDS // 2)
    # Returns how many pages of waiting entries there were to clean.
    waiting = {
        index: db.execute("SELECT gin_clean_pending_list(%s::regclass)", (index,)).fetchone() for index in WORD_INDEXES
    }
    assert waiting == dict.fromkeys(WORD_INDEXES, (0,))
    whole = sizes(db)
    # The room of what was changed is used again; an index may gain a page.
    grown = {table: whole[table] - half[table] for table in CHANGED}
    assert max(grown.values()) <= 2 * 8192, grown
    found = backend.reader().candidates(a_query("fox"), Filters(all_kinds=True))
    assert found.document_frequencies == [APPENDS]
