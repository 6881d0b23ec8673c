"""The ids of sessions: which sessions the beginning of one means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import UnknownSessionError
from .grouping import copy_rank

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.index import StoredSession

#: How to find a session, on the command line.
SEARCH = "see: sesame search"


def by_id(reader: IndexReader, text: str, station: str = "") -> list[StoredSession]:
    """Return the sessions whose id starts with a string, by id; of a session in several files, the representing one.

    A subagent's id starts with its parent's; if the parent is indexed, it is the one that is meant.

    :param station: the workstation of a key; its sessions are meant, if it has any.
    """
    found = reader.find_sessions(text)
    found = [stored for stored in found if stored.session.workstation == station] or found
    ids = sorted({stored.session.id for stored in found})
    whole = [i for i in ids if all(other == i or other.startswith(i + "/") for other in ids)]
    return [
        one for session_id in whole or ids for one in _representatives([s for s in found if s.session.id == session_id])
    ]


def the_one(reader: IndexReader, text: str, station: str = "") -> StoredSession:
    """Return the one session whose id starts with a string.

    :param station: as of `by_id`.
    :raises UnknownSessionError: no session, or several, have this id.
    """
    found = by_id(reader, text, station)
    if not found:
        raise UnknownSessionError(f"no session has the id {text!r}", command=SEARCH)
    if len(found) > 1:
        raise UnknownSessionError(f"several sessions have an id that starts with {text!r}")
    return found[0]


def _representatives(copies: list[StoredSession]) -> list[StoredSession]:
    """Return the file that represents a session: this workstation's own, if several have a session of that id.

    Of several owners without this workstation's, each has one: whose session is longer is not whose it is.
    """
    if len({stored.session.workstation for stored in copies}) > 1:
        from ..config import identity

        mine = [stored for stored in copies if stored.session.workstation == identity.workstation_id()]
        copies = mine or copies
    best: dict[str, StoredSession] = {}
    for stored in sorted(copies, key=copy_rank):
        best[stored.session.owner] = stored
    return list(best.values())
