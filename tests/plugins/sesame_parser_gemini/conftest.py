"""Sessions of Gemini CLI for tests, written record by record."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .writing import HEADER, as_lines

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write records to a session file below a project's directory; the header comes first."""

    def write(*records: object, name: str = "session-2026-03-02T10-00-3f0c1d7e.jsonl", header: object = HEADER) -> Path:
        path = tmp_path / "tmp" / "lighthouse" / "chats" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(as_lines(*([header] if header else []), *records))
        return path

    return write
