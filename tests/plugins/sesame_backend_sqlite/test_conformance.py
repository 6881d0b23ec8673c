"""The SQLite backend passes the kit that any backend must pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sesame_core.testing import BackendConformance


class TestConformance(BackendConformance):
    name = "sqlite"

    @pytest.fixture
    def options(self, tmp_path: Path) -> dict[str, Any]:
        return {"directory": str(tmp_path / "index")}
