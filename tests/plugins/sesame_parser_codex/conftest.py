"""Session files of Codex."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .records import lines, name


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write records (lists of them, or raw bytes) to a session file of a home of Codex."""

    def write(*records: Any, name: str = name(), place: str = "sessions/2026/03/01") -> Path:
        path = tmp_path / "codex" / place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(lines(*records))
        return path

    return write
