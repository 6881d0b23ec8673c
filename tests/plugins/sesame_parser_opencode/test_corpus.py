"""Real and generated sessions of the shared corpus."""

from __future__ import annotations

from pathlib import Path

import pytest

from sesame_parser_opencode.parser import OpenCodeParser

from .making import Reading

GENERATED = "corpus/opencode/generated"


def readings(place: Path) -> dict[str, Reading]:
    """Return what is read below a directory, by the id of the session."""
    parser = OpenCodeParser()
    units = [unit for container in parser.containers(place.resolve()) for unit in parser.units(container)]
    found = [Reading(Path(unit.path)) for unit in units]
    assert all(parser.matches(Path(unit.path)) for unit in units)
    return {reading.session.id: reading for reading in found}


@pytest.mark.corpus
def test_every_session_is_read_without_loss(shared: Path) -> None:
    counts = {}
    for place in sorted((shared / GENERATED).iterdir()):
        found = readings(place)
        assert [reading.skipped for reading in found.values() if reading.skipped] == []
        counts[place.name] = len(found)
    assert counts == {
        "v0.5.29": 4, "v1.1.34": 6, "v1.18.33": 6, "v1.2.27-migrated-from-json": 6, "v2-shape-synthetic": 3,
    }  # fmt: skip


@pytest.mark.corpus
def test_a_migration_changes_no_words(shared: Path) -> None:
    before, after = (readings(shared / GENERATED / name) for name in ("v1.1.34", "v1.2.27-migrated-from-json"))
    assert before.keys() == after.keys()
    for id, reading in before.items():
        assert reading.messages == after[id].messages


@pytest.mark.corpus
def test_a_real_fork_has_the_origins_of_its_source(shared: Path) -> None:
    found = readings(shared / GENERATED / "v1.18.33")
    (fork,) = (reading for reading in found.values() if "fork" in (reading.session.title or ""))
    (source,) = (r for r in found.values() if r is not fork and f"{r.session.title} (fork #1)" == fork.session.title)
    origins = [message.origin_id for message in source.messages]
    assert [message.origin_id for message in fork.messages][: len(origins)] == origins
    assert len(set(origins)) == len(origins)


@pytest.mark.corpus
def test_other_programs_samples_are_read(shared: Path) -> None:
    found = readings(shared / "corpus" / "opencode" / "real")
    assert len(found) == 3
    assert all(reading.messages and not reading.lost for reading in found.values())
