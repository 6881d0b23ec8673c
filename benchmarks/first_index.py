"""Index a history that was never indexed by searches and calls of a server alone, one of each a second.

    python benchmarks/first_index.py                     # 20,000 files, then 500 on a slow disk; a quarter of an hour
    python benchmarks/first_index.py --only slow         # 200 ms for each file that is opened
    python benchmarks/first_index.py --small             # seconds: is everything found, and told what is left? (CI)

Half the files are pi's, half Claude Code's, and they were written throughout a year.  First a plain `sesame index` is
measured.  Then nothing is indexed, and each second `sesame search` and a call of `sesame mcp`, which stays open, are
made.  Each must get on: fewer files are left than after the one a second before, or another process is writing, which
it says.  Something must become findable every 3 s, the newest week 10 s after the first call, and everything within the
time of two plain runs.  The exit code is 1 when a call does not get on, or when a session is lost or doubled; with
times that are missed, too, except with --small.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import generate
import machine

from sesame_core import Sesame
from sesame_core.config.file import load
from sesame_core.dataclass import replace
from sesame_core.plugin.backend import TracksFiles

DAY = 86_400
#: Over how many days the files were written.
DAYS = 365
#: Seconds until the newest week must be findable.
SOON = 10.0
#: Seconds within which something new must be findable: a run commits every 1.5 s.
OFTEN = 3.0
#: Runs of `sesame index` in whose time everything must be indexed.
RUNS = 2
#: What Python runs before anything else, to make a disk slow: each file below a directory takes a while to open.
SLOW = """
import os, sys, time
root, seconds = os.environ["SLOW_ROOT"] + os.sep, float(os.environ["SLOW_SECONDS"])
def opened(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and arguments[0].startswith(root):
        time.sleep(seconds)
sys.addaudithook(opened)
"""


@dataclass
class Story:
    """A history, and what is measured of it."""

    name: str
    place: Path
    files: int
    #: Seconds that opening a file takes; 0: as long as it takes.
    delay: float = 0.0
    problems: list[str] = field(default_factory=list)
    #: Problems that are about time alone.
    slow: list[str] = field(default_factory=list)
    #: Number of files, and those of the newest week, with its beginning.
    total: int = 0
    week: set[str] = field(default_factory=set)
    week_ns: int = 0

    @property
    def corpus(self) -> Path:
        """The directory of the files."""
        return self.place / f"files-{self.files}"

    def prepare(self) -> None:
        """Write the files, if they are not there, and give them times throughout a year until now."""
        if not self.corpus.exists():
            generate.generate(self.corpus, chunks=4 * self.files, seed=1, files=self.files)
        paths = sorted(self.corpus.rglob("*.jsonl"), key=lambda path: path.name[::-1])
        now = time.time()
        for number, path in enumerate(paths):
            at = now - DAYS * DAY * (1 - (number + 1) / len(paths))
            os.utime(path, (at, at))
        for directory, _, _ in os.walk(self.corpus):
            os.utime(directory, (now - DAYS * DAY, now - DAYS * DAY))
        self.total = len(paths)
        self.week_ns = int((now - 7 * DAY) * 1e9)
        self.week = {str(path.resolve()) for path in paths if path.stat().st_mtime_ns >= self.week_ns}

    def environment(self, index: str) -> dict[str, str]:
        """Return the environment of programs that use an index of this name."""
        home = self.place / "home"
        home.mkdir(exist_ok=True)
        (home / "config.jsonc").write_text(json.dumps({"sources": generate.sources(self.corpus)}))
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        values = kept | {
            "HOME": str(home),
            "SESAME_CONFIG_DIR": str(home),
            "SESAME_DATA_DIR": str(self.place / index),
            "SESAME_WORKSTATION_ID": "first-index",
        }
        if self.delay:
            (self.place / "slow").mkdir(exist_ok=True)
            (self.place / "slow" / "sitecustomize.py").write_text(SLOW)
            values |= {
                "PYTHONPATH": str(self.place / "slow"),
                "SLOW_ROOT": str(self.corpus.resolve()),
                "SLOW_SECONDS": str(self.delay),
            }
        return values


class Server:
    """`sesame mcp`, and what it answers."""

    def __init__(self, environment: dict[str, str]) -> None:
        command = [sys.executable, "-m", "sesame_core", "mcp"]
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._number = 0
        client = {"name": "benchmark", "version": "1"}
        self._ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the value of a tool's answer."""
        answer = self._ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        assert not answer.get("isError"), answer
        value: dict[str, Any] = json.loads(answer["content"][0]["text"])
        return value

    def close(self) -> int:
        """End it, as a client does; return its exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(timeout=120)

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()


def plain(story: Story) -> float:
    """Return the seconds of a plain run into an index of its own."""
    shutil.rmtree(story.place / "plain", ignore_errors=True)
    started = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "sesame_core", "index"],
        env=story.environment("plain"),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.monotonic() - started


def search(environment: dict[str, str]) -> dict[str, Any]:
    """Return the answer of `sesame search`."""
    command = [sys.executable, "-m", "sesame_core", "search", "return value", "--json"]
    answer: dict[str, Any] = json.loads(
        subprocess.run(command, env=environment, check=True, capture_output=True).stdout
    )
    return answer


def calls(story: Story, *, has_server: bool, until: float) -> list[tuple[float, str, int, float]]:
    """Search, and call a server, once a second until everything is indexed.

    :param has_server: also call `sesame mcp`; else only `sesame search`.
    :param until: seconds after which it ends in any case.
    :return: for each call when it began, what it was, the files left after it, and the seconds that it took.
    """
    name = "served" if has_server else "searched"
    shutil.rmtree(story.place / name, ignore_errors=True)
    environment = story.environment(name)
    server = Server(environment) if has_server else None
    told: list[tuple[float, str, int, float]] = []
    soon: float | None = None
    left = story.total
    #: Files that were left after the last call of each kind, a second before.
    before: dict[str, int] = {}
    config = replace(load(Path(environment["SESAME_CONFIG_DIR"]) / "config.jsonc"), refresh_seconds=0)
    with Sesame(config, data_dir=story.place / name) as sesame:
        started = changed = time.monotonic()

        def note(what: str, began: float, answer: dict[str, Any]) -> None:
            nonlocal left, soon, changed
            index = answer.get("index", {})
            pending = index.get("pending", 0)
            told.append((began - started, what, pending, time.monotonic() - began))
            is_behind_another = pending == left and index.get("reason") is not None
            # A server counts what it knew when it last looked: a search may have indexed some of that meanwhile.
            if pending >= before.get(what, story.total) and not is_behind_another:
                story.problems.append(
                    f"{what} at {began - started:.0f} s: of {left} files that were left {pending} are"
                )
            if pending < left:
                changed = time.monotonic()
            elif time.monotonic() - changed > OFTEN:
                story.slow.append(f"{what} at {began - started:.0f} s: {left} files are left since {OFTEN:.0f} s")
            before[what] = pending
            if pending and not any(f"of {story.total} files" in hint for hint in answer.get("hints", ())):
                story.problems.append(f"{what} at {began - started:.0f} s does not say that {pending} files are left")
            left = pending
            reader = sesame._index.reader()
            assert isinstance(reader, TracksFiles)
            if soon is None and story.week <= reader.known_files(first_ns=story.week_ns).keys():
                soon = time.monotonic() - started

        while left and time.monotonic() - started < until:
            began = time.monotonic()
            note("search", began, search(environment))
            if server and left:
                began_call = time.monotonic()
                note("call", began_call, server.call("search_sessions", query="return value"))
            time.sleep(max(0.0, began + 1 - time.monotonic()))
        if server and (code := server.close()):
            story.problems.append(f"the server ended with {code}")
        if left:
            story.slow.append(f"{left} of {story.total} files are left after {until:.0f} s")
        if soon is None or soon > SOON:
            story.slow.append(f"the newest week ({len(story.week)} files) was findable after {soon or until:.1f} s")
        if not left:
            compare(story, sesame)
    print(summary(story, told, soon, has_server=has_server))
    return told


def compare(story: Story, sesame: Sesame) -> None:
    """Note the sessions that differ from those of the plain run."""
    with Sesame(sesame.config, data_dir=story.place / "plain") as other:
        mine, theirs = (
            sorted((s.session.id, s.path, s.chunk_count) for s in one.list_sessions(limit=10**6)[0])
            for one in (sesame, other)
        )
    if mine != theirs:
        story.problems.append(f"{len(mine)} sessions, and {len(theirs)} after a plain run")


def summary(story: Story, told: list[tuple[float, str, int, float]], soon: float | None, *, has_server: bool) -> str:
    """Return the log in some lines: the first calls, and each tenth of the rest."""
    kind = "search and call each second" if has_server else "search each second"
    lines = [f"### {story.name}: {kind}", "", "| at | | files left | took |", "|---|---|---|---|"]
    step = max(1, len(told) // 10)
    for number, (at, what, left, took) in enumerate(told):
        if number < 4 or number % step == 0 or number == len(told) - 1:
            lines.append(f"| {at:.1f} s | {what} | {left} | {took:.2f} s |")
    done = told[-1][0] + told[-1][3]
    findable = "not" if soon is None else f"after {soon:.1f} s"
    lines += ["", f"newest week ({len(story.week)} files) findable {findable}; {len(told)} calls in {done:.0f} s", ""]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Tell the stories; return 1 when a call did not get on, or a time was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["many", "slow"], help="one of the two stories")
    parser.add_argument("--files", type=int, default=20_000, help="of the first story (default: %(default)s)")
    parser.add_argument("--slow-files", type=int, default=500, help="of the second one (default: %(default)s)")
    parser.add_argument("--delay", type=float, default=0.2, help="seconds per open file there (default: %(default)s)")
    parser.add_argument("--small", action="store_true", help="few files, and times do not count")
    parser.add_argument("--searches", action="store_true", help="also without a server, which takes longer")
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()) / "sesame-first-index")
    options = parser.parse_args(arguments)
    if options.small:
        options.files, options.slow_files, options.delay = 1_000, 20, 0.05
    options.dir.mkdir(parents=True, exist_ok=True)
    stories = []
    if options.only != "slow":
        stories.append(Story("many files", options.dir, options.files))
    if options.only != "many":
        stories.append(Story("slow disk", options.dir, options.slow_files, options.delay))
    for story in stories:
        story.prepare()
        seconds = plain(story)
        print(f"## {story.name}: {story.total} files, plain run {seconds:.1f} s, load {machine.load():.1f}\n")
        calls(story, has_server=True, until=(60 if options.small else 0) + RUNS * seconds)
        if options.searches:
            calls(story, has_server=False, until=60 + 10 * seconds)
        for problem in (*story.problems[:20], *story.slow):
            print(f"- {problem}")
    has_problems = any(story.problems or (story.slow and not options.small) for story in stories)
    return 1 if has_problems else 0


if __name__ == "__main__":
    sys.exit(main())
