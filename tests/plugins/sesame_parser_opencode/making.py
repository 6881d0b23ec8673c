"""Made-up sessions in each of OpenCode's four layouts, from one description, and what is read of them."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sesame_core import Message, Session, Skipped
from sesame_parser_opencode.parser import OpenCodeParser

#: Milliseconds since 1970 of the first message.
START = 1_800_000_000_000

Part = Mapping[str, Any]
#: A message: its data, and its parts.
Said = tuple[dict[str, Any], Sequence[Part]]

_OLD = """
CREATE TABLE IF NOT EXISTS session(id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, slug TEXT, directory TEXT,
  title TEXT, version TEXT, revert TEXT, model TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE IF NOT EXISTS message(id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER,
  data TEXT);
CREATE TABLE IF NOT EXISTS part(id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER,
  time_updated INTEGER, data TEXT);
CREATE TABLE IF NOT EXISTS session_message(id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER,
  time_created INTEGER, time_updated INTEGER, data TEXT);
CREATE TABLE IF NOT EXISTS event(id TEXT PRIMARY KEY, data TEXT);
CREATE INDEX IF NOT EXISTS part_session_idx ON part(session_id);
CREATE INDEX IF NOT EXISTS part_message_id_id_idx ON part(message_id, id);
CREATE INDEX IF NOT EXISTS message_session_time_created_id_idx ON message(session_id, time_created, id);
"""
_NEW = """
CREATE TABLE IF NOT EXISTS session_v2(id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, fork_session_id TEXT,
  slug TEXT, directory TEXT, title TEXT, version TEXT, revert TEXT, agent TEXT, model TEXT, time_created INTEGER,
  time_updated INTEGER);
CREATE TABLE IF NOT EXISTS session_message(id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER,
  time_created INTEGER, time_updated INTEGER, data TEXT);
CREATE UNIQUE INDEX IF NOT EXISTS session_message_session_seq_idx ON session_message(session_id, seq);
"""


class Layout:
    """Writes sessions in one layout, and returns the path of the unit of each."""

    def __init__(self, place: Path) -> None:
        self.place = place / "opencode"
        self.place.mkdir(exist_ok=True)

    def write(self, id: str, messages: Iterable[Said], **facts: Any) -> Path:
        raise NotImplementedError

    def close(self) -> None:
        """End the program."""


class OldDatabase(Layout):
    """OpenCode 1.2 to 1.18, running: what it has written is in the log."""

    def __init__(self, place: Path, name: str = "opencode.db") -> None:
        super().__init__(place)
        self.path = self.place / name
        self.db = sqlite3.connect(self.path, isolation_level=None)
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute("PRAGMA wal_autocheckpoint = 0")
        self.db.executescript(_OLD)

    def write(self, id: str, messages: Iterable[Said], **facts: Any) -> Path:
        row = {"directory": "/w/app", "title": "", "time_created": START, "time_updated": START, **facts}
        _insert(self.db, "session", {"id": id, **{name: _text(value) for name, value in row.items()}})
        for n, (data, parts) in enumerate(messages):
            message = {"id": data.get("id", f"msg_{id}_{n:03d}"), "session_id": id}
            at = data.get("at", START + n)
            data = {"time": {"created": at}, **{key: value for key, value in data.items() if key not in ("id", "at")}}
            _insert(self.db, "message", {**message, **_times(at), "data": json.dumps(data)})
            for k, part in enumerate(parts):
                row = {"id": f"prt_{message['id']}_{k:03d}", "message_id": message["id"], "session_id": id}
                _insert(self.db, "part", {**row, **_times(at), "data": json.dumps(part)})
        return self.path / id

    def close(self) -> None:
        self.db.close()


class NewDatabase(Layout):
    """OpenCode 2."""

    def __init__(self, place: Path, name: str = "opencode.db") -> None:
        super().__init__(place)
        self.path = self.place / name
        self.db = sqlite3.connect(self.path, isolation_level=None)
        self.db.executescript(_NEW)

    def write(self, id: str, messages: Iterable[Said], **facts: Any) -> Path:
        """Write messages, converted as OpenCode 2 converts those of 1.x."""
        row = {"directory": "/w/app", "title": "", "time_created": START, "time_updated": START, **facts}
        _insert(self.db, "session_v2", {"id": id, **{name: _text(value) for name, value in row.items()}})
        for n, (data, parts) in enumerate(messages):
            self.say(id, n, *_converted(data, parts))
        return self.path / id

    def say(self, id: str, seq: int, type: str, data: Mapping[str, Any]) -> None:
        """Write a message as it is."""
        row = {"id": f"msg_{id}_{seq:03d}", "session_id": id, "type": type, "seq": seq, **_times(START + seq)}
        _insert(self.db, "session_message", {**row, "data": json.dumps({"time": {"created": START + seq}, **data})})

    def close(self) -> None:
        self.db.close()


class JsonTree(Layout):
    """OpenCode 0.6 to 1.1."""

    def write(self, id: str, messages: Iterable[Said], **facts: Any) -> Path:
        storage = self.place / "storage"
        file = storage / "session" / "p1" / f"{id}.json"
        _put(file, _session(id, facts))
        (storage / "message").mkdir(exist_ok=True)
        for n, (data, parts) in enumerate(messages):
            message = data.get("id", f"msg_{id}_{n:03d}")
            at = data.get("at", START + n)
            data = {key: value for key, value in data.items() if key != "at"}
            _put(storage / "message" / id / f"{message}.json", _with_ids(data, at, id=message, sessionID=id))
            for k, part in enumerate(parts):
                name = f"prt_{message}_{k:03d}"
                _put(storage / "part" / message / f"{name}.json", {**part, "id": name, "messageID": message})
        return file


class OldestTree(Layout):
    """OpenCode up to 0.5."""

    def write(self, id: str, messages: Iterable[Said], **facts: Any) -> Path:
        storage = self.place / "project" / "w-app" / "storage" / "session"
        file = storage / "info" / f"{id}.json"
        session = _session(id, facts)
        del session["directory"]
        _put(file, session)
        (storage / "message").mkdir(exist_ok=True)
        for n, (data, parts) in enumerate(messages):
            message = data.get("id", f"msg_{id}_{n:03d}")
            path = {"path": {"cwd": "/w/app", "root": "/w/app"}} if data.get("role") == "assistant" else {}
            at = data.get("at", START + n)
            data = {key: value for key, value in data.items() if key != "at"}
            _put(storage / "message" / id / f"{message}.json", _with_ids({**data, **path}, at, id=message))
            for k, part in enumerate(parts):
                name = f"prt_{message}_{k:03d}"
                _put(storage / "part" / id / message / f"{name}.json", {**part, "id": name, "messageID": message})
        return file


#: All layouts, by name; a test that takes the fixture `layout` runs on each.
LAYOUTS: dict[str, Callable[[Path], Layout]] = {
    "0.5": OldestTree,
    "1.1": JsonTree,
    "1.18": OldDatabase,
    "2": NewDatabase,
}


class Reading:
    """What is read of one session."""

    def __init__(self, path: Path, **options: Any) -> None:
        events = list(OpenCodeParser(**options).parse(path))
        self.session = next(event for event in reversed(events) if isinstance(event, Session))
        self.messages = [event for event in events if isinstance(event, Message)]
        self.skipped = [event.reason for event in events if isinstance(event, Skipped)]
        self.lost = [event.reason for event in events if isinstance(event, Skipped) and event.is_loss]
        self.calls = [call for message in self.messages for call in message.tool_calls]
        self.results = [result for message in self.messages for result in message.tool_results]

    def said(self, role: str) -> list[str]:
        """Return the texts of a role."""
        return [message.text for message in self.messages if message.role == role and message.text]


def asked(*texts: str, **data: Any) -> Said:
    """Return a prompt."""
    return {"role": "user", **data}, [text(one) for one in texts]


def answered(*parts: str | Part, **data: Any) -> Said:
    """Return an answer."""
    return {"role": "assistant", "modelID": "m1", "providerID": "p", **data}, [
        text(part) if isinstance(part, str) else part for part in parts
    ]


def text(content: str, **more: Any) -> Part:
    """Return a part with text."""
    return {"type": "text", "text": content, **more}


def tool(name: str, input: Any, output: str | None = None, **state: Any) -> Part:
    """Return a part with a call."""
    given = {"status": "completed", "input": input, **({} if output is None else {"output": output}), **state}
    return {"type": "tool", "tool": name, "callID": state.pop("call", f"call_{name}"), "state": given}


def _converted(data: Mapping[str, Any], parts: Sequence[Part]) -> tuple[str, dict[str, Any]]:
    if data["role"] == "user":
        texts = [part["text"] for part in parts if part["type"] == "text" and not part.get("synthetic")]
        files = [{"name": part["filename"]} for part in parts if part["type"] == "file"]
        return "user", {"text": "\n\n".join(texts), "files": files}
    content = []
    for part in parts:
        if part["type"] in ("text", "reasoning"):
            content.append({key: part[key] for key in ("type", "text")})
        elif part["type"] == "tool":
            state = dict(part["state"])
            output = state.pop("output", None)
            if output is not None:
                state["content"] = [{"type": "text", "text": output}]
            if isinstance(state.get("error"), str):
                state["error"] = {"type": "tool.execution", "message": state["error"]}
            content.append({"type": "tool", "id": part["callID"], "name": part["tool"], "state": state})
    if data.get("summary") is True:
        return "compaction", {"text": "\n\n".join(part["text"] for part in content)}
    model = {"id": data.get("modelID"), "providerID": data.get("providerID")}
    return "assistant", {"model": model, "content": content, **({"error": data["error"]} if "error" in data else {})}


def _session(id: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    row = {"id": id, "directory": "/w/app", "title": "", "time": {"created": START, "updated": START}, **facts}
    row["parentID"] = row.pop("parent_id", None)
    return row


def _with_ids(data: Mapping[str, Any], at: int, **ids: str) -> dict[str, Any]:
    return {"time": {"created": at}, **data, **ids}


def _put(file: Path, value: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value, indent=2), encoding="utf-8")


def _insert(db: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> None:
    marks = ", ".join("?" * len(row))
    db.execute(f"INSERT INTO {table}({', '.join(row)}) VALUES ({marks})", tuple(row.values()))


def _times(at: int) -> dict[str, int]:
    return {"time_created": at, "time_updated": at}


def _text(value: object) -> object:
    return json.dumps(value) if isinstance(value, dict) else value


def touched(path: Path, days: float) -> None:
    """Make everything below a directory look older."""
    for directory, _, files in os.walk(path, topdown=False):
        for name in (*files, "."):
            file = Path(directory, name)
            time = file.stat().st_mtime - days * 86_400
            os.utime(file, (time, time))
