"""Rules for sharing, and what they change, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .text import SCHEMA_VERSION, count, day, printable

if TYPE_CHECKING:
    from ..sharing.changes import Change
    from ..sharing.rules import Rule, Sharing
    from ..types.transcript import Session
    from .schemas.sharing import ChangesJson, SharingJson

#: The name of a change, by visibility before and after.
_ACTIONS = {
    (None, "shared"): "send",
    (None, "metadata"): "send metadata of",
    (None, "private"): "keep here",
    ("shared", "private"): "take back",
    ("metadata", "private"): "take back",
    ("shared", "metadata"): "reduce to metadata",
    ("metadata", "shared"): "send all of",
    ("private", "shared"): "send",
    ("private", "metadata"): "send metadata of",
}


def changes_json(changes: Sequence[Change]) -> ChangesJson:
    """Return the JSON value of the changes that the next run makes."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "changes": [
            {
                "sessionId": change.session.id,
                "source": change.session.agent,
                "cwd": change.session.cwd,
                "repository": change.session.repository,
                "file": change.path,
                "before": change.before,
                "after": change.after,
            }
            for change in changes
        ],
    }


def change_text(change: Change) -> str:
    """Return a change as one line of text."""
    session = change.session
    action = _ACTIONS[change.before, change.after]
    when = day(session.modified or session.created) or ""
    return printable(f"{action:<19} {session.id}  {when:<10}  {_project(session)}")


def changes_text(changes: Sequence[Change], does: str) -> str:
    """Return changes as text, a line for each kind of change in each project, and their number.

    :param does: the end of the last line, after "7 sessions".
    """
    groups: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        action = _ACTIONS[change.before, change.after]
        groups.setdefault((action, _project(change.session)), []).append(change)
    lines = [
        change_text(group[0]) if len(group) == 1 else _group_text(action, project, group)
        for (action, project), group in sorted(groups.items(), key=lambda item: item[0])
    ]
    sessions = count(len(changes), "session") if changes else "no sessions"
    return "\n".join([*lines, f"{sessions} {does}"])


def _group_text(action: str, project: str, group: Sequence[Change]) -> str:
    newest = max(filter(None, (one.session.modified or one.session.created for one in group)), default=None)
    return printable(f"{action:<19} {count(len(group), 'session'):<36}  {day(newest) or '':<10}  {project}")


def _project(session: Session) -> str:
    return session.repository or session.cwd or "no project"


def sharing_json(sharing: Sharing, covered: Iterable[tuple[Rule | None, str]], audience: str | None) -> SharingJson:
    """Return the JSON value of the rules, each with the sessions it covers, counted by their present visibility."""
    counts = _counts(covered)
    return {
        "schemaVersion": SCHEMA_VERSION,
        "audience": audience,
        "default": {"visibility": sharing.default, "sessions": dict(counts.get(None, {}))},
        "rules": [
            {"pattern": rule.pattern, "visibility": rule.level, "sessions": dict(counts.get(rule, {}))}
            for rule in sharing.rules
        ],
    }


def sharing_text(sharing: Sharing, covered: Iterable[tuple[Rule | None, str]], audience: str | None) -> str:
    """Return the rules as text, in order of precedence."""
    counts = _counts(covered)
    head = f"Others read this index: {audience}" if audience else "This index is yours alone: nothing is sent."
    lines = [
        f"  {level:<9} {pattern:<40} {_counts_text(counts.get(rule, Counter()))}"
        for rule, level, pattern in [
            *((rule, rule.level, rule.pattern) for rule in reversed(sharing.rules)),
            (None, sharing.default, "everything else"),
        ]
    ]
    return "\n".join(map(printable, [head, *map(str.rstrip, lines)]))


def _counts(covered: Iterable[tuple[Rule | None, str]]) -> dict[Rule | None, Counter[str]]:
    counts: dict[Rule | None, Counter[str]] = {}
    for rule, seen in covered:
        counts.setdefault(rule, Counter())[seen] += 1
    return counts


def _counts_text(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {seen}" for seen, count in sorted(counts.items()))
