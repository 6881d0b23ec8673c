"""What happened in a period: as text, as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from .export.pieces import safe
from .knowing import name_of, withheld_notes
from .notes import about_refresh
from .text import SCHEMA_VERSION, count, home, iso, minute, one_line, repeats, session_name, shortened, with_notes

if TYPE_CHECKING:
    from ..types.export import Point
    from ..types.knowing import Digest, DigestEntry, DigestGroup
    from ..types.report import IndexReport
    from .schemas.exports import PointJson
    from .schemas.knowing import DigestEntryJson, DigestGroupJson, DigestJson

#: Most characters of a group's name, and owners that it lists.
NAME, OWNERS = 120, 8
#: What stands for the name of a group that is not known.
UNKNOWN = {"project": "(no directory)", "person": "(unknown)", "day": "undated"}


def digest_json(found: Digest, refreshed: IndexReport | None = None) -> DigestJson:
    """Return the JSON value of what happened.

    :param refreshed: what is known of files that are not indexed yet.
    """
    from .freshness import index_json

    return {
        "schemaVersion": SCHEMA_VERSION,
        "by": found.by,
        "after": iso(found.after),
        "before": iso(found.before),
        "sessionCount": found.sessions,
        "shown": found.shown,
        "headless": found.headless,
        "subagents": found.subagents,
        "withheld": found.withheld,
        "latest": iso(found.latest),
        "groups": [_group_json(group) for group in found.groups],
        "index": index_json(refreshed),
    }


def ids_of(found: Digest) -> Iterator[str]:
    """Yield the ids that the text names."""
    return (entry.stored.session.id for group in found.groups for entry in group.entries)


def digest_text(
    found: Digest, short: Mapping[str, str], refreshed: IndexReport | None = None, *, is_markdown: bool = False
) -> str:
    """Return what happened as text, or as Markdown.

    :param short: the abbreviation of each session.
    """
    lines = [f"# {_headline(found)}" if is_markdown else _headline(found)]
    shown = [group for group in found.groups if group.entries]
    for group in shown:
        heading = _heading(found, group)
        lines += ["", f"## {_escaped(heading)}" if is_markdown else heading]
        for entry in group.entries:
            lines += [""] if is_markdown else []
            is_shared = found.by != "person" and len(group.owners) > 1
            lines += _entry_lines(found, entry, short, has_owner=is_shared, is_markdown=is_markdown)
        if rest := group.sessions - len(group.entries):
            more = f"… and {count(rest, 'more session')}"
            lines += ["", more] if is_markdown else [f"  {more}"]
    if others := [group for group in found.groups if not group.entries]:
        lines += ["", f"… and {count(len(others), f'more {found.by}')}: {_named(found, others)}"]
    notes = withheld_notes(found.withheld, "what happened in them")
    text = with_notes(lines, [*notes, *about_refresh(refreshed)])
    return safe(text) if is_markdown else text


def _headline(found: Digest) -> str:
    bounds = (("since", found.after), ("until", found.before))
    period = " ".join(f"{word} {minute(moment)}" for word, moment in bounds if moment) or "so far"
    alone = [count(found.subagents, "subagent")] if found.subagents else []
    alone += [count(found.headless, "headless run")] if found.headless else []
    counted = f" (and {', '.join(alone)})" if alone else ""
    if not found.sessions:
        latest = f"; the latest one was last active {minute(found.latest)}" if found.latest else ""
        return f"No session {period}{counted}{latest}"
    shown = f", {found.shown} described" if found.shown < found.sessions else ""
    return f"{count(found.sessions, 'session')} {period}, {count(len(found.groups), found.by)}{shown}{counted}"


def _named(found: Digest, groups: Sequence[DigestGroup]) -> str:
    """Return the names of groups that have no room, with their numbers of sessions."""
    names = [f"{shortened(_name(found, group), NAME // 2)} ({group.sessions})" for group in groups[:OWNERS]]
    return ", ".join([*names, *(["…"] if len(groups) > OWNERS else [])])


def _name(found: Digest, group: DigestGroup) -> str:
    return one_line(home(group.name)) or UNKNOWN[found.by]


def _heading(found: Digest, group: DigestGroup) -> str:
    owners = [one_line(owner) for owner in group.owners[:OWNERS]] if found.by != "person" else []
    more = [f"{len(group.owners) - OWNERS} more"] if len(group.owners) > OWNERS and owners else []
    return " · ".join([shortened(_name(found, group), NAME), count(group.sessions, "session"), *owners, *more])


def _entry_lines(
    found: Digest, entry: DigestEntry, short: Mapping[str, str], *, has_owner: bool, is_markdown: bool
) -> Iterator[str]:
    session = entry.stored.session
    reference = one_line(short.get(session.id, session.id))
    about = [name_of(session.owner, (session.host,) if session.host else (), ())] if has_owner else []
    about += [session.agent, *([home(session.cwd)] if found.by != "project" and session.cwd else []), _span(entry)]
    about += [count(entry.prompts, "prompt")] if entry.prompts else []
    name = "only metadata is visible" if entry.is_withheld else session_name(entry.stored)
    shown: Callable[[str], str] = _escaped if is_markdown else one_line
    if is_markdown:
        yield f"- **{shown(name)}** (`{reference}`): {' · '.join(map(shown, about))}"
    else:
        yield f"  {shown(name)} ({reference}) - {' · '.join(map(shown, about))}"
    start = "  - " if is_markdown else "    "
    # The name is mostly made from the first request.
    asked = entry.asked if entry.asked and not repeats(entry.asked.text, name) else None
    yield from _quotes("asked", [asked], start, reference, shown)
    yield from _quotes("concluded", [entry.concluded], start, reference, shown)
    if entry.changed:
        yield f"{start}changed: {', '.join(shown(point.text) for point in entry.changed)}"
    yield from _quotes("failed", entry.failed, start, reference, shown)
    yield from _quotes("open", entry.open, start, reference, shown)
    if entry.left_out:
        yield f"{start}… and {entry.left_out} more"


def _quotes(
    label: str, points: Sequence[Point | None], start: str, reference: str, shown: Callable[[str], str]
) -> Iterator[str]:
    for point in filter(None, points):
        yield f"{start}{label}: {shown(point.text)} ({reference}:{point.position})"


def _escaped(text: str) -> str:
    """Return a text as part of a line of Markdown: no tag, link or image of it works."""
    return one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace("[", "\\[")


def _span(entry: DigestEntry) -> str:
    """Return when something was said in a session, to the minute."""
    first, last = minute(entry.first), minute(entry.last)
    if not first or not last or first == last:
        return last or first or "undated"
    return f"{first} to {last[11:] if first[:10] == last[:10] else last}"


def _group_json(group: DigestGroup) -> DigestGroupJson:
    return {
        "name": group.name,
        "owners": list(group.owners),
        "sessionCount": group.sessions,
        "headless": group.headless,
        "subagents": group.subagents,
        "sessions": [_entry_json(entry) for entry in group.entries],
    }


def _entry_json(entry: DigestEntry) -> DigestEntryJson:
    session = entry.stored.session
    return {
        "sessionId": session.id,
        "source": session.agent,
        "cwd": session.cwd,
        "owner": session.owner or None,
        "name": None if entry.is_withheld else session_name(entry.stored),
        "first": iso(entry.first),
        "last": iso(entry.last),
        "prompts": entry.prompts,
        "asked": _point(entry.asked) if entry.asked else None,
        "concluded": _point(entry.concluded) if entry.concluded else None,
        "changed": _points(entry.changed),
        "failed": _points(entry.failed),
        "open": _points(entry.open),
        "leftOut": entry.left_out,
        "withheld": entry.is_withheld,
    }


def _points(points: Sequence[Point]) -> list[PointJson]:
    return [_point(point) for point in points]


def _point(point: Point) -> PointJson:
    return {"position": point.position, "text": point.text}
