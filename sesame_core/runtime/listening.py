"""Where a server over HTTP listens, under which names, and the secret that its clients have."""

from __future__ import annotations

import ipaddress
import os
import secrets
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ..config import paths
from ..dataclass import dataclass
from ..errors import QueryError, SesameError

if TYPE_CHECKING:
    from typing import Self

#: Least characters of a secret: 128 bits, as `secrets` encodes them.
MIN_SECRET = 22
#: The names of this machine's own address, as a URL has them.
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True, slots=True)
class Place:
    """An address to listen on."""

    host: str
    port: int

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse `HOST:PORT`, `[IPv6]:PORT` or a port alone, which means this machine's own address.

        :raises QueryError: it is none of them.
        """
        host, _, port = text.rpartition(":")
        host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
        if not (port.isascii() and port.isdigit() and int(port) < 65536):
            raise QueryError(f"--http {text!r} is not HOST:PORT, such as 127.0.0.1:8765")
        return cls(host, int(port))

    @property
    def url(self) -> str:
        """The URL of its root for this machine, without a slash at the end."""
        return f"http://{'localhost' if _is_everywhere(self.host) else in_url(self.host)}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it."""
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def names(self, further: Iterable[str] = ()) -> list[str]:
        """Return the hosts that a request may name, without ports: requests under others are of other web pages.

        :param further: host names by which clients reach this server.
        """
        hosts = {*LOOPBACK, *map(in_url, further)}
        if not _is_everywhere(self.host):
            hosts.add(in_url(self.host))
        return sorted(hosts)


_Place = TypeVar("_Place", bound=Place)


def listen(place: _Place) -> tuple[socket.socket, _Place]:
    """Return a socket that accepts connections, and its address: port 0 means any free port.

    :raises SesameError: the address is in use, or does not belong to this machine.
    """
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    # With the protocol named, asyncio sends each part of an answer at once; without, the second waits 40 ms for the
    # client's delayed acknowledgement of the first.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((place.host, place.port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise SesameError(f"cannot listen on {place.host}:{place.port}: {error.strerror or error}") from error
    return listening, type(place)(place.host, listening.getsockname()[1])


def secret(file: Path | None, *, variable: str, name: str, noun: str = "token") -> tuple[str, str]:
    """Return a secret and its origin: the given file, else the environment, else the data directory.

    A missing file is created, readable by its owner alone, with a new secret.

    :param variable: the environment variable with it.
    :param name: the file's name in the data directory.
    :param noun: what it is, for messages.
    :raises SesameError: it cannot be read or created, or it is too short to be a secret.
    """
    if file is None and (found := os.environ.get(variable)):
        return _strong(found.strip(), variable, noun), f"the {noun} is that of {variable}"
    file = file or paths.data_dir() / name
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            text = file.read_text(encoding="utf-8").strip()
            return _strong(text, str(file), noun), f"the {noun} is in {file}"
        made = secrets.token_urlsafe(32)
        with open(descriptor, "w", encoding="utf-8") as out:
            out.write(made + "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SesameError(f"{file}: the {noun} cannot be read or created: {error}") from error
    return made, f"a new {noun} is in {file}"


def in_url(host: str) -> str:
    """Return a host as a URL has it: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def _strong(text: str, place: str, noun: str) -> str:
    if len(text) < MIN_SECRET or not text.isascii() or not text.isprintable() or " " in text:
        least = f"{MIN_SECRET} or more plain characters"
        raise SesameError(f"the {noun} of {place} must be {least}; delete it for a new one")
    return text


def _is_everywhere(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False
