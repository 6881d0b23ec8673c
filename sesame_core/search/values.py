"""What sessions have for a field that names something: agents, tools, branches …"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..plugin.backend import IndexReader, Values
from ..sdk.filtering import values_of
from ..types.index import StoredSession
from ..types.query import Filters

#: The fields of `Filters` with named values, and the word for several of these.
PLURALS = {
    "agents": "agents",
    "tags": "tags",
    "tool": "tools",
    "branch": "branches",
    "model": "models",
    "repo": "repositories",
    "host": "hosts",
    "owner": "owners",
    "workstation": "workstations",
}
#: Those for which a part of a value is enough.
IN_PARTS = ("branch", "model", "repo")
#: Most values of a field, and most sessions that are looked at for values, where the index does not list them.
KNOWN = 10_000
SESSIONS = 500


def of(field: str, sessions: Iterable[StoredSession]) -> list[str]:
    """Return what sessions have for a field, the commonest first."""
    found = Counter(value for stored in sessions for value in _of(field, stored))
    return [value for value, _ in sorted(found.items(), key=lambda each: (-each[1], each[0]))]


def known(reader: IndexReader, field: str) -> list[tuple[str, int]]:
    """Return what the sessions of an index have for a field, with their numbers, the commonest first.

    Repositories come with the names of directories, which also find them.
    """
    if not isinstance(reader, Values):
        stored, _ = reader.list_sessions(Filters(all_kinds=True), limit=SESSIONS)
        return Counter(value for one in stored for value in _of(field, one)).most_common()
    found = reader.values(field, KNOWN)
    if field == "repo":
        found += [(cwd.replace("\\", "/").rpartition("/")[2], count) for cwd, count in reader.values("cwd", KNOWN)]
    return found


def _of(field: str, stored: StoredSession) -> list[str]:
    session = stored.session
    if field == "repo" and not session.repository and session.cwd:
        return [session.cwd.replace("\\", "/").rpartition("/")[2]]
    return values_of(field, session)
