"""Entries as pi writes them, and what the parser makes of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import orjson

from sesame_core import Checkpoint, Event, Message, Session, Skipped
from sesame_parser_pi.parser import PiParser

DATA = Path(__file__).resolve().parents[2] / "data" / "pi"


OWN = sorted(path.name for path in DATA.glob("*.jsonl"))


HEADER = {
    "type": "session",
    "version": 3,
    "id": "0199bbbb-0000-7000-8000-000000000001",
    "timestamp": "2026-03-04T05:06:00.000Z",
    "cwd": "/home/ann/lighthouse",
}


@dataclass
class Reading:
    """What came out of a parser, with the session as an indexer would know it."""

    messages: list[Message] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    session: Session = field(default_factory=lambda: Session(id="", agent=""))
    checkpoint: Checkpoint | None = None

    def take(self, events: Iterable[Event]) -> Reading:
        """Take events in; they come as the protocol promises."""
        self.checkpoint = None
        introduced = False
        for event in events:
            assert self.checkpoint is None, "the checkpoint comes last"
            if isinstance(event, Session):
                known = {f.name: value for f in fields(event) if (value := getattr(event, f.name)) is not None}
                self.session = replace(self.session, **known)
                introduced = True
            elif isinstance(event, Message):
                assert introduced, "the session comes before its messages"
                assert event.session_id == self.session.id
                self.messages.append(event)
            elif isinstance(event, Skipped):
                self.skipped.append(event)
            else:
                # As a backend would keep it.
                self.checkpoint = replace(event, state=orjson.loads(orjson.dumps(event.state)))
        assert self.checkpoint is not None
        return self

    def said(self, role: str) -> list[str]:
        return [message.text for message in self.messages if message.role == role]

    def of(self, source_type: str) -> list[Message]:
        return [message for message in self.messages if message.source_type == source_type]


def read(path: Path, **options: Any) -> Reading:
    return Reading().take(PiParser(**options).parse(path))


def own(name: str) -> Reading:
    return read(DATA / name)


def line(record: object) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass")


def message(role: object, number: int = 1, **values: object) -> dict[str, Any]:
    return {
        "type": "message",
        "id": f"e{number:07x}",
        "parentId": f"e{number - 1:07x}" if number > 1 else None,
        "timestamp": f"2026-03-04T05:07:{number % 60:02d}.000Z",
        "message": {"role": role, **values},
    }


Write = Callable[..., Path]
