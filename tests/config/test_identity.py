"""Keys that name a session the same way on every run."""

from __future__ import annotations

import hashlib
import re
import socket
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from sesame_core.config import identity
from sesame_core.errors import BackendError, ConfigError


@pytest.fixture(autouse=True)
def _forget_machine_id() -> Iterator[None]:
    identity.machine_id.cache_clear()
    yield
    identity.machine_id.cache_clear()


def use_files(monkeypatch: pytest.MonkeyPatch, *files: Path) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(identity, "_MACHINE_ID_FILES", files)


def test_the_workstation_is_a_hash_of_host_name_and_machine_id(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "machine-id").write_text("0123abcd\n")
    use_files(monkeypatch, tmp_path / "machine-id")
    monkeypatch.setattr(socket, "gethostname", lambda: "ada")
    assert identity.workstation_id() == hashlib.sha256(b"ada0123abcd").hexdigest()[:8]
    assert identity.origin() == "default"


@pytest.mark.seed("004", "INV-001")
def test_two_processes_agree_on_this_machine() -> None:
    program = "from sesame_core.config.identity import workstation_id; print(workstation_id(), end='')"
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert other == identity.workstation_id()
    assert re.fullmatch("[0-9a-f]{8}", other)


def test_a_laptop_in_another_network_is_the_same_workstation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "ada.local")
    at_home = identity.workstation_id()
    monkeypatch.setattr(socket, "gethostname", lambda: "ada.corp.example.com")
    assert identity.workstation_id() == at_home


def test_gotcha_002_the_variable_names_the_workstation_and_sesames_own_wins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WORKSTATION_ID", "desk-1.office_2")
    assert (identity.workstation_id(), identity.origin()) == ("desk-1.office_2", "WORKSTATION_ID")
    monkeypatch.setenv("SESAME_WORKSTATION_ID", "cafe0123")
    assert (identity.workstation_id(), identity.origin()) == ("cafe0123", "SESAME_WORKSTATION_ID")
    monkeypatch.setenv("SESAME_WORKSTATION_ID", "")
    assert identity.workstation_id() == "desk-1.office_2"


@pytest.mark.parametrize("value", ["a:b", "two words", "x" * 65, "ü", "a\n", " "])
def test_an_unusable_name_of_the_workstation_is_an_error_that_names_the_variable(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKSTATION_ID", value)
    with pytest.raises(ConfigError, match=r"^WORKSTATION_ID must be .*, not '"):
        identity.workstation_id()


@pytest.mark.seed("004", "INV-002")
def test_a_project_is_a_hash_of_its_directory_and_a_missing_one_that_of_nothing() -> None:
    assert identity.project_id("/home/ada/loom") == hashlib.sha256(b"/home/ada/loom").hexdigest()[:8]
    assert identity.project_id("") == identity.project_id(None) == "e3b0c442"


def test_a_directory_whose_name_is_no_unicode_has_an_id() -> None:
    assert re.fullmatch("[0-9a-f]{8}", identity.project_id("/tmp/\udcff\ud800"))


@pytest.mark.seed("004", "INV-003")
def test_the_key_joins_workstation_project_and_session() -> None:
    assert identity.session_key("cafe0123", "e3b0c442", "parent/agent") == "cafe0123:e3b0c442:parent/agent"


def test_the_second_file_is_read_when_the_first_says_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "first").write_text("uninitialized\n")
    (tmp_path / "second").write_text("5ca1ab1e\n")
    use_files(monkeypatch, tmp_path / "absent", tmp_path / "first", tmp_path / "second")
    assert identity.machine_id() == "5ca1ab1e"


def test_a_machine_without_an_id_has_the_empty_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    use_files(monkeypatch, tmp_path / "empty", tmp_path)
    assert identity.machine_id() == ""


def test_the_machine_id_is_asked_for_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "machine-id"
    file.write_text("one")
    use_files(monkeypatch, file)
    assert identity.machine_id() == "one"
    file.write_text("two")
    assert identity.machine_id() == "one"


@pytest.mark.parametrize("content", ["", "\n", "12ab", "\xe9" * 64])
def test_a_file_without_the_random_number_is_no_key(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fingerprints with an empty key could be guessed."""
    monkeypatch.setenv("SESAME_DATA_DIR", str(tmp_path))
    number = identity.kept_random("key")
    assert re.fullmatch("[0-9a-f]{64}", number)
    assert identity.kept_random("key") == number
    (tmp_path / "key").write_text(content, encoding="latin-1")
    with pytest.raises(BackendError, match="delete it to have it made anew"):
        identity.kept_random("key")


@pytest.mark.skipif(sys.platform == "win32", reason="stands in for ioreg with a shell script")
@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (
            """echo '  "IOPlatformUUID" = "0A1B-2C3D"'; echo '  "IOPlatformSerialNumber" = "C02"'""",
            "0A1B-2C3D",
        ),
        ("echo nothing", ""),
        ("exit 1", ""),
    ],
)
def test_macos_answers_with_the_platform_uuid(
    script: str, expected: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ioreg = tmp_path / "ioreg"
    ioreg.write_text(f"#!/bin/sh\n{script}\n")
    ioreg.chmod(0o755)
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(identity, "_IOREG", str(ioreg))
    assert identity.machine_id() == expected


def test_macos_without_ioreg_has_the_empty_id(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(identity, "_IOREG", str(tmp_path / "absent"))
    assert identity.machine_id() == ""


@pytest.mark.parametrize("is_there", [True, False])
def test_windows_answers_from_the_registry(is_there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    class Key:
        def __enter__(self) -> Key:
            return self

        def __exit__(self, *error: object) -> None:
            pass

    def open_key(root: str, path: str, reserved: int, access: int) -> Key:
        assert (root, path, access) == ("HKLM", r"SOFTWARE\Microsoft\Cryptography", 0x101)
        if not is_there:
            raise FileNotFoundError(path)
        return Key()

    registry = types.ModuleType("winreg")
    registry.__dict__.update(
        HKEY_LOCAL_MACHINE="HKLM",
        KEY_READ=0x1,
        KEY_WOW64_64KEY=0x100,
        OpenKey=open_key,
        QueryValueEx=lambda key, name: (f"guid of {name}", 1),
    )
    monkeypatch.setitem(sys.modules, "winreg", registry)
    monkeypatch.setattr(sys, "platform", "win32")
    assert identity.machine_id() == ("guid of MachineGuid" if is_there else "")
