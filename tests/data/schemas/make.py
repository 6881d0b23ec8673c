"""Writes `v<n>.sql` beside itself: a small index of the present schema, as SQL, to test upgrades from it.

Run it once when a schema is released, and never again for that schema: later versions must read what users have.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from sesame_backend_sqlite.conversations import Conversation
from sesame_core import Selection, Sesame, Source

HERE = Path(__file__).parent
PI = "0199cccc-0000-7000-8000-000000000001"
CLAUDE = "1b1b1b1b-1111-4222-8333-444444444444"
FORGOTTEN = "0199cccc-0000-7000-8000-000000000002"
#: Where the sessions seem to lie, so that the dump is the same wherever it is made.
PLACE = "/sesame-schema-fixture"


def pi_session(session: str, *texts: str) -> list[dict[str, Any]]:
    time = "2026-03-04T05:06:00.000Z"
    header = {"type": "session", "version": 3, "id": session, "timestamp": time, "cwd": "/home/ann/lighthouse"}
    records = [header]
    for n, text in enumerate(texts):
        role = "assistant" if n % 2 else "user"
        message = {"role": role, "content": [{"type": "text", "text": text}]}
        parent = f"a{n - 1:07x}" if n else None
        records.append(
            {"type": "message", "id": f"a{n:07x}", "parentId": parent, "timestamp": time, "message": message}
        )
    return records


def claude_session(session: str) -> list[dict[str, Any]]:
    call = {"type": "tool_use", "id": "toolu_1", "name": "Edit", "input": {"file_path": "/home/bo/kelp/tideTable.py"}}
    contents: list[tuple[str, Any]] = [
        ("user", "why does the tide table show Übung twice?"),
        ("assistant", [{"type": "text", "text": "The harbour is listed under 日本語 as well."}, call]),
        ("user", [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "the barnacle was removed"}]),
    ]
    return [
        {
            "type": role,
            "uuid": f"00000000-0000-4000-8000-{n:012d}",
            "parentUuid": f"00000000-0000-4000-8000-{n - 1:012d}" if n else None,
            "sessionId": session,
            "isSidechain": False,
            "cwd": "/home/bo/kelp",
            "gitBranch": "main",
            "timestamp": f"2026-08-01T10:00:{n:02d}.000Z",
            "message": {"role": role, "content": content, "id": f"msg_{n}"},
        }
        for n, (role, content) in enumerate(contents)
    ]


def write(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    os.utime(path, ns=(1_780_000_000_000_000_000, 1_780_000_000_000_000_000))


def write_sessions(root: Path) -> list[Source]:
    """Write the sessions of the fixture, and return their sources."""
    pi, claude = root / "pi", root / "claude" / "-home-bo-kelp"
    pi.mkdir(parents=True)
    claude.mkdir(parents=True)
    write(
        pi / f"{PI}.jsonl", pi_session(PI, "where did the lighthouse keep its oil?", "In the cellar, beside the winch.")
    )
    write(pi / f"{FORGOTTEN}.jsonl", pi_session(FORGOTTEN, "nobody may know of the smuggler"))
    write(claude / f"{CLAUDE}.jsonl", claude_session(CLAUDE))
    return [
        Source(parser=Selection(name="pi"), path=pi),
        Source(parser=Selection(name="claude-code"), path=claude.parent),
    ]


def dump(database: Path) -> Iterator[str]:
    """Yield the SQL that makes the index again; the full-text tables are filled from the others."""
    with closing(sqlite3.connect(database)) as db:
        for pragma in ("page_size", "application_id", "user_version"):
            yield f"PRAGMA {pragma} = {db.execute(f'PRAGMA {pragma}').fetchone()[0]};"
        made = db.execute("SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid").fetchall()
        virtual = [name for name, _, sql in made if sql.startswith("CREATE VIRTUAL TABLE")]
        for name, kind, sql in made:
            if any(name.startswith(f"{table}_") for table in virtual):
                continue  # made by FTS5 itself
            yield f"{sql};"
            if kind == "table" and name not in virtual:
                columns = ", ".join(f"quote({column})" for _, column, *_ in db.execute(f"PRAGMA table_info({name})"))
                for row in db.execute(f"SELECT {columns} FROM {name}"):
                    yield f"INSERT INTO {name} VALUES ({', '.join(row)});"
        for table in virtual:
            if table != "conversations_fts":
                yield f"INSERT INTO {table} ({table}) VALUES ('rebuild');"
        # This one keeps no text that it could be rebuilt from.
        rows = db.execute("SELECT id, conversation_count, conversation_title FROM sessions").fetchall()
        for session, count, title in rows:
            texts = (title, *Conversation.read(db, session, count).texts())
            quoted = ", ".join(db.execute("SELECT quote(?), quote(?), quote(?)", texts).fetchone())
            yield f"INSERT INTO conversations_fts (rowid, title, user, assistant) VALUES ({session}, {quoted});"


def main() -> None:
    os.environ["WORKSTATION_ID"] = "fixture"
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory).resolve()
        sources = write_sessions(root)
        with Sesame(sources=sources, data_dir=root / "data") as sesame:
            sesame.index()
            sesame.forget(FORGOTTEN)
            version = sesame.status().schema_version
        sql = "\n".join(dump(root / "data" / "index.sqlite")) + "\n"
    target = HERE / f"v{version}.sql"
    target.write_text(sql.replace(str(root), PLACE))
    sys.stdout.write(f"wrote {target}\n")


if __name__ == "__main__":
    main()
