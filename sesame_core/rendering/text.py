"""Strings that are safe to print, and the formats of numbers and times."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ..search.listing import display_name
from ..text.folding import printable as printable
from ..text.folding import shortened as shortened
from ..text.folding import spaced
from ..types.transcript import SHORTENED

if TYPE_CHECKING:
    from ..types.index import StoredSession
    from ..types.query import Filters

#: Most characters of a query that an answer repeats, as a value of JSON and in the line above the results.
QUERY, QUERY_LINE = 1_000, 100
#: Most characters of a session's name.
NAME = 120
#: Most characters of a word and of a hint, and most words that are listed.
WORD, HINT, WORDS = 100, 400, 32
#: Counts changes of meaning of the JSON output; new fields do not change it.
SCHEMA_VERSION = 1
#: Ends of nouns, and of their plurals.
_PLURALS = ((r"\bperson$", "people"), (r"(?<![aeiou])y$", "ies"), (r"(?<=x)$", "es"), (r"$", "s"))
#: Each unit of an age, with its seconds.
_UNITS = (("y", 31_557_600), ("mo", 2_629_800), ("w", 604_800), ("d", 86_400), ("h", 3600), ("min", 60))


def some_words(words: Sequence[str]) -> list[str]:
    """Return the words that an answer lists: of many the first, of long ones the beginning."""
    return [shortened(word, WORD) for word in words[:WORDS]]


def one_line(text: str) -> str:
    """Return a string as a part of a line, safe to print: line feeds and tabs become spaces."""
    safe = printable(text)
    return safe if safe.isprintable() else re.sub(r"\s", " ", safe)


def as_json(value: Any) -> str:
    """Return a value as JSON, indented by two spaces, with non-ASCII characters as they are."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def size(count: int) -> str:
    """Return a number of bytes with its unit, in powers of 1,000."""
    value, units = float(count), iter(("B", "kB", "MB", "GB"))
    unit = next(units)
    while value >= 1000 and unit != "GB":
        value, unit = value / 1000, next(units)
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"


def count(number: int, noun: str) -> str:
    """Return a number with its noun: 1 copy, 2 copies, 3 days, 2 fixes, 5 more people."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {next(re.sub(end, many, noun) for end, many in _PLURALS if re.search(end, noun))}"


def page(shown: int, total: str, *, offset: int, first: str) -> str:
    """Return which results of how many a page has: `10 best of 452 sessions`, `Results 11 to 20 of 452 sessions`.

    :param total: the number of all results, with their noun.
    :param offset: number of results before the page.
    :param first: name of the results of the first page: `10 best`.
    """
    if not offset:
        return f"{first} of {total}"
    return (f"Results {offset + 1} to {offset + shown}" if shown > 1 else f"Result {offset + 1}") + f" of {total}"


def session_name(stored: StoredSession) -> str:
    """Return a session's title, or the one made from its prompts, on one line, safe to print; a star before it."""
    star = "★ " if stored.session.notes and stored.session.notes.is_starred else ""
    name = printable(" ".join((display_name(stored.session) or "Unnamed").split()))
    if len(name) <= NAME:
        return star + name
    from ..text.titles import cut

    return star + cut(name, NAME)


def metadata_lines(stored: StoredSession) -> list[str]:
    """Return a session's description, tags and note, a line each."""
    notes = stored.session.notes
    if notes is None:
        return []
    texts = (notes.description, ", ".join(notes.tags), notes.note)
    description, tags, note = map(spaced, texts)
    lines = (description, f"tags: {tags}" if tags else "", f"note: {note}" if note else "")
    return [f"  {text}" for text in lines if text]


def repeats(text: str, name: str) -> bool:
    """Return whether a text says no more than a session's name, which is mostly made from the first prompt."""
    return text.rstrip("…").casefold() in name.casefold()


def place(cwd: str | None) -> str:
    """Return a session's directory on one line, safe to print."""
    return home(one_line(cwd)) if cwd else "(no directory)"


def project(cwd: str | None) -> str:
    """Return the last component of a session's directory, on one line, safe to print; "" without a directory."""
    return one_line(re.split(r"[/\\]", cwd.rstrip("/\\"))[-1]) if cwd else ""


def home(path: str) -> str:
    """Return a path with `~` for the home directory."""
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if path == home or path.startswith(home + os.sep) else path


def iso(moment: datetime | None) -> str | None:
    """Return a time in ISO 8601, UTC, with milliseconds and `Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z") if moment else None


def day(moment: datetime | None) -> str:
    """Return the day of a time in the local time zone."""
    return f"{moment.astimezone():%Y-%m-%d}" if moment else "undated"


def days(first: datetime | None, last: datetime | None) -> str:
    """Return the days from one time to another in the local time zone; one that is not known is left out."""
    known = list(dict.fromkeys(day(moment) for moment in (first, last) if moment))
    return " to ".join(known) or day(None)


def minute(moment: datetime | None) -> str | None:
    """Return a time to the minute in the local time zone."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}" if moment else None


def ago(moment: datetime, now: datetime | None = None) -> tuple[int, str] | None:
    """Return how long ago a time was, in its largest unit: `(5, "mo")`; None for less than a minute, and the future.

    :param now: the present time when None.
    """
    seconds = ((now or datetime.now(UTC)) - moment).total_seconds()
    return next(((int(seconds // of), unit) for unit, of in _UNITS if seconds >= of), None)


def interval(filters: Filters | None) -> list[str]:
    """Return a line that says which moments the dates of filters were read as; none if they have no date."""
    parts = []
    if filters and filters.after:
        parts.append(f"since {minute(filters.after)}")
    if filters and filters.before:
        parts.append(f"until {minute(filters.before)}")
    return [f"Only what was said {' '.join(parts)}."] if parts else []


def about_headless(left_out: Mapping[str, int], *, least: str = "", names_commands: bool = True) -> list[str]:
    """Return the note about headless runs that an answer leaves out, if it does.

    :param left_out: numbers of sessions by reason.
    :param least: stands before a number that is a lower bound.
    :param names_commands: the note names the option that shows them.
    """
    if not (headless := left_out.get("headless")):
        return []
    then = f" (show {'it' if headless == 1 else 'them'} with --all-kinds)" if names_commands else ""
    return [f"Left out: {least}{count(headless, 'headless run')}{then}"]


def with_notes(lines: Sequence[str], notes: Sequence[str]) -> str:
    """Return an answer as text: its lines, and its notes below them, after a blank line."""
    return "\n".join([*lines, *([""] if notes else []), *notes])


def skipped_lines(skipped: Mapping[str, int]) -> list[str]:
    """Return the lines about records that were left out, and about those of which a part was.

    :param skipped: numbers of records by reason.
    """
    left_out = ", ".join(f"{number} {reason}" for reason, number in sorted(skipped.items()) if reason != SHORTENED)
    lines = [f"Skipped records: {left_out}"] if left_out else []
    if shortened := skipped.get(SHORTENED):
        lines.append(f"Shortened records: {shortened}, too long to be indexed whole")
    return lines
