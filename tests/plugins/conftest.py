"""What tests of several plugins share."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..support.corpus import Case


@pytest.fixture(params=["own", "shared"])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    return Case(request.param, tmp_path, request.getfixturevalue("shared") if request.param == "shared" else None)
