"""A small parser whose sessions are rows of a database, `<file>.chats`, and such a database to change."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

from sesame_core import Container, Message, Provider, Session, Unit, hookimpl
from sesame_core.plugin.manager import PluginManager
from sesame_core.sdk.databases import is_database, reading
from sesame_core.types.transcript import Event

SUFFIX = ".chats"


class ChatsParser:
    """Reads chats."""

    version = 1
    #: Number of times that a container was listed.
    listings = 0

    def default_roots(self) -> Sequence[Path]:
        return ()

    def matches(self, path: Path) -> bool:
        try:
            self.unit(path)
        except FileNotFoundError:
            return False
        return True

    def containers(self, place: Path) -> Iterator[Container]:
        found = sorted(place.rglob(f"*{SUFFIX}")) if place.is_dir() else [Path(str(place).removesuffix("-wal"))]
        for path in found:
            if path.suffix == SUFFIX and path.is_file():
                yield Container(path=str(path), files=(str(path), f"{path}-wal"))

    def units(self, container: Container) -> Iterator[Unit]:
        type(self).listings += 1
        with reading(container.path) as db:
            for name, seconds, count in db.execute("SELECT id, updated, (SELECT count(*) FROM line) FROM chat"):
                (count,) = db.execute("SELECT count(*) FROM line WHERE chat = ?", (name,)).fetchone()
                yield Unit(path=os.path.join(container.path, name), mtime_ns=round(seconds * 1e9), size=100 * count)

    def unit(self, path: Path) -> Unit:
        if path.parent.suffix == SUFFIX and path.parent.is_file() and is_database(path.parent):
            for container in self.containers(path.parent):
                for unit in self.units(container):
                    if unit.path == str(path):
                        return unit
        raise FileNotFoundError(2, "no such chat", str(path))

    def parse(self, path: Path) -> Iterator[Event]:
        with reading(path.parent) as db:
            row = db.execute("SELECT cwd FROM chat WHERE id = ?", (path.name,)).fetchone()
            if row is None:
                raise FileNotFoundError(2, "no such chat", str(path))
            yield Session(id=path.name, agent="chats", cwd=row[0])
            for number, text in db.execute("SELECT n, text FROM line WHERE chat = ? ORDER BY n", (path.name,)):
                yield Message(session_id=path.name, role="user", text=text, origin_id=f"{path.name}:{number}")


class Chats:
    """A database of chats, as its program writes it: with a write-ahead log, and open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute("PRAGMA wal_autocheckpoint = 0")
        self.db.execute("CREATE TABLE chat(id TEXT PRIMARY KEY, cwd TEXT, updated REAL)")
        self.db.execute("CREATE TABLE line(chat TEXT, n INTEGER, text TEXT)")

    def say(self, chat: str, *texts: str, at: float, cwd: str = "/w") -> Path:
        """Add lines to a chat; return the path of its unit."""
        self.db.execute("INSERT INTO chat VALUES (?, ?, 0) ON CONFLICT DO NOTHING", (chat, cwd))
        self.db.execute("UPDATE chat SET updated = ? WHERE id = ?", (at, chat))
        for text in texts:
            self.db.execute("INSERT INTO line SELECT ?1, count(*), ?2 FROM line WHERE chat = ?1", (chat, text))
        return self.path / chat

    def delete(self, chat: str) -> None:
        """Delete a chat."""
        self.db.execute("DELETE FROM chat WHERE id = ?", (chat,))
        self.db.execute("DELETE FROM line WHERE chat = ?", (chat,))

    def close(self) -> None:
        """End the program."""
        self.db.close()


def register(plugins: PluginManager) -> None:
    """Register the parser as `chats`."""
    provider = Provider(name="chats", summary="test", create=lambda _: ChatsParser())
    plugins.register(SimpleNamespace(sesame_register_parsers=hookimpl(lambda: [provider])), "chats")


def damage(path: Path) -> None:
    """Overwrite a closed database, after its first bytes."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = path.read_bytes()
    path.write_bytes(content[:100] + b"\x99" * (len(content) - 100))
