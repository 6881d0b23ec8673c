"""Session files of Copilot CLI."""

from __future__ import annotations

from pathlib import Path

import pytest

from .reading import ID, Write, line, start


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write events (or raw lines) after the one that starts a session to its log."""

    def write(
        *records: object, header: object = None, session: str = ID, workspace: str = "", root: Path = tmp_path
    ) -> Path:
        path = root / "session-state" / session / "events.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        header = start(session) if header is None else header
        lines = [record if isinstance(record, bytes) else line(record) for record in (header, *records)]
        path.write_bytes(b"\n".join(lines) + b"\n")
        if workspace:
            (path.parent / "workspace.yaml").write_text(workspace, encoding="utf-8")
        return path

    return write
