"""Branches and forks."""

from __future__ import annotations

from .reading import Reading, Write, message, own, read


def lost(reading: Reading) -> list[str]:
    abandoned = reading.session.abandoned
    assert abandoned is not None
    return [m.text for m in reading.messages if m.segment in abandoned]


def test_a_branch_in_the_same_file_abandons_what_it_leaves() -> None:
    assert lost(own("branched.jsonl")) == ["a red one", "A red one is planted."]


def test_a_second_root_abandons_the_first() -> None:
    reading = own("second-root.jsonl")
    kept = [m.text for m in reading.messages if m.text not in lost(reading)]
    assert kept == ["start over with pears", "Pears it is."]


def test_an_unknown_parent_abandons_nothing(write: Write) -> None:
    records = [message("user", n, content=str(n)) | {"parentId": f"tool-call-{n}"} for n in range(1, 4)]
    assert lost(read(write(*records))) == []


def test_a_fork_shares_its_origins_with_its_source() -> None:
    source, fork = own("branched.jsonl"), own("fork.jsonl")
    assert fork.session.parent_id == source.session.id
    of_source = {m.origin_id: m.text for m in source.messages}
    of_fork = {m.origin_id: m.text for m in fork.messages}
    shared = of_source.keys() & of_fork.keys()
    assert {of_source[origin] for origin in shared} == {of_fork[origin] for origin in shared}
    assert sorted(of_fork[origin] for origin in of_fork.keys() - shared) == ["and a plum tree"]
    assert len(shared) == 4
    assert lost(fork) == []
