"""The pieces of an exported session, the same in each format: who speaks, what a call did, in a line and whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...dataclass import dataclass
from ...text.readable import readable
from ..calls import call_lines
from ..text import count, home, minute, one_line, printable, session_name, shortened

if TYPE_CHECKING:
    from ...types.export import Export, Part
    from ...types.index import Chunk

#: Characters of the line that stands for a call or an output.
LINE = 160
#: What HTML does not allow in a text, however it is written (Unicode's noncharacters).
_NO_CHARACTER = re.compile(
    "[\ufdd0-\ufdef"
    + "".join(f"{chr(plane | 0xFFFE)}{chr(plane | 0xFFFF)}" for plane in range(0, 0x110000, 0x10000))
    + "]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One chunk, ready to be shown."""

    position: int
    #: "message", "call", "output" or "note": what is folded or small is not a message.
    kind: str
    #: Who speaks, or the tool.
    speaker: str
    #: The day and minute, and the moment as HTML writes it.
    time: str | None
    moment: str | None
    is_error: bool
    is_abandoned: bool
    #: Of a call and an output, the line that stands for it.
    line: str
    #: The text; of a call and an output, whole.
    text: str
    #: Of a call with an edit, the side of each line of the text: "-", "+" or "".
    sides: tuple[str, ...] = ()
    #: Characters that are not in the index.
    cut: int = 0


def pieces(part: Part) -> Iterator[Piece]:
    """Yield the pieces of a session."""
    abandoned = set(part.stored.session.abandoned or ())
    for chunk in part.chunks:
        line, text, sides = _shown(chunk)
        yield Piece(
            position=chunk.seq,
            kind=_kind(chunk),
            speaker=_speaker(chunk),
            time=minute(chunk.timestamp),
            moment=chunk.timestamp.isoformat(timespec="seconds") if chunk.timestamp else None,
            is_error=chunk.is_error,
            is_abandoned=chunk.segment in abandoned,
            line=line,
            text=text,
            sides=sides,
            cut=chunk.cut,
        )


def title(part: Part) -> str:
    """Return a session's name."""
    return safe(session_name(part.stored))


def facts(part: Part, export: Export) -> list[tuple[str, str]]:
    """Return what is said of a session above it: names and values."""
    session, notes = part.stored.session, part.stored.session.notes
    described = notes.description if notes else ""
    found = [
        ("Directory", home(one_line(session.cwd or ""))),
        ("Agent", session.agent + (f", {session.model}" if session.model else "")),
        ("Branch", session.git_branch or ""),
        ("From", minute(session.created) or ""),
        ("To", minute(session.modified) or ""),
        ("Messages", str(session.message_count)),
        ("Session", session.id),
        ("About", described),
    ]
    if part is export.parts[0]:
        found.append(("Subagents", str(len(export.parts) - 1) if len(export.parts) > 1 else ""))
        found.append(("Secrets", "replaced with placeholders" if export.is_redacted else "not replaced"))
    return [(name, safe(one_line(value))) for name, value in found if value]


def safe(text: str) -> str:
    """Return a text without characters that control a terminal, or that a page must not have."""
    return _NO_CHARACTER.sub("\ufffd", printable(text))


def _kind(chunk: Chunk) -> str:
    if chunk.kind in ("tool_call", "tool_result"):
        return "call" if chunk.kind == "tool_call" else "output"
    return "message" if chunk.kind == "message" and chunk.role in ("user", "assistant") else "note"


def _speaker(chunk: Chunk) -> str:
    if chunk.kind in ("tool_call", "tool_result"):
        return safe(one_line(chunk.tool_name or "tool"))
    return safe(one_line(chunk.source_type if chunk.role == "metadata" else chunk.role or "system"))


def _shown(chunk: Chunk) -> tuple[str, str, tuple[str, ...]]:
    """Return the line that stands for a chunk, its text, and the sides of the lines of that if it has an edit."""
    text = safe(chunk.text)
    if chunk.kind == "tool_call":
        shown = call_lines(text)
        first, rest = shown[0].text, shown[1:]
        body = rest if rest and len(first) <= LINE else shown
        is_edit = any(line.side for line in rest)
        if rest and not is_edit and not first.startswith("$ ") and " " not in first:
            first += " " + " ".join(rest[0].text.split())
        sides = tuple(line.side for line in body) if is_edit else ()
        return shortened(one_line(first), LINE), "\n".join(line.text for line in body), sides
    if chunk.kind == "message" and chunk.role in ("user", "assistant"):
        return "", text, ()
    text = readable(text, chunk.kind).strip("\n")
    lines = text.split("\n")
    more = f" … {count(len(lines), 'line')}" if len(lines) > 1 else ""
    first = next((line for line in lines if line.strip()), "")
    return shortened(" ".join(one_line(first).split()), LINE) + more, text, ()
