"""Commands of Sesame, each in a process of its own that is forked from one that has imported what they need.

Most of what a short command costs are imports, which are the same each time.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path
from typing import IO, Any

from .program import PROGRAM

REPOSITORY = Path(__file__).resolve().parents[2]
#: How a command of Sesame begins.
OWN = [sys.executable, "-m", "sesame_core"]
#: What an interpreter, its loader and its C library read when they start: too late for a process that is forked.
AT_START = ("PYTHON", "LD_", "DYLD_", "LC_", "LANG", "MALLOC_")
#: Packages and modules that commands of an index of a team import.  What else one needs it imports as ever.
PRELOADED = (
    "sqlalchemy.dialects.postgresql.psycopg",
    "sesame_backend_postgres",
    "sesame_formatter_default",
    "sesame_parser_pi",
    "sesame_core.api",
    "sesame_core.cli.commands",
    "sesame_core.config",
    "sesame_core.indexing",
    "sesame_core.metadata",
    "sesame_core.plugin",
    "sesame_core.privacy",
    "sesame_core.query",
    "sesame_core.rendering.text",
    "sesame_core.search",
    "sesame_core.sharing",
    "sesame_core.text",
    "sesame_core.types",
)
_SENDING = threading.Lock()


def run(
    command: list[str], environment: dict[str, str], directory: Path, timeout: float
) -> subprocess.CompletedProcess[str]:
    """Run a command as `subprocess.run` does with its output captured as text; one that is Sesame's alone is forked."""
    own, arguments = command[: len(OWN)], command[len(OWN) :]
    if own != OWN or not hasattr(os, "fork") or _at_start(environment) != _at_start(os.environ):
        return subprocess.run(
            command, env=environment, cwd=directory, capture_output=True, text=True, timeout=timeout, check=False
        )
    ours, theirs = socket.socketpair()
    (from_out, out), (from_err, err) = os.pipe(), os.pipe()
    with ours, open(from_out, "rb") as read_out, open(from_err, "rb") as read_err:
        try:
            _send(_server(os.getpid()), [arguments, environment, str(directory)], [0, out, err, theirs.fileno()])
        finally:
            theirs.close()
            os.close(out)
            os.close(err)
        process = _number(ours)
        end = time.monotonic() + timeout
        try:
            texts = _read(read_out, read_err, end)
            ours.settimeout(max(end - time.monotonic(), 0.001))
            code = _number(ours)
        except TimeoutError:
            os.kill(process, signal.SIGKILL)
            raise subprocess.TimeoutExpired(command, timeout) from None
    return subprocess.CompletedProcess(command, code, *texts)


def _at_start(environment: Any) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(AT_START)}


@cache
def _server(process: int) -> socket.socket:
    """Start what is forked from, one for each process that runs tests; it ends with that process."""
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-m", "tests.support.forked", str(theirs.fileno())]
        server = subprocess.Popen(command, cwd=REPOSITORY, pass_fds=[theirs.fileno()])

    @atexit.register
    def end() -> None:
        ours.close()
        server.wait()

    return ours


def _send(server: socket.socket, request: list[Any], files: list[int]) -> None:
    text = json.dumps(request).encode()
    with _SENDING:  # tests run commands in several threads
        socket.send_fds(server, [len(text).to_bytes(4, "big")], files)
        server.sendall(text)


def _number(answers: socket.socket) -> int:
    number = answers.recv(4)
    if len(number) != 4:
        raise RuntimeError("the process that is forked from has ended")
    return int.from_bytes(number, "big", signed=True)


def _read(out: IO[bytes], err: IO[bytes], end: float) -> tuple[str, str]:
    """Read both to their ends at the same time: who writes to one waits while it is full."""
    parts: dict[int, list[bytes]] = {out.fileno(): [], err.fileno(): []}
    with selectors.DefaultSelector() as selector:
        for file in parts:
            selector.register(file, selectors.EVENT_READ)
        while selector.get_map():
            if not (ready := selector.select(max(end - time.monotonic(), 0))):
                raise TimeoutError
            for key, _ in ready:
                part = os.read(key.fd, 1 << 16)
                parts[key.fd].append(part)
                if not part:
                    selector.unregister(key.fd)
    first, second = (io.TextIOWrapper(io.BytesIO(b"".join(read))).read() for read in parts.values())
    return first, second


# -- the process that is forked from ----------------------------------------------------------------------------------


def _serve(requests: socket.socket) -> None:
    """Fork for each request until there are no more; return in a process that is to run one."""
    while True:
        length, files, _, _ = socket.recv_fds(requests, 4, 4)
        if not length:
            raise SystemExit
        text = b""
        while len(text) < int.from_bytes(length, "big"):
            text += requests.recv(int.from_bytes(length, "big") - len(text))
        if not os.fork():
            requests.close()
            _keep(files)
            return _become(*json.loads(text))
        for file in files:
            os.close(file)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _keep(files: list[int]) -> None:
    """Fork what is to run, and tell its number and how it ended; return in what is to run, with its files."""
    *standard, answers = files
    process = os.fork()
    if process:
        for file in standard:
            os.close(file)
        os.write(answers, process.to_bytes(4, "big"))
        os.write(answers, os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]).to_bytes(4, "big", signed=True))
        os._exit(0)
    os.close(answers)
    for number, file in enumerate(standard):
        os.dup2(file, number)
        os.close(file)


def _become(arguments: list[str], environment: dict[str, str], directory: str) -> None:
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.chdir(directory)
    sys.path[0] = directory
    sys.argv = [PROGRAM, *arguments]
    # As an interpreter makes them when it starts, of files that are others than those of the process before.
    sys.stdin = _stream(sys.stdin, "rb")
    sys.stdout = _stream(sys.stdout, "wb")
    sys.stderr = _stream(sys.stderr, "wb", line_buffering=True)


def _stream(before: Any, mode: str, **options: bool) -> io.TextIOWrapper:
    file = open(before.fileno(), mode, closefd=False)  # noqa: SIM115 - as long as the process
    return io.TextIOWrapper(file, before.encoding, before.errors, **options)  # type: ignore[arg-type]


def _preload() -> None:
    for name in PRELOADED:
        package = importlib.import_module(name)
        for found in pkgutil.iter_modules(getattr(package, "__path__", ()), f"{name}."):
            importlib.import_module(found.name)


if __name__ == "__main__":
    from sesame_core.cli import main

    _preload()
    gc.freeze()  # a collection in a process that is forked would copy each page that it looks at
    _serve(socket.socket(fileno=int(sys.argv[1])))
    main()
