"""What a measurement ran on and beside: peak memory, load, and the CPU that others used meanwhile."""

from __future__ import annotations

import os
import platform
import resource
import sqlite3
import sys
import time
from pathlib import Path

_PROC_STAT = Path("/proc/stat")
_STATUS = Path("/proc/self/status")


def peak_memory() -> int:
    """Return this process's peak resident memory in bytes.

    Linux's `ru_maxrss` survives exec, so a child would report its parent's peak; `VmHWM` does not.
    """
    if _STATUS.exists():
        line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def load() -> float:
    """Return the load average of the last minute."""
    return os.getloadavg()[0]


class Surroundings:
    """Watches the machine from now on."""

    def __init__(self) -> None:
        self._wall = time.perf_counter()
        self._load = load()
        self._own = _own_cpu()
        self._all = _machine_cpu()
        self._programs = _programs()

    def describe(self) -> str:
        """Return lines of Markdown: machine, versions, load at start and end, what else ran."""
        wall = time.perf_counter() - self._wall
        lines = [
            f"- {platform.system()} {platform.release()}, {os.cpu_count()} cores, "
            f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}",
            f"- load average {self._load:.2f} at the start, {load():.2f} at the end, {wall:.0f} s in all",
        ]
        if not _PROC_STAT.exists():
            return "\n".join([*lines, "- what else ran is not known on this system"])
        own = _own_cpu() - self._own
        others = max(0.0, _machine_cpu() - self._all - own)
        lines.append(f"- CPU: {own:.0f} s for this benchmark, {others:.0f} s for everything else on the machine")
        used = {key: cpu - self._programs.get(key, 0.0) for key, cpu in _programs().items()}
        busiest = sorted(((cpu, name) for (_, name), cpu in used.items() if cpu >= 0.5), reverse=True)[:5]
        shown = ", ".join(f"{name} {cpu:.0f} s" for cpu, name in busiest)
        return "\n".join([*lines, f"- busiest of the others that still run: {shown or 'none'}"])


def _own_cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _machine_cpu() -> float:
    """Return CPU seconds that all processes used since boot; 0 where the system does not tell."""
    if not _PROC_STAT.exists():
        return 0.0
    user, nice, system = (int(ticks) for ticks in _PROC_STAT.read_text().split("\n", 1)[0].split()[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def _programs() -> dict[tuple[int, str], float]:
    """Return CPU seconds of every other process by (id, name)."""
    found: dict[tuple[int, str], float] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, _, rest = stat.read_text().rpartition(")")
        except OSError:
            continue  # It ended between the listing and the look.
        pid, _, name = head.partition(" (")
        fields = rest.split()
        found[int(pid), name] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return {key: cpu for key, cpu in found.items() if key[0] != os.getpid()}


def children_cpu(process: int) -> float:
    """Return the seconds of CPU that the children of a process have used, those that have ended too (Linux)."""
    listed = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    # Behind the name, which may hold spaces, the 14th and 15th field are of ended children.
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    ended = (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
    return ended + sum(_nanoseconds(int(child)) for child in listed) / 1e9


def _nanoseconds(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/schedstat").read_text().split()[0])
    except (FileNotFoundError, ProcessLookupError):
        return 0  # it ended since it was listed
