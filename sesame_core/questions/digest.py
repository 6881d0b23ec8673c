"""What happened in a period: sessions in groups, and of the latest of each group the lines of `entries`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..dataclass import replace
from ..plugin.paging import all_sessions
from ..search.listing import display_name
from ..types.knowing import Digest, DigestBy, DigestEntry, DigestGroup
from .entries import entry_of
from .people import person_of

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..privacy.leaving import Leaving
    from ..types.index import StoredSession
    from ..types.query import Filters

#: Bytes of a session besides its name and quotes: its place, agent and days; of a quote, its place and label; of the
#: heading of a group.
SESSION, QUOTE, GROUP = 90, 30, 90
#: Bytes that a session may take, however many there are.
FAIR = 600
#: Sessions that are in memory at once.
PAGE = 2_000
#: Kinds of sessions that are counted and not described.
ALONE = ("headless", "subagent")
#: Most sessions that are described, whatever the bound.
MOST = 200


def digest(
    reader: IndexReader, filters: Filters, by: DigestBy, *, max_bytes: int, leaving: Leaving | None = None
) -> Digest:
    """Return what happened in the sessions that filters select.

    Sessions that no person held are counted: scripts' (headless) and subagents', whose work their session reports.

    :param max_bytes: most bytes of all quotes, with their places and headings.
    :param leaving: replaces secrets.
    """
    found = Digest(by=by, after=filters.after, before=filters.before)
    groups: dict[str, DigestGroup] = {}
    sessions: dict[str, list[StoredSession]] = {}
    owners: dict[str, dict[str, None]] = {}
    with reader.snapshot():
        for stored in all_sessions(reader, replace(filters, all_kinds=True), PAGE):
            name = _group(stored, filters, by)
            group = groups.setdefault(name, DigestGroup(name=name))
            for counted in (found, group):
                _count(counted, stored)
            found.withheld += stored.session.visibility == "metadata" and stored.session.kind not in ALONE
            if stored.session.kind not in ALONE:
                of_group = sessions.setdefault(name, [])
                if len(of_group) < MOST:
                    of_group.append(stored)
                owners.setdefault(name, {})[person_of(stored.session)] = None
        if not sessions and filters.after is not None:
            before = all_sessions(reader, replace(filters, after=None))
            found.latest = next((one.session.modified for one in before if one.session.kind not in ALONE), None)
        entries = _described(reader, sessions, filters, max_bytes, leaving)
    found.groups = [groups[name] for name in sessions]
    for group in found.groups:
        group.owners = tuple(filter(None, owners[group.name]))
        group.entries = entries.get(group.name, [])
    return found


def _count(counted: Digest | DigestGroup, stored: StoredSession) -> None:
    kind = stored.session.kind
    counted.headless += kind == "headless"
    counted.subagents += kind == "subagent"
    counted.sessions += kind not in ALONE


def _group(stored: StoredSession, filters: Filters, by: DigestBy) -> str:
    """Return the name of a session's group; of a day the last one of the session in the period."""
    session = stored.session
    if by == "person":
        return person_of(session)
    if by == "day":
        last = min(filter(None, (session.modified, filters.before)), default=None)
        return f"{last.astimezone():%Y-%m-%d}" if last else ""
    return session.repository or session.cwd or ""


def _described(
    reader: IndexReader,
    sessions: dict[str, list[StoredSession]],
    filters: Filters,
    room: int,
    leaving: Leaving | None,
) -> dict[str, list[DigestEntry]]:
    """Return the entries that fit, by group; each group gets one after the other, so that none is left out."""
    found: dict[str, list[DigestEntry]] = {}
    fair = max(FAIR, room // max(1, sum(map(len, sessions.values()))))
    for number, (name, stored) in enumerate(_in_turns(sessions)):
        room -= 0 if name in found else GROUP
        if room < SESSION or number >= MOST:
            break
        forms = _forms(entry_of(reader, stored, filters, leaving))
        entry = next((form for form in forms if _cost(form) <= min(room, fair)), forms[-1])
        if (cost := _cost(entry)) <= room:
            room -= cost
            found.setdefault(name, []).append(entry)
    return found


def _in_turns(sessions: dict[str, list[StoredSession]]) -> Iterator[tuple[str, StoredSession]]:
    """Yield the latest session of each group, then the next of each."""
    for place in range(max(map(len, sessions.values()), default=0)):
        for name, of_group in sessions.items():
            if place < len(of_group):
                yield name, of_group[place]


def _cost(entry: DigestEntry) -> int:
    points = [entry.asked, entry.concluded, *entry.failed, *entry.open]
    lines = sum(_bytes(point.text) + QUOTE for point in points if point)
    files = sum(_bytes(point.text) + 2 for point in entry.changed) + QUOTE * bool(entry.changed)
    return SESSION + _bytes(display_name(entry.stored.session) or "") + lines + files


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _forms(entry: DigestEntry) -> list[DigestEntry]:
    """Return an entry whole, with less, and with what was asked alone; what is missing is counted."""
    found = [entry]
    for concluded, files, lines in ((entry.concluded, 3, 1), (entry.concluded, 2, 0), (None, 3, 0), (None, 0, 0)):
        changed, failed, tasks = entry.changed[:files], entry.failed[:lines], entry.open[:lines]
        missing = sum(map(len, (entry.changed, entry.failed, entry.open))) - len(changed) - len(failed) - len(tasks)
        left_out = entry.left_out + missing
        found.append(replace(entry, concluded=concluded, changed=changed, failed=failed, open=tasks, left_out=left_out))
    return found
