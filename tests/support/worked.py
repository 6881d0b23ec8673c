"""Sessions in which somebody works: prompts, commands with their output, edits, in Sesame's own format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

#: One step of a session: a prompt, what the agent says, a command with its output, an edit.
Step = dict[str, Any]
#: When the first session begins; each further one a day later.
START = datetime(2026, 9, 1, 9, 0, tzinfo=UTC)


def asks(text: str) -> Step:
    """Return a prompt."""
    return {"role": "user", "text": text}


def says(text: str) -> Step:
    """Return what the agent says."""
    return {"role": "assistant", "text": text}


def runs(command: str, output: str | None = "", *, fails: bool = False, tool: str = "bash", about: str = "") -> Step:
    """Return a command with its output; None for a call that was not answered."""
    arguments = {"command": command} | ({"description": about} if about else {})
    return {"call": tool, "arguments": arguments, "output": output, "fails": fails}


def edits(path: str, old: str, new: str) -> Step:
    """Return an edit of a file."""
    return {"call": "edit", "arguments": {"path": path, "old": old, "new": new}, "output": f"updated {path}"}


def write(place: Path, name: str, steps: Sequence[Step], *, day: int = 0, **header: str) -> Path:
    """Write a session file.

    :param day: days after `START`.
    :param header: fields of the session: `cwd`, `kind`, `repository`.
    """
    at = START + timedelta(days=day)
    records: list[Step] = [{"type": "sesame-session", "version": 1, "id": name, "agent": "owl", **header}]
    for number, step in enumerate(steps):
        at += timedelta(seconds=10)
        common = {"type": "message", "timestamp": at.isoformat().replace("+00:00", "Z")}
        if "call" not in step:
            records.append({**common, "id": f"m{number}", **step})
            continue
        call = {"id": f"c{number}", "name": step["call"], "arguments": step["arguments"]}
        records.append({**common, "id": f"m{number}", "role": "assistant", "text": "", "toolCalls": [call]})
        if step["output"]:
            result = {"callId": call["id"], "name": step["call"], "text": step["output"]}
            result |= {"isError": step.get("fails", False)}
            records.append({**common, "id": f"r{number}", "role": "tool", "text": "", "toolResults": [result]})
    place.mkdir(parents=True, exist_ok=True)
    file = place / f"{name}.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return file
