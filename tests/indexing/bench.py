"""An index, sources of notes, and a parser of notes that tells how often it was asked."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sesame_core.api.sesame import Sesame
from sesame_core.config.model import Selection, Source
from sesame_core.plugin.hookspecs import hookimpl
from sesame_core.plugin.manager import PluginManager
from sesame_core.plugin.provider import Provider
from sesame_core.sdk.jsonl import JsonLines
from sesame_core.types.index import StoredSession
from sesame_core.types.query import Filters
from sesame_core.types.report import IndexReport
from sesame_core.types.transcript import Checkpoint, Event, Message, Session, Skipped

from ..support.in_memory import plugins_with_memory

SECOND = 10**9


class Notes:
    """Parser of `*.note`: lines `{"session": id, …}` and `{"say": text, "in": id}`; grown files are continued."""

    def __init__(self, suffix: str = ".note") -> None:
        self.version = 1
        self.suffix = suffix
        #: Names of the files that were read, whole or ("+") from their checkpoint.
        self.read: list[str] = []
        #: What to raise when a file of this name is read, and when it is looked at.
        self.failures: dict[str, Exception] = {}
        self.riddles: dict[str, Exception] = {}

    def default_roots(self) -> Sequence[Path]:
        return ()

    def matches(self, path: Path) -> bool:
        if path.name in self.riddles:
            raise self.riddles[path.name]
        return path.suffix == self.suffix

    def parse(self, path: Path) -> Iterator[Event]:
        self.read.append(path.name)
        return self._events(path, JsonLines(path), None)

    def parse_tail(self, path: Path, checkpoint: Checkpoint) -> Iterator[Event]:
        self.read.append(path.name + "+")
        lines = JsonLines(path, offset=checkpoint.offset, line=checkpoint.line)
        return self._events(path, lines, checkpoint.state["in"])

    def _events(self, path: Path, lines: JsonLines, current: str | None) -> Iterator[Event]:
        for record in lines:
            if isinstance(record, Skipped):
                yield record
            elif "session" in record:
                current = record["session"]
                facts = {name: value for name, value in record.items() if name != "session"}
                yield Session(id=current, agent="notes", **facts)
            else:
                current = record.get("in", current)
                assert current is not None
                at = record.get("at")
                yield Message(
                    session_id=current,
                    role=record.get("role", "user"),
                    text=record["say"],
                    origin_id=record.get("origin"),
                    timestamp=datetime.fromisoformat(at) if at else None,
                )
        if path.name in self.failures:
            raise self.failures[path.name]
        yield Checkpoint(offset=lines.offset, line=lines.line, state={"in": current})


def plugin(**parsers: Notes) -> object:
    def provide() -> list[Provider[Any]]:
        return [
            Provider(name=name, summary="test", create=lambda _, made=made: made)  # type: ignore[misc]
            for name, made in parsers.items()
        ]

    return SimpleNamespace(sesame_register_parsers=hookimpl(provide))


class Bench:
    """Some roots, some parsers, one index.

    :param opened: makes Sesame of sources, a directory for data, and plugins.
    """

    def __init__(self, place: Path, opened: Callable[[Sequence[Source], Path, PluginManager], Sesame]) -> None:
        self.root = place / "root"
        self.root.mkdir()
        self.data = place / "data"
        self.notes = Notes()
        self.others = Notes(".other")
        self.plugins = plugins_with_memory()
        self.plugins.register(plugin(notes=self.notes), "notes")
        self.plugins.register(plugin(others=self.others), "others")
        self.sources = [self.source()]
        self.clock = 1_700_000_000
        self.opened = opened
        self.sesame = opened(self.sources, self.data, self.plugins)

    def source(self, parser: str = "notes", path: Path | None = None, exclude: Sequence[str] = ()) -> Source:
        return Source(parser=Selection(name=parser), path=path or self.root, exclude=tuple(exclude))

    def use(self, *sources: Source) -> None:
        self.sesame.close()
        self.sesame = self.opened(sources, self.data, self.plugins)

    def path(self, name: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, name: str, *records: dict[str, Any] | str, session: str | None = None, **facts: Any) -> Path:
        """Write a file that introduces a session (named like the file) and says each text; time goes on."""
        path = self.path(name)
        path.write_bytes(self.lines({"session": session or path.stem, **facts}, *records))
        return self.touch(path)

    def grow(self, name: str, *records: dict[str, Any] | str) -> Path:
        path = self.path(name)
        with path.open("ab") as file:
            file.write(self.lines(*records))
        return self.touch(path)

    def lines(self, *records: dict[str, Any] | str) -> bytes:
        said = [{"say": r} if isinstance(r, str) else r for r in records]
        return b"".join(json.dumps(record).encode() + b"\n" for record in said)

    def touch(self, path: Path) -> Path:
        self.clock += 10
        os.utime(path, ns=(self.clock * SECOND, self.clock * SECOND))
        return path

    def index(self, *paths: Path, **options: Any) -> IndexReport:
        self.notes.read.clear()
        self.others.read.clear()
        return self.sesame.index(paths, **options)

    def found(self, word: str) -> set[str]:
        answer = self.sesame.search(word, Filters(all_kinds=True), limit=50)
        return {i for hit in answer.hits for i in (hit.session.id, *(copy for copy, _ in hit.copies))}

    def stored(self, session: str) -> StoredSession:
        return self.sesame.get_session(session)

    def texts(self, session: str) -> list[str]:
        return [chunk.text for chunk in self.sesame.list_messages(session)]


def counts(report: IndexReport) -> dict[str, int]:
    names = ("added", "updated", "appended", "unchanged", "missing", "pending")
    return {name: value for name in names if (value := getattr(report, name))}
