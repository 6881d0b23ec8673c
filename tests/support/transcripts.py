"""Small session files as pi and Claude Code write them, and their indexed content, for tests."""

from __future__ import annotations

import json
import os
import uuid
import zlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sesame_core import Chunk, Selection, Source
from sesame_core.api.sesame import Sesame
from sesame_core.types.answer import Answer

Record = dict[str, Any]

#: When the first record of a session was written, unless a test says otherwise; each next one a second later.
START = datetime(2026, 8, 1, 10, 0, tzinfo=UTC)

CLAUDE_ID = "11111111-1111-4111-8111-111111111111"
OTHER_CLAUDE_ID = "22222222-2222-4222-8222-222222222222"


def as_lines(records: Iterable[Record | bytes]) -> bytes:
    """Return records as lines; bytes stay what they are."""
    return b"".join(r if isinstance(r, bytes) else json.dumps(r).encode() + b"\n" for r in records)


def write(path: Path, *records: Record | bytes) -> Path:
    """Write a session file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(as_lines(records))
    return path


def append(path: Path, *records: Record | bytes) -> Path:
    """Append to a session file, a second after its last write (clocks of file systems are coarse)."""
    before = path.stat().st_mtime_ns
    with path.open("ab") as file:
        file.write(as_lines(records))
    os.utime(path, ns=(before + 10**9, before + 10**9))
    return path


def sources(home: Path) -> tuple[Source, Source]:
    """Return where Claude Code and pi keep their sessions."""
    return (
        Source(parser=Selection(name="claude-code"), path=home / ".claude" / "projects"),
        Source(parser=Selection(name="pi"), path=home / ".pi" / "agent" / "sessions"),
    )


def in_index(home: Path) -> Sesame:
    """Return Sesame over the sessions of both, all indexed."""
    sesame = Sesame(sources=sources(home))
    sesame.index()
    return sesame


class _Writer:
    """Writes the records of one session, one after the other."""

    def __init__(self, session: str, cwd: str, start: datetime) -> None:
        self.session = session
        self.cwd = cwd
        self._start = start
        self._count = 0

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _time(self, n: int) -> str:
        moment = self._start + timedelta(seconds=n)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Claude(_Writer):
    """A session of Claude Code."""

    def __init__(self, session: str = CLAUDE_ID, cwd: str = "/home/bo/fox", start: datetime = START) -> None:
        super().__init__(session, cwd, start)
        self.last: str | None = None

    @property
    def path(self) -> Path:
        """The path of Claude Code's file."""
        directory = "".join(c if c.isalnum() else "-" for c in self.cwd)
        return Path.home() / ".claude" / "projects" / directory / f"{self.session}.jsonl"

    def record(self, kind: str, **fields: Any) -> Record:
        n = self._next()
        made = {
            "parentUuid": self.last,
            "isSidechain": False,
            "cwd": self.cwd,
            "sessionId": self.session,
            "gitBranch": "main",
            "uuid": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self.session}{n}")),
            "timestamp": self._time(n),
            "type": kind,
            **fields,
        }
        self.last = made["uuid"]
        return made

    def user(self, content: Any, **fields: Any) -> Record:
        return self.record("user", message={"role": "user", "content": content}, **fields)

    def answer(self, *blocks: Any, id: str | None = None, **fields: Any) -> Record:
        content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
        name = id or f"msg_{self._count}"
        message = {"id": name, "role": "assistant", "model": "claude-fox-1", "content": content}
        return self.record("assistant", **{"message": message, "requestId": f"req_{name}", **fields})

    def call(self, name: str, call_id: str = "toolu_1", *, id: str | None = None, **arguments: Any) -> Record:
        return self.answer({"type": "tool_use", "id": call_id, "name": name, "input": arguments}, id=id)

    def result(self, content: Any, call_id: str = "toolu_1", **fields: Any) -> Record:
        return self.user([{"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}])

    def note(self, kind: str, **fields: Any) -> Record:
        """Return a record that is not part of the conversation: a title, a queue operation."""
        return {"type": kind, "sessionId": self.session, **fields}


class Pi(_Writer):
    """A session of pi."""

    def __init__(self, session: str = "019b0000-fox", cwd: str = "/home/bo/fox", start: datetime = START) -> None:
        super().__init__(session, cwd, start)
        self.last: str | None = None

    @property
    def root(self) -> Path:
        """The directory of pi's sessions."""
        return Path.home() / ".pi" / "agent" / "sessions"

    @property
    def path(self) -> Path:
        """The path of this session's file."""
        directory = f"--{self.cwd.strip('/').replace('/', '-')}--"
        return self.root / directory / f"2026-08-01T10-00-00-000Z_{self.session}.jsonl"

    def header(self, **fields: Any) -> Record:
        basic = {"type": "session", "version": 3, "id": self.session, "timestamp": self._time(0), "cwd": self.cwd}
        return {**basic, **fields}

    def entry(self, kind: str, **fields: Any) -> Record:
        n = self._next()
        entry_id = f"{zlib.crc32(f'{self.session}{n}'.encode()):08x}"
        made = {"type": kind, "id": entry_id, "parentId": self.last, "timestamp": self._time(n), **fields}
        self.last = entry_id
        return made

    def message(self, role: str, content: Any, **fields: Any) -> Record:
        return self.entry("message", message={"role": role, "content": content, **fields})

    def user(self, text: Any) -> Record:
        return self.message("user", text)

    def answer(self, *blocks: Any, **fields: Any) -> Record:
        content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
        return self.message("assistant", content, model="fox-1", **fields)

    def call(self, name: str, call_id: str = "call_1", **arguments: Any) -> Record:
        return self.answer({"type": "toolCall", "id": call_id, "name": name, "arguments": arguments})

    def result(self, text: str, name: str = "bash", call_id: str = "call_1", **fields: Any) -> Record:
        content = [{"type": "text", "text": text}]
        return self.message("toolResult", content, toolCallId=call_id, toolName=name, isError=False, **fields)


def pi_session(session: str, *texts: str, **where: Any) -> Path:
    """Write a pi session of these prompts, where pi would."""
    pi = Pi(session, **where)
    return write(pi.path, pi.header(), *(pi.user(text) for text in texts))


def library(root: Path, data: Path, *, parser: str) -> Sesame:
    """Return Sesame over one directory, with an index of its own."""
    return Sesame(sources=[Source(parser=Selection(name=parser), path=root)], data_dir=data)


def found(answer: Answer) -> list[str]:
    """Return the ids of the sessions found, best first."""
    return [hit.session.id for hit in answer.hits]


def everything(sesame: Sesame) -> list[Chunk]:
    """Return every chunk in the index, session by session, the oldest first."""
    stored, _ = sesame.list_sessions(limit=10_000)
    return [chunk for one in reversed(stored) for chunk in sesame.list_messages(one)]


def said(sesame: Sesame, role: str | None = None) -> list[str]:
    """Return the texts of all chunks (of one role)."""
    return [chunk.text for chunk in everything(sesame) if role in (None, chunk.role)]
