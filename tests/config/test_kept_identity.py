"""A machine keeps its id when its host name changes, and a copy or a replacement of it is told from it."""

from __future__ import annotations

import socket

import pytest

from sesame_core.config import identity, paths


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    set_machine(monkeypatch, "host-a", "0123")
    return monkeypatch


def set_machine(monkeypatch: pytest.MonkeyPatch, host: str, machine_id: str) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: host)
    monkeypatch.setattr(identity, "machine_id", lambda: machine_id)


def test_a_machine_that_has_shared_nothing_has_the_id_of_its_name(machine: pytest.MonkeyPatch) -> None:
    before = identity.workstation_id()
    set_machine(machine, "host-b", "0123")
    assert identity.workstation_id() != before
    assert not paths.data_dir().exists()


@pytest.mark.parametrize("name", ["host-b", "host-a.vpn.example.org", ""])
def test_a_renamed_machine_keeps_its_id(name: str, machine: pytest.MonkeyPatch) -> None:
    before = identity.workstation_id()
    identity.keep_id()
    set_machine(machine, name, "0123")
    assert identity.workstation_id() == before
    assert identity.id_elsewhere() is None


def test_a_variable_takes_precedence_and_is_not_kept(machine: pytest.MonkeyPatch) -> None:
    before = identity.workstation_id()
    machine.setenv("SESAME_WORKSTATION_ID", "laptop")
    identity.keep_id()
    assert identity.workstation_id() == "laptop"
    machine.delenv("SESAME_WORKSTATION_ID")
    assert identity.workstation_id() == before
    assert not paths.data_dir().exists()


def test_another_machine_with_the_same_home_is_told_until_it_takes_over(machine: pytest.MonkeyPatch) -> None:
    before = identity.workstation_id()
    identity.keep_id()
    set_machine(machine, "host-new", "4567")
    assert identity.workstation_id() != before
    assert identity.id_elsewhere() == before
    identity.take_over()
    assert (identity.workstation_id(), identity.id_elsewhere()) == (before, None)


def test_machines_without_a_machine_id_are_told_apart_by_their_names_alone(machine: pytest.MonkeyPatch) -> None:
    set_machine(machine, "container-1", "")
    before = identity.workstation_id()
    identity.keep_id()
    set_machine(machine, "container-2", "")
    assert identity.workstation_id() != before
    assert identity.id_elsewhere() is None


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"x": 1}', '{"x": "a:b"}', "\x00"])
def test_a_damaged_record_is_none(damage: str, machine: pytest.MonkeyPatch) -> None:
    before = identity.workstation_id()
    paths.data_dir().mkdir(parents=True)
    (paths.data_dir() / "workstations.json").write_text(damage)
    assert (identity.workstation_id(), identity.id_elsewhere()) == (before, None)
    identity.keep_id()
    set_machine(machine, "host-b", "0123")
    assert identity.workstation_id() == before
