"""Session files of Claude Code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .records import (
    SESSION,
    lines,
)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write records (or raw bytes) to a session file."""

    def write(*records: Any, name: str = f"{SESSION}.jsonl") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(r if isinstance(r, bytes) else lines(r) for r in records))
        return path

    return write
