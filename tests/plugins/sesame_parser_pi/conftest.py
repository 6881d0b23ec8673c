"""Session files of pi."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sesame_core import Message

from .reading import HEADER, Write, line, read


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write records (or raw lines) to a session file behind a header."""

    def write(*records: object, header: object = HEADER, name: str = "s.jsonl") -> Path:
        lines = [record if isinstance(record, bytes) else line(record) for record in (header, *records)]
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\n".join(lines) + b"\n")
        return path

    return write


@pytest.fixture
def one(write: Write) -> Callable[..., list[Message]]:
    """Return the messages that records make."""
    return lambda *records, **options: read(write(*records), **options).messages
