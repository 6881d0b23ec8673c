r"""Measure `sesame mcp`: its start, its memory, 500 calls and 40 at once; with `--against`, other servers beside it.

    python benchmarks/mcp_server.py
    python benchmarks/mcp_server.py --against before='~/before/.venv/bin/sesame mcp'
    python benchmarks/mcp_server.py --against 'mnemo=mnemo mcp' --prepare 'mnemo index' \
        --against 'agentsview=agentsview mcp' --prepare 'agentsview sync'
    python benchmarks/mcp_server.py --small             # seconds: is everything answered? (CI)

All servers have the same home directory with generated sessions, indexed beforehand, and take their turns.  Each start
counts until a search is answered, as a client would make it: handshake, list of tools, call.  Memory is that of the
process and its children.  The exit code is 1 when a call of Sesame is not answered.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import generate
import machine
import run

#: Searches, by turns: words that the generated sessions have.
QUERIES = ("return value", "self file", "test error", "list path name", "read write index")
CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}}
#: Seconds until a server that does not answer is given up.
PATIENCE = 120.0


class Server:
    """A running server, and the answers that have come from it."""

    def __init__(self, command: str, home: Path) -> None:
        self.began = time.perf_counter()
        self._process = subprocess.Popen(
            shlex.split(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(home),
        )
        self._count = 0
        self._came = threading.Condition()
        self._answers: dict[int, tuple[float, dict[str, Any]]] = {}
        threading.Thread(target=self._read, daemon=True).start()

    def request(self, method: str, params: Mapping[str, Any]) -> int:
        """Send a request and return its id."""
        self._count += 1
        self._send({"jsonrpc": "2.0", "id": self._count, "method": method, "params": params})
        return self._count

    def answer(self, number: int) -> tuple[float, dict[str, Any]]:
        """Return when the answer to a request came, and its result."""
        with self._came:
            if not self._came.wait_for(lambda: number in self._answers, PATIENCE):
                raise TimeoutError(f"no answer within {PATIENCE:g} s")
            return self._answers.pop(number)

    def open(self) -> tuple[float, str, str]:
        """Shake hands; return when that was done, and the name of the tool that searches and of its argument."""
        at, _ = self.answer(self.request("initialize", CLIENT))
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        _, listed = self.answer(self.request("tools/list", {}))
        tool = next(tool for tool in listed["tools"] if "search" in tool["name"])
        properties = tool["inputSchema"]["properties"]
        return at, tool["name"], next(name for name in ("query", "pattern", *properties) if name in properties)

    def memory(self) -> int:
        """Return the resident bytes of the process and its children."""
        return sum(map(_resident, _family(self._process.pid)))

    def cpu(self) -> float:
        """Return the CPU seconds of the process and its children."""
        return sum(map(_cpu, _family(self._process.pid)))

    def close(self) -> None:
        """Close the connection, and wait for the end of the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if "result" in message or "error" in message:
                with self._came:
                    result = message.get("result") or {"isError": True}
                    self._answers[message["id"]] = time.perf_counter(), result
                    self._came.notify_all()


@dataclass
class Figures:
    """What is measured of one server."""

    handshake: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    calls: list[float] = field(default_factory=list)
    after: int = 0
    at_once: list[float] = field(default_factory=list)
    after_all: int = 0
    failed: int = 0

    def row(self, name: str) -> tuple[str, ...]:
        """Return a line of the table."""
        p99 = sorted(self.calls)[max(0, round(len(self.calls) * 0.99) - 1)]
        return (
            name,
            f"{min(self.handshake):.2f} / {median(self.handshake):.2f} s",
            f"{min(self.first):.2f} / {median(self.first):.2f} s",
            f"{min(self.cpu):.2f} s",
            f"{median(self.memory) / 1e6:.0f} MB",
            f"{median(self.calls) * 1000:.0f} / {p99 * 1000:.0f} ms",
            f"{self.after / 1e6:.0f} MB",
            f"{max(self.at_once):.2f} s",
            f"{self.after_all / 1e6:.0f} MB",
            str(self.failed),
        )


HEADER = (
    *("server", "handshake (least / median)", "first answer", "CPU until then", "memory then"),
    *("calls p50 / p99", "memory after", "all at once", "memory after", "failed"),
)


def start(command: str, home: Path, figures: Figures) -> None:
    """Start a server once, until it has answered a search."""
    server = Server(command, home)
    try:
        at, tool, argument = server.open()
        figures.handshake.append(at - server.began)
        at, result = server.answer(server.request("tools/call", {"name": tool, "arguments": {argument: QUERIES[0]}}))
        figures.first.append(at - server.began)
        figures.failed += bool(result.get("isError"))
        figures.cpu.append(server.cpu())
        figures.memory.append(server.memory())
    finally:
        server.close()


def load(command: str, home: Path, figures: Figures, *, calls: int, at_once: int) -> None:
    """Call one server again and again, then many times at once."""
    server = Server(command, home)
    try:
        _, tool, argument = server.open()

        def ask(number: int) -> int:
            query = QUERIES[number % len(QUERIES)]
            return server.request("tools/call", {"name": tool, "arguments": {argument: query}})

        for number in range(calls):
            began = time.perf_counter()
            at, result = server.answer(ask(number))
            figures.calls.append(at - began)
            figures.failed += bool(result.get("isError"))
        figures.after = server.memory()
        began = time.perf_counter()
        for number in [ask(number) for number in range(at_once)]:
            at, result = server.answer(number)
            figures.at_once.append(at - began)
            figures.failed += bool(result.get("isError"))
        figures.after_all = server.memory()
    finally:
        server.close()


def environment(home: Path) -> dict[str, str]:
    """Return the variables of a server: nothing of the caller's own sessions."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "TMPDIR")}
    return {**kept, "HOME": str(home)}


def prepare(home: Path, chunks: int) -> None:
    """Write sessions where their agents keep them."""
    marker = home / "generated"
    if marker.exists() and marker.read_text() == str(chunks):
        return
    shutil.rmtree(home, ignore_errors=True)
    generate.generate(home / "corpus", chunks=chunks, seed=1)
    for agent, place in (("claude-code", ".claude/projects"), ("pi", ".pi/agent/sessions")):
        (home / place).parent.mkdir(parents=True)
        (home / "corpus" / agent).rename(home / place)
    marker.write_text(str(chunks))


def _family(pid: int) -> list[int]:
    """Return a process and its descendants."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += _family(int(child))
    return found


def _resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(arguments: list[str] | None = None) -> int:
    """Measure; return 1 when Sesame has not answered every call."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", action="append", default=[], metavar="NAME=COMMAND", help="another server")
    parser.add_argument("--prepare", action="append", default=[], metavar="COMMAND", help="what indexes for it")
    parser.add_argument(
        "--size", choices=run.SIZES, default="100k", help="chunks in the sessions (default: %(default)s)"
    )
    parser.add_argument("--starts", type=int, default=7, help="of each server (default: %(default)s)")
    parser.add_argument("--calls", type=int, default=500, help="one after the other (default: %(default)s)")
    parser.add_argument("--at-once", type=int, default=40, help="calls at once (default: %(default)s)")
    parser.add_argument("--small", action="store_true", help="few of everything")
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()) / "sesame-mcp-server")
    options = parser.parse_args(arguments)
    chunks = run.SIZES[options.size]
    if options.small:
        chunks, options.starts, options.calls, options.at_once = 1_000, 1, 5, 8
    home = options.dir / "home"
    prepare(home, chunks)
    python = shlex.join([sys.executable, "-m", "sesame_core"])
    for command in (f"{python} index", *options.prepare):
        subprocess.run(shlex.split(command), env=environment(home), check=True, stdout=subprocess.DEVNULL)
    surroundings = machine.Surroundings()
    servers = {"sesame": f"{python} mcp"}
    servers |= {name: command for name, _, command in (text.partition("=") for text in options.against)}
    figures = {name: Figures() for name in servers}
    for command in servers.values():
        start(command, home, Figures())  # what is compiled and cached at the first time does not count
    for _ in range(options.starts):
        for name, command in servers.items():
            start(command, home, figures[name])
    for name, command in servers.items():
        load(command, home, figures[name], calls=options.calls, at_once=options.at_once)
    rows = [HEADER, *(found.row(name) for name, found in figures.items())]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    print("\n".join([lines[0], "|" + "---|" * len(HEADER), *lines[1:]]), end="\n\n")
    print(f"- {options.starts} starts, {options.calls} calls, {options.at_once} at once, {chunks} chunks")
    print(surroundings.describe())
    return 1 if figures["sesame"].failed else 0


if __name__ == "__main__":
    sys.exit(main())
