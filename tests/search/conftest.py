"""Sessions that tests of searching share."""

from __future__ import annotations

import pytest

from ..support.transcripts import pi_session


@pytest.fixture
def filler() -> None:
    """Sessions about other things, so that words have the rarity they have in a real index."""
    for number in range(12):
        pi_session(f"filler{number}", f"chore number {number}: tidy the garden", "water the beans", "and the peas")
