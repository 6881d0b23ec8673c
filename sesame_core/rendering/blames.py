"""Which sessions wrote the lines of a file: as text, as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from .freshness import index_json
from .text import SCHEMA_VERSION, count, day, iso, one_line, place, session_name, shortened, with_notes

if TYPE_CHECKING:
    from ..types.questions import Blame, BlamedSession, Writer
    from ..types.report import IndexReport
    from .schemas.blames import BlameAnswerJson, BlamedSessionJson, BlameJson, BriefBlamedJson, WriterJson

#: Characters of a prompt and of a line.
PROMPT, LINE = 200, 120
#: Ranges of lines of a session that the text names.
RANGES = 12
#: What is said of evidence that is weaker than an edit of the file.
EVIDENCE = {
    "note": "noted by git-ai",
    "reflowed": "with other line breaks",
    "command": "by a command",
    "script": "in a script",
    "elsewhere": "in another file",
    "neighbours": "like the lines around it",
}


def blame_json(found: Blame, refreshed: IndexReport | None = None) -> BlameJson:
    """Return the JSON value of an answer."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "file": found.path,
        "name": found.name,
        "formerNames": list(found.former),
        "revision": found.revision or None,
        "first": found.first,
        "last": found.last,
        "lineCount": found.line_count,
        "unknown": found.unknown,
        "noted": found.noted,
        "edits": found.edits,
        "truncated": found.is_truncated,
        "withheld": found.withheld,
        "hints": hints(found),
        "index": index_json(refreshed, found.freshness),
        "runs": [
            {
                "first": run.first,
                "last": run.last,
                "writers": [_writer_json(writer) for writer in run.writers],
                "noted": run.noted or None,
            }
            for run in found.runs
        ],
        "sessions": [_session_json(session) for session in found.sessions],
    }


def _writer_json(writer: Writer) -> WriterJson:
    return {
        "sessionId": writer.stored.session.id,
        "position": writer.position,
        "at": iso(writer.at),
        "tool": writer.tool,
        "evidence": writer.evidence,
        "path": writer.path or None,
        "copies": list(writer.copies),
    }


def _session_json(session: BlamedSession) -> BlamedSessionJson:
    from .sessions import session_json

    return {
        **session_json(session.stored),
        "lines": session.lines,
        "position": session.writer.position,
        "at": iso(session.writer.at),
        "askedPosition": session.asked_at,
        "asked": session.asked or None,
    }


def blame_answer_json(
    found: Blame, refreshed: IndexReport | None = None, current: Sequence[str] = ()
) -> BlameAnswerJson:
    """Return the JSON value of an answer as agents get it: its sessions with their lines, within few bytes.

    :param current: ids of the caller's own sessions.
    """
    return {
        "schemaVersion": SCHEMA_VERSION,
        "about": found.name + _lines_asked(found),
        "total": found.total,
        "unknown": found.unknown,
        "noted": found.noted,
        "withheld": found.withheld,
        "truncated": found.is_truncated,
        "hints": hints(found),
        "currentSessions": list(current),
        "index": index_json(refreshed, found.freshness),
        "sessions": [_brief_json(found, session) for session in found.sessions],
    }


def _brief_json(found: Blame, session: BlamedSession) -> BriefBlamedJson:
    own, writer = session.stored.session, session.writer
    return {
        "session": own.id,
        "title": session_name(session.stored),
        "agent": own.agent,
        "owner": own.owner or None,
        "at": writer.position,
        "when": iso(writer.at),
        "tool": writer.tool,
        "evidence": writer.evidence,
        "lines": _ranges(_runs(found, session)),
        "count": session.lines,
        "askedAt": session.asked_at,
        "asked": shortened(" ".join(session.asked.split()), PROMPT) or None,
    }


def hints(found: Blame) -> list[str]:
    """Return what makes an answer uncertain, and what it could not see, a sentence each."""
    notes = []
    if not found.sessions and not found.noted:
        if found.edits:
            notes.append(f"{count(found.edits, 'change')} of this file known, none with the text of these lines")
        else:
            notes.append("no session is known to have changed this file")
    if found.is_truncated:
        notes.append("too much to compare: older calls or some of the lines were left out; ask about fewer lines")
    if found.withheld:
        notes.append(f"{count(found.withheld, 'session')} of this repository without visible text")
    return notes


def blame_text(
    found: Blame,
    *,
    abbreviate: Callable[[str], str],
    refreshed: IndexReport | None = None,
) -> str:
    """Return an answer as text: how many lines are known, then each session with its lines and what was asked.

    :param abbreviate: shortens a session id as far as it stays unique.
    """
    from .notes import about_refresh

    lines = [_headline(found)]
    if found.first == found.last:
        lines += ["", f"  {shortened(one_line(found.text[0].strip()), LINE)}"]
    for session in found.sessions:
        lines += ["", *_session_lines(found, session, abbreviate)]
    notes = [f"{note[0].upper()}{note[1:]}" for note in hints(found)]
    if rest := found.total - found.offset - len(found.sessions):
        notes.append(f"… and {count(rest, 'more session')}: --limit {found.total}")
    if found.sessions and found.unknown:
        notes.append(f"No session is known for {_ranges(_unknown(found))}")
    notes += [f"Noted by git-ai: {one_line(who)}, {_ranges(runs)}" for who, runs in _noted(found).items()]
    if found.former:
        notes.append(f"Formerly {', '.join(map(one_line, found.former))}")
    notes += about_refresh(refreshed)
    return with_notes(lines, notes)


def shown_ids(found: Blame) -> Iterator[str]:
    """Yield the id of each session that the text of an answer names."""
    for session in found.sessions:
        yield session.stored.session.id
    for run in found.runs if found.first == found.last else ():
        for writer in run.writers:
            yield writer.stored.session.id


def _headline(found: Blame) -> str:
    where = one_line(found.name) + _lines_asked(found)
    written = found.known
    if not written:
        return f"{where}: no session is known that wrote {'it' if found.first == found.last else 'any of it'}"
    if found.first == found.last:
        return f"{where}: written in 1 session"
    counted = written + found.unknown + found.noted
    share = "all" if counted == written else f"{written} of"
    return f"{where}: {share} {count(counted, 'line')} written in {count(found.total, 'session')}"


def _session_lines(found: Blame, session: BlamedSession, abbreviate: Callable[[str], str]) -> Iterator[str]:
    """Yield the lines about one session."""
    own, writer = session.stored.session, session.writer
    short = abbreviate(own.id)
    at = short if writer.position is None else f"{short}:{writer.position}"
    yield f"  {one_line(at)} ({session_name(session.stored)}) - {day(writer.at or own.modified)}"
    parts = [place(own.cwd), one_line(own.agent)]
    parts += [one_line(own.owner)] if own.owner else []
    parts += [one_line(writer.tool)] if writer.tool else []
    parts += [one_line(own.kind or "")] if own.kind not in ("interactive", None) else []
    if writer.evidence in EVIDENCE:
        parts.append(EVIDENCE[writer.evidence] + (f" ({one_line(writer.path)})" if writer.path else ""))
    if writer.copies:
        copies = len(writer.copies)
        parts.append(f"also in {count(copies, 'copy')}")
    yield f"    {' · '.join(parts)}"
    if found.first != found.last:
        yield f"    {_ranges(_runs(found, session))}"
    else:
        others = [abbreviate(one.stored.session.id) for run in found.runs for one in run.writers[1:]]
        if others:
            yield f"    the same text also in {', '.join(dict.fromkeys(map(one_line, others)))}"
    if session.asked_at is not None:
        asked = shortened(one_line(" ".join(session.asked.split())), PROMPT)
        yield f'    asked at {one_line(short)}:{session.asked_at}: "{asked}"'


def _lines_asked(found: Blame) -> str:
    """Return what stands behind the name of a file: the lines that are asked about, "" for all."""
    if found.first == found.last:
        return f":{found.first}"
    return "" if (found.first, found.last) == (1, found.line_count) else f":{found.first}-{found.last}"


def _runs(found: Blame, session: BlamedSession) -> list[tuple[int, int]]:
    number = session.stored.number
    return [(run.first, run.last) for run in found.runs if run.writers and run.writers[0].stored.number == number]


def _unknown(found: Blame) -> list[tuple[int, int]]:
    """Return the ranges of lines of which nothing is known, without blank lines around them."""
    ranges = []
    for run in found.runs:
        lines = [n for n in range(run.first, run.last + 1) if found.text[n - found.first].strip()]
        if lines and not run.writers and not run.noted:
            ranges.append((lines[0], lines[-1]))
    return ranges


def _noted(found: Blame) -> dict[str, list[tuple[int, int]]]:
    noted: dict[str, list[tuple[int, int]]] = {}
    for run in found.runs:
        if run.noted:
            noted.setdefault(run.noted, []).append((run.first, run.last))
    return noted


def _ranges(runs: Sequence[tuple[int, int]]) -> str:
    """Return ranges of lines in words, neighbours joined: `lines 3-8, 12 (7 lines)`."""
    joined: list[list[int]] = []
    for first, last in runs:
        if joined and first == joined[-1][1] + 1:
            joined[-1][1] = last
        else:
            joined.append([first, last])
    texts = [str(first) if first == last else f"{first}-{last}" for first, last in joined]
    more = f" and {count(len(texts) - RANGES, 'more range')}" if len(texts) > RANGES else ""
    is_one = len(joined) == 1 and joined[0][0] == joined[0][1]
    return f"line{'' if is_one else 's'} {', '.join(texts[:RANGES])}{more}"
