"""The pieces of an exported session, the same in each format: who speaks, what a call did, in a line and whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...dataclass import dataclass
from ...text.readable import readable
from ..screen.edits import diff_of
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
#: A patch in a call: its lines start as those of a diff do.
_PATCH = re.compile(r"^\s*(?:- )?patch:", re.MULTILINE)


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
    #: Whether the lines of the text are those of a diff.
    is_diff: bool = False
    #: Characters that are not in the index.
    cut: int = 0


def pieces(part: Part) -> Iterator[Piece]:
    """Yield the pieces of a session."""
    abandoned = set(part.stored.session.abandoned or ())
    for chunk in part.chunks:
        line, text, is_diff = _shown(chunk)
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
            is_diff=is_diff,
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


def _shown(chunk: Chunk) -> tuple[str, str, bool]:
    """Return the line that stands for a chunk, its text, and whether that is a diff."""
    text = safe(chunk.text)
    if chunk.kind == "tool_call":
        before, diff = diff_of(text)
        shown = readable(before, chunk.kind)
        first, _, rest = shown.strip("\n").partition("\n")
        body = "\n".join([*([rest] if rest else []), *diff])
        if len(first) > LINE or not body:
            body = f"{first}\n{body}" if body else first
        if not diff and not first.startswith("$ ") and rest and " " not in first:
            first += " " + " ".join(rest.partition("\n")[0].split())
        return shortened(one_line(first), LINE), body, bool(diff) or _PATCH.search(text) is not None
    if chunk.kind == "message" and chunk.role in ("user", "assistant"):
        return "", text, False
    text = readable(text, chunk.kind).strip("\n")
    lines = text.split("\n")
    more = f" … {count(len(lines), 'line')}" if len(lines) > 1 else ""
    first = next((line for line in lines if line.strip()), "")
    return shortened(" ".join(one_line(first).split()), LINE) + more, text, False
