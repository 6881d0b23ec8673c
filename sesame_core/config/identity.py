"""Identity: keys that name a session in the same way in every run and on every backend (seed 004).

`workstation:project:session` distinguishes the sessions of one machine from those of another.  It contains the host
name and the directory only as hashes.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import sys
from pathlib import Path

from ..errors import BackendError, ConfigError
from . import paths

#: Environment variables that name the workstation; the first that is set wins.
OVERRIDES = ("SESAME_WORKSTATION_ID", "WORKSTATION_ID")

#: Length of a shortened hash, in characters (INV-001, INV-002).
_LENGTH = 8
# No colon: it separates the parts of a session key.
_OVERRIDE = re.compile(r"[A-Za-z0-9._-]{1,64}")

#: Files in which Linux and the BSDs with D-Bus store the machine id, in order of preference.
_MACHINE_ID_FILES = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
# systemd writes this there until the first boot is over.
_NO_MACHINE_ID = "uninitialized"
#: The full path: a scheduler's PATH may lack /usr/sbin, and the id must not depend on the caller.
_IOREG = "/usr/sbin/ioreg"
_IOREG_TIMEOUT = 10.0
_CRYPTOGRAPHY = r"SOFTWARE\Microsoft\Cryptography"
_PLATFORM_UUID = re.compile(r'"IOPlatformUUID"\s*=\s*"([^"]+)"')


def workstation_id() -> str:
    """Return this machine's id: the value of a variable of `OVERRIDES`, else 8 hexadecimal digits.

    The digits are made of the host name and the machine id (INV-001).  A machine that has shared sessions keeps them
    when its host name changes, so that its rules for what others see reach all of its sessions.

    :raises ConfigError: the variable's value is not a valid id.
    """
    name = origin()
    if name not in OVERRIDES:
        return _kept_ids().get(_machine()) or _short_hash(host() + machine_id())
    value = os.environ[name]
    if not _OVERRIDE.fullmatch(value):
        raise ConfigError(f"{name} must be 1 to 64 letters, digits, '.', '_' or '-', not {value!r}")
    return value


def keep_id() -> None:
    """Let this machine keep its id from now on; one that is given by a variable, or without a machine id, does not.

    :raises BackendError: the ids cannot be written.
    """
    if origin() not in OVERRIDES and (machine := _machine()) and machine not in (kept := _kept_ids()):
        _keep_ids({**kept, machine: workstation_id()})


def id_elsewhere() -> str | None:
    """Return the id that this installation has kept on another machine, if it has none on this one.

    Then its data directory was copied or moved.
    """
    kept = _kept_ids()
    return (
        None if origin() in OVERRIDES or not _machine() or _machine() in kept else next(reversed(kept.values()), None)
    )


def take_over() -> None:
    """Let this machine keep the id of the other one (`id_elsewhere`), which it replaces.

    :raises BackendError: the ids cannot be written.
    """
    if (other := id_elsewhere()) is not None:
        _keep_ids({**_kept_ids(), _machine(): other})


def origin() -> str:
    """Return the environment variable that names the workstation, or "default"."""
    return next((name for name in OVERRIDES if os.environ.get(name)), "default")


@functools.lru_cache
def project_id(cwd: str | None) -> str:
    """Return a directory's id, 8 hexadecimal digits; a session without a directory has the id of ""."""
    return _short_hash(cwd or "")


def session_key(workstation: str, project: str, session: str) -> str:
    """Return the key of a session on every backend: `workstation:project:session` (INV-003)."""
    return f"{workstation}:{project}:{session}"


@functools.cache
def machine_id() -> str:
    """Return the id that the operating system got at its installation, "" when it has none."""
    if sys.platform == "win32":
        return _registry_machine_id()
    if sys.platform == "darwin":
        return _platform_uuid()
    for file in _MACHINE_ID_FILES:
        try:
            text = file.read_text(encoding="ascii", errors="replace").strip()
        except OSError:
            continue
        if text and text != _NO_MACHINE_ID:
            return text
    return ""


def host() -> str:
    """Return the host name without its domain, which changes with the network that a laptop is in."""
    import socket

    return socket.gethostname().partition(".")[0]


@functools.cache
def owner() -> str:
    """Return the name of the user who is logged in, "" when there is none."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


def is_kept(name: str) -> bool:
    """Return whether `kept_random` has made a number before."""
    return (paths.data_dir() / name).exists()


def kept_random(name: str) -> str:
    """Return a random number, 64 hexadecimal digits, that is made once and stored in a file of the data directory.

    :param name: name of the file, which its owner alone can read.
    :raises BackendError: the file can be neither read nor written, or contains no number.
    """
    file = paths.data_dir() / name
    try:
        if not file.exists():
            # Another process may be as quick: whichever is first has made the number.
            with contextlib.suppress(FileExistsError):
                paths.write_private(file, os.urandom(32).hex(), fsync=True, replaces=False)
        text = file.read_text(encoding="ascii", errors="replace").strip()
    except OSError as error:
        raise BackendError(f"{file}: cannot be used: {error.strerror or error}") from error
    # Empty after a crash, or while another process makes it where there are no hard links: "" would be no secret.
    if not re.fullmatch("[0-9a-f]{64}", text):
        raise BackendError(f"{file}: does not contain 64 hexadecimal digits; delete it to have it made anew")
    return text


def _machine() -> str:
    """Return a hash of the machine id, "" when there is none."""
    return hashlib.sha256(f"sesame {machine_id()}".encode()).hexdigest()[:16] if machine_id() else ""


def _ids_file() -> Path:
    return paths.data_dir() / "workstations.json"


def _kept_ids() -> dict[str, str]:
    """Return the kept ids by machine, the latest last."""
    try:
        value = json.loads(_ids_file().read_text(encoding="ascii"))
    except (OSError, ValueError):
        return {}  # none is kept, or the file is damaged: the id is made anew
    if not isinstance(value, dict):
        return {}
    return {machine: kept for machine, kept in value.items() if isinstance(kept, str) and _OVERRIDE.fullmatch(kept)}


def _keep_ids(ids: dict[str, str]) -> None:
    paths.keep_private(_ids_file(), json.dumps(ids) + "\n")


def _platform_uuid() -> str:
    import subprocess

    try:
        answer = subprocess.run(
            [_IOREG, "-rd1", "-c", "IOPlatformExpertDevice"],
            capture_output=True,
            text=True,
            timeout=_IOREG_TIMEOUT,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    found = _PLATFORM_UUID.search(answer.stdout)
    return found.group(1) if found else ""


def _registry_machine_id() -> str:
    if sys.platform == "win32":  # for mypy, which knows the content of winreg only on this platform
        import winreg

        access = winreg.KEY_READ | winreg.KEY_WOW64_64KEY
        with (
            contextlib.suppress(OSError),
            winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, _CRYPTOGRAPHY, 0, access) as key,
        ):
            return str(winreg.QueryValueEx(key, "MachineGuid")[0])
    return ""


def _short_hash(text: str) -> str:
    # A directory's name may contain bytes that are not UTF-8; they arrive as lone surrogates.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]
