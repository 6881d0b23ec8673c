"""What git-ai noted about lines when they were committed: `refs/notes/ai`, in the form of the Git AI Standard 3.0.0.

A note names, for each file of a commit, the session of an agent or the person that wrote some of its lines.  `git
blame` says from which commit a line is, and which number it had there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from .git import Git

#: The namespace of the notes.
REF = "refs/notes/ai"
#: Most commits whose notes are read.
COMMITS = 500
_BLAMED = re.compile(r"([0-9a-f]{40,64}) (\d+) (\d+)(?: \d+)?")
_NOBODY = re.compile(r"0+")


class Noted(NamedTuple):
    """Who wrote a line."""

    #: The agent as git-ai calls it, and the id of the session there; "" of a person.
    tool: str
    session: str
    #: The person: who wrote it, or directed the agent; "" if it is not noted.
    author: str


def noted(git: Git, name: str, first: int, last: int) -> dict[int, Noted]:
    """Return by number of a line who wrote it, of those that a note is about; most repositories have none.

    :param name: of the file in its repository.
    """
    if not git.output("for-each-ref", "--format=%(refname)", REF).strip():
        return {}
    lines = list(_blamed(git.output("blame", "--porcelain", "-w", "-L", f"{first},{last}", "--", name).split("\n")))
    commits = list(dict.fromkeys(commit for commit, *_ in lines))[:COMMITS]
    notes = _notes(git, commits) if commits else {}
    found: dict[int, Noted] = {}
    for commit, path, number, line in lines:
        if (who := notes.get(commit, {}).get(path, {}).get(number)) is not None:
            found[line] = who
    return found


def _blamed(output: Sequence[str]) -> Iterator[tuple[str, str, int, int]]:
    """Yield for each line its commit, its file and its number there, and its number now."""
    files: dict[str, str] = {}
    commit, number, line = "", 0, 0
    for row in output:
        if row.startswith("\t"):
            if not _NOBODY.fullmatch(commit):
                yield commit, files.get(commit, ""), number, line
        elif match := _BLAMED.fullmatch(row):
            commit, number, line = match[1], int(match[2]), int(match[3])
        elif row.startswith("filename "):
            files[commit] = row.removeprefix("filename ")


def _notes(git: Git, commits: Sequence[str]) -> dict[str, dict[str, dict[int, Noted]]]:
    """Return by commit, file and number of a line who wrote it."""
    output = git.output("log", "--no-walk=unsorted", f"--notes={REF}", "--format=%x01%H%x02%N", *commits)
    found = {}
    for one in output.split("\x01")[1:]:
        commit, _, note = one.partition("\x02")
        found[commit] = attested(note.strip("\n"))
    return found


def attested(note: str) -> dict[str, dict[int, Noted]]:
    """Return by file and number of a line who wrote it, as a note says; nothing for one that is not valid."""
    entries, divider, metadata = note.partition("\n---\n")
    try:
        about = json.loads(metadata) if divider else None
    except ValueError:
        return {}
    if not isinstance(about, dict):
        return {}
    found: dict[str, dict[int, Noted]] = {}
    path = ""
    for row in entries.split("\n"):
        if not row.startswith("  "):
            path = row[1:-1] if row.startswith('"') and row.endswith('"') else row
            continue
        mark, _, ranges = row.strip().partition(" ")
        if (who := _who(mark, about)) is not None:
            for number in _numbers(ranges):
                found.setdefault(path, {})[number] = who
    return found


def _who(mark: str, about: dict[str, Any]) -> Noted | None:
    """Return what the metadata of a note says of the key of an entry."""
    if mark.startswith("h_"):
        person = _record(about, "humans", mark)
        return Noted("", "", str(person.get("author", ""))) if person else None
    record = _record(about, "sessions", mark.partition("::")[0]) if mark.startswith("s_") else None
    record = record or _record(about, "prompts", mark)
    agent = record.get("agent_id") if record else None
    if record is None or not isinstance(agent, dict):
        return None
    return Noted(str(agent.get("tool", "")), str(agent.get("id", "")), str(record.get("human_author") or ""))


def _record(about: dict[str, Any], table: str, mark: str) -> dict[str, Any] | None:
    records = about.get(table)
    found = records.get(mark) if isinstance(records, dict) else None
    return found if isinstance(found, dict) else None


def _numbers(ranges: str) -> Iterator[int]:
    for one in ranges.split(","):
        first, _, last = one.partition("-")
        if first.isdigit() and (not last or last.isdigit()):
            # A note is no more than its file: a range that ends far beyond any is not read to its end.
            yield from range(int(first), min(int(last or first), int(first) + 1_000_000) + 1)
