"""Who worked on something: as text, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..dataclass import replace
from .text import (
    HINT,
    SCHEMA_VERSION,
    about_headless,
    count,
    day,
    days,
    home,
    iso,
    one_line,
    session_name,
    shortened,
    with_notes,
)

if TYPE_CHECKING:
    from ..types.index import StoredSession
    from ..types.knowing import Involved, Person, Who
    from ..types.report import IndexReport
    from .schemas.knowing import InvolvedJson, PersonJson, WhoJson

#: Most people, and most characters of a name of a file or a topic.
PEOPLE, NAME = 50, 200
#: Most sessions of each person, unless the caller says otherwise.
SESSIONS = 5
#: Most names of machines and agents of one person.
NAMES = 6


def who_json(
    found: Who, refreshed: IndexReport | None = None, current: Sequence[str] = (), *, limit: int = SESSIONS
) -> WhoJson:
    """Return the JSON value of who worked on something.

    :param refreshed: what is known of files that are not indexed yet.
    :param current: ids of the caller's own sessions, which were left out.
    :param limit: most sessions of each person.
    """
    from .freshness import index_json
    from .notes import missing_hints

    return {
        "schemaVersion": SCHEMA_VERSION,
        "about": shortened(found.about, NAME),
        "name": shortened(found.name, NAME),
        "subject": found.subject,
        "otherNames": list(found.other_names),
        "elsewhere": found.is_elsewhere,
        "weak": found.is_weak,
        "truncated": found.is_truncated,
        "uncounted": found.uncounted,
        "total": found.total,
        "offset": found.offset,
        "sessionCount": sum(len(person.sessions) for person in found.people),
        "changes": sum(person.changes for person in found.people),
        "people": [_person_json(person, limit) for person in found.people[:PEOPLE]],
        "leftOut": dict(found.left_out),
        "withheld": found.withheld,
        "hints": [*missing_hints(refreshed), *found.hints],
        "index": index_json(refreshed),
        "currentSessions": list(current),
    }


def _person_json(person: Person, limit: int) -> PersonJson:
    return {
        "owner": person.owner or None,
        "hosts": list(person.hosts),
        "agents": list(person.agents),
        "changes": person.changes,
        "reads": person.reads,
        "first": iso(person.first),
        "last": iso(person.last),
        "sessionCount": len(person.sessions),
        "changedIn": person.changing,
        "sessions": [_involved_json(one) for one in person.sessions[:limit]],
    }


def _involved_json(one: Involved) -> InvolvedJson:
    session = one.stored.session
    return {
        "sessionId": session.id,
        "source": session.agent,
        "cwd": session.cwd,
        "name": session_name(one.stored),
        "kind": session.kind,
        "changes": one.changes,
        "reads": one.reads,
        "first": iso(one.first),
        "last": iso(one.last),
        "position": one.position,
        "subagentId": one.subagent_id,
        "text": one_line(one.text),
    }


def ids_of(found: Who, limit: int) -> Iterator[str]:
    """Yield the ids that the text names."""
    for person in found.people[:PEOPLE]:
        for one in person.sessions[:limit]:
            yield one.subagent_id or one.stored.session.id


def who_text(
    found: Who,
    short: Mapping[str, str],
    refreshed: IndexReport | None = None,
    current: Sequence[str] = (),
    *,
    limit: int = SESSIONS,
    searches: str = "",
) -> str:
    """Return who worked on something as text: each person with counts, and with the sessions.

    :param short: the abbreviation of each session.
    :param current: ids of the caller's own sessions, which were left out.
    :param limit: most sessions of each person.
    :param searches: the command that searches for it, for an answer that knows nothing.
    """
    lines = [_headline(found)]
    if found.other_names:
        lines.append(f"  also named {', '.join(one_line(name) for name in found.other_names)}")
    for person in found.people[:PEOPLE]:
        lines += ["", f"  {_who_line(person, is_topic=found.subject == 'topic')}"]
        lines += [f"    {_session_line(one, short)}" for one in person.sessions[:limit]]
        if rest := len(person.sessions) - limit:
            lines += [f"    … and {rest} more: --limit {len(person.sessions)}"] if rest > 0 else []
    if more := len(found.people) - PEOPLE:
        lines += ["", f"  … and {count(more, 'more person')}: --json"] if more > 0 else []
    notes = _notes(found, refreshed, current, searches)
    return with_notes(lines, notes)


def name_of(owner: str, hosts: Sequence[str], agents: Sequence[str]) -> str:
    """Return a person in words: the owner, machines and agents, as far as they are known."""
    machines = _some(hosts)
    parts = [one_line(owner), *([f"on {machines}"] if machines and not owner else []), _some(agents)]
    return " · ".join(filter(None, parts)) or "unknown"


def _some(names: Sequence[str]) -> str:
    listed = ", ".join(shortened(one_line(name), NAMES * 10) for name in names[:NAMES])
    return listed + (f" and {len(names) - NAMES} more" if len(names) > NAMES else "")


def _headline(found: Who) -> str:
    name = shortened(one_line(home(found.name)), NAME)
    sessions = [one for person in found.people for one in person.sessions]
    if found.subject == "topic":
        if not sessions:
            return f"No session is known to be about: {name}"
        return f"{name}: {count(len(sessions), 'session')} about it"
    of = name + "/" * (found.subject == "directory" and not name.endswith("/"))
    changed = sum(bool(one.changes) for one in sessions)
    if not sessions:
        return f"{of}: no session is known to have changed or read it"
    read = len(sessions) - changed
    if not changed:
        return f"{of}: no session is known to have changed it; {count(read, 'session')} read or named it"
    also = f"; {count(read, 'other session')} read or named it" if read else ""
    return f"{of}: changed in {count(changed, 'session')}{also}"


def _who_line(person: Person, *, is_topic: bool) -> str:
    name = name_of(person.owner, person.hosts, person.agents)
    span = days(person.first, person.last)
    if is_topic:
        return f"{name}: {count(len(person.sessions), 'session')}, {span}"
    if not person.changes:
        return f"{name}: read it in {count(len(person.sessions), 'session')}, {span}"
    changing = replace(person, sessions=[one for one in person.sessions if one.changes])
    number, span = len(changing.sessions), days(changing.first, changing.last)
    also = f", read it in {len(person.sessions) - number} more" if len(person.sessions) > number else ""
    return f"{name}: {count(person.changes, 'change')} in {count(number, 'session')}, {span}{also}"


def _session_line(one: Involved, short: Mapping[str, str]) -> str:
    what = [day(one.last)]
    if one.changes:
        what.append(count(one.changes, "change"))
    elif one.reads:
        what.append(f"read {count(one.reads, 'time')}" if one.reads > 1 else "read")
    what += [one.stored.session.kind] if one.stored.session.kind == "headless" else []
    place = place_of(one.stored, one.subagent_id, one.position, short)
    return f"{place} ({session_name(one.stored)}) - {' · '.join(what)}"


def place_of(stored: StoredSession, subagent: str | None, position: int | None, short: Mapping[str, str]) -> str:
    """Return what to type for a position in a session: `35ea950f:21`."""
    reference = one_line(short.get(subagent or stored.session.id, subagent or stored.session.id))
    return reference if position is None else f"{reference}:{position}"


def _notes(found: Who, refreshed: IndexReport | None, current: Sequence[str], searches: str) -> list[str]:
    from .notes import about_current, about_refresh

    notes = []
    if found.is_elsewhere:
        notes.append("No session of this repository names it: these were in other directories.")
    if found.subject == "topic" and found.is_weak and searches:
        notes.append(f"What has some of these words: {searches}")
    notes += [f"Note: {shortened(one_line(hint), HINT)}" for hint in found.hints]
    if found.is_truncated:
        more = f"; {count(found.uncounted, 'session')} with it were not counted" if found.uncounted else ""
        notes.append(f"The name is common: only the latest calls with it were counted{more}.")
    notes += about_headless(found.left_out)
    notes += withheld_notes(found.withheld, "whether they worked on it")
    return [*notes, *about_current(current), *about_refresh(refreshed)]


def withheld_notes(withheld: int, what: str) -> list[str]:
    """Return the line about sessions of which only metadata is visible, if there are any."""
    if not withheld:
        return []
    return [f"Of {count(withheld, 'session')} only metadata is visible: {what} is not known."]
