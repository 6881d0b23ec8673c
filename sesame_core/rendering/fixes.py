"""How an error was fixed, and how something is run: as text and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from .known import by_whom, known_json, notes, nothing, place_of, seen_json, seen_session_json
from .text import QUERY_LINE, count, day, one_line, place, printable, session_name, shortened, with_notes

if TYPE_CHECKING:
    from ..types.fixes import Fix, Fixes, Seen, Step, Way, Ways
    from ..types.report import IndexReport
    from .schemas.fixes import FixesJson, FixJson, WayJson, WaysJson

#: Places that are listed of one thing.
PLACES = 5
#: Most characters of a line of the text: of an error, of a step, of a command.
LINE = 160
#: Lines of a step.
STEP_LINES = 6


def fixes_json(found: Fixes, refreshed: IndexReport | None = None, current: Sequence[str] = ()) -> FixesJson:
    """Return the JSON value of how an error was fixed.

    :param current: ids of the caller's own sessions, which were left out.
    """
    return {
        **known_json(found.about, found.basis, len(found.fixes), refreshed, current),
        "lines": list(found.lines),
        "occurrences": found.occurrences,
        "fixes": [_fix_json(fix) for fix in found.fixes],
    }


def _fix_json(fix: Fix) -> FixJson:
    return {
        **seen_session_json(fix.seen),
        "error": fix.line,
        "same": fix.is_same,
        "command": fix.command or None,
        "outcome": fix.outcome,
        "held": fix.held,
        "steps": [
            {"position": step.position, "type": step.kind, "text": step.text, "path": step.path or None}
            for step in fix.steps
        ],
        "why": fix.why or None,
        "whyPosition": fix.why_position,
        "ended": seen_json(fix.ended) if fix.ended else None,
        "cameBack": [seen_json(seen) for seen in fix.came_back[:PLACES]],
        "cameBackCount": len(fix.came_back),
        "others": [seen_json(seen) for seen in fix.others[:PLACES]],
        "otherCount": len(fix.others),
    }


def fixes_text(
    found: Fixes, abbreviate: Callable[[str], str], refreshed: IndexReport | None = None, current: Sequence[str] = ()
) -> str:
    """Return how an error was fixed as text.

    :param abbreviate: shortens a session id as far as it stays unique.
    :param current: ids of the caller's own sessions, which were left out.
    """
    error = f'"{_line(found.lines[0] if found.lines else found.about, QUERY_LINE)}"'
    lines = [_headline(found, error)] if found.fixes else [nothing(error, found.basis, refreshed)]
    for fix in found.fixes:
        lines += ["", *_fix_lines(fix, abbreviate)]
    return with_notes(lines, notes(found.basis, refreshed, current))


def _headline(found: Fixes, error: str) -> str:
    sessions = count(found.basis.sessions, "session")
    if not found.occurrences:
        return f"Not seen: {error}; errors like it in {sessions}"
    times = count(found.occurrences, "time")
    held = sum(fix.held and fix.is_same for fix in found.fixes)
    solved = f"{count(held, 'fix')} held" if held else "no fix held"
    return f"{error}: seen {times} in {sessions}; {solved}"


def _fix_lines(fix: Fix, abbreviate: Callable[[str], str]) -> Iterator[str]:
    yield f"  {_verdict(fix, abbreviate)}: {place_of(fix.seen, abbreviate)} ({session_name(fix.seen.stored)})"
    yield f"    {by_whom(fix.seen)}"
    if not fix.is_same:
        yield f"    an error like it: {_line(fix.line)}"
    if fix.command:
        yield f"    failed: {_line(fix.command)}"
    if fix.why:
        yield f'    "{_line(fix.why, 2 * LINE)}"'
    for step in fix.steps:
        yield from _step_lines(step)
    if fix.others:
        yield f"    the same remedy {count(len(fix.others), 'more time')}: {_places(fix.others, abbreviate)}"


def _verdict(fix: Fix, abbreviate: Callable[[str], str]) -> str:
    if fix.outcome == "unresolved":
        return "Unresolved"
    if fix.came_back:
        first = fix.came_back[0]
        back = f"came back on {day(first.at)} ({place_of(first, abbreviate)})"
        return (
            back[0].upper()
            + back[1:]
            + (f" and {count(len(fix.came_back) - 1, 'more time')}" if fix.came_back[1:] else "")
        )
    return {
        "verified": "Held: the command succeeded afterwards",
        "passed": "Held: the command went on to another error",
        "replaced": "Held: not seen again after",
    }[fix.outcome]


def _step_lines(step: Step) -> Iterator[str]:
    first, *rest = [line for line in printable(step.text).split("\n") if line.strip()] or [""]
    yield f"    {step.position:>6} {shortened(first, LINE)}"
    shown = rest if step.kind == "edit" else []
    for line in shown[: STEP_LINES - 1]:
        yield f"           {shortened(line, LINE)}"
    if len(rest) > STEP_LINES - 1 or (rest and not shown):
        yield "           …"


def ways_json(found: Ways, refreshed: IndexReport | None = None, current: Sequence[str] = ()) -> WaysJson:
    """Return the JSON value of how something is run; the parameters are those of `fixes_json`."""
    return {
        **known_json(found.about, found.basis, len(found.ways), refreshed, current),
        "runs": found.runs,
        "ways": [_way_json(way) for way in found.ways],
    }


def _way_json(way: Way) -> WayJson:
    return {
        "name": way.command,
        "command": way.text,
        "here": way.is_here,
        "succeeded": way.succeeded,
        "failed": way.failed,
        "last": seen_session_json(way.last) if way.last else None,
        "variants": [
            {**seen_json(variant.last), "command": variant.text, "count": variant.count} for variant in way.variants
        ],
        "directories": [{"cwd": name, "count": number} for name, number in way.directories],
        "failures": [
            {**seen_json(failed.last), "error": failed.line or None, "command": failed.text, "count": failed.count}
            for failed in way.failures
        ],
    }


def ways_text(
    found: Ways, abbreviate: Callable[[str], str], refreshed: IndexReport | None = None, current: Sequence[str] = ()
) -> str:
    """Return how something is run as text; the parameters are those of `fixes_text`."""
    about = f'"{_line(found.about, QUERY_LINE)}"'
    if found.ways:
        runs, sessions = count(found.runs, "run"), count(found.basis.sessions, "session")
        lines = [f"{about}: {runs} in {sessions}"]
    else:
        lines = [nothing(about, found.basis, refreshed)]
    for way in found.ways:
        lines += ["", *_way_lines(way, abbreviate)]
    return with_notes(lines, notes(found.basis, refreshed, current))


def _way_lines(way: Way, abbreviate: Callable[[str], str]) -> Iterator[str]:
    here = "here, " if way.is_here else ""
    ran = f"succeeded {count(way.succeeded, 'time')}" if way.succeeded else "never seen to succeed"
    yield f"  {_line(way.command)}: {here}{ran}"
    yield f"    $ {_line(way.text)}"
    if way.last:
        yield f"      last {place_of(way.last, abbreviate)} · {by_whom(way.last)}"
    for variant in way.variants:
        if variant.text != way.text:
            yield f"    $ {_line(variant.text)}"
            last = f"{place_of(variant.last, abbreviate)}, {day(variant.last.at)}"
            yield f"      {count(variant.count, 'time')}, last {last}"
    if way.directories[1:]:
        yield "    in " + ", ".join(f"{place(name)} ({number})" for name, number in way.directories)
    for failed in way.failures:
        error = _line(failed.line) or "no line of its output says why"
        yield f"    failed {count(failed.count, 'time')}: {error} ({place_of(failed.last, abbreviate)})"


def shown_ids(found: Fixes | Ways) -> Iterator[str]:
    """Yield the id of each session that the text of an answer names."""
    for seen in _all_seen(found):
        yield seen.stored.session.id


def _all_seen(found: Fixes | Ways) -> Iterator[Seen]:
    for fix in getattr(found, "fixes", ()):
        yield from (fix.seen, *fix.others[:PLACES], *fix.came_back[:1])
    for way in getattr(found, "ways", ()):
        yield from (way.last,) if way.last else ()
        yield from (one.last for one in (*way.variants, *way.failures))


def _places(seen: Sequence[Seen], abbreviate: Callable[[str], str]) -> str:
    more = f" and {len(seen) - PLACES} more" if len(seen) > PLACES else ""
    return ", ".join(place_of(one, abbreviate) for one in seen[:PLACES]) + more


def _line(text: str, most: int = LINE) -> str:
    return shortened(" ".join(one_line(text).split()), most)
