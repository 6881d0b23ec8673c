"""Measure the page: the time to the first byte and the bytes of each of its pages, and the memory after many.

    python benchmarks/web.py                                    # the present index
    python benchmarks/web.py --long 47000                       # an index of its own, with a session of 47,000 messages
    python benchmarks/web.py --pages 1000 --out web.json
    python benchmarks/web.py --against http://127.0.0.1:8080/api/v1/sessions  # other URLs in the same run, in turns

Each page is asked for several times; the smallest time counts, since a busy machine only adds to it.  The first answer
of all, which loads and opens what the others use, stands apart.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

import httpx2  # noqa: E402

from tests.support.mcp_client import resident  # noqa: E402 - needs the path
from tests.support.web_client import served  # noqa: E402

#: What is searched for.
QUERIES = ("nix flake", "websocket reconnect", "error", "flaky test in the release")
#: How often each page is asked for.
TIMES = 7


def first_byte(client: httpx2.Client, url: str) -> tuple[float, float, int]:
    """Return the milliseconds to the first byte and to the last, and the bytes of an answer."""
    began = time.perf_counter()
    with client.stream("GET", url) as answer:
        answer.raise_for_status()
        head = time.perf_counter() - began
        size = sum(len(part) for part in answer.iter_bytes())
        return head * 1000, (time.perf_counter() - began) * 1000, size


def measured(client: httpx2.Client, url: str, times: int) -> dict[str, float]:
    """Return the smallest times, and the bytes."""
    found = [first_byte(client, url) for _ in range(times)]
    return {
        "first": round(min(f for f, _, _ in found), 1),
        "whole": round(min(w for _, w, _ in found), 1),
        "bytes": found[0][2],
    }


def pages_of(client: httpx2.Client) -> dict[str, str]:
    """Return the pages that are measured, by name: the list, searches, the longest session in several ways."""
    pages = {"list": "/"} | {f"search: {query}": f"/?q={query.replace(' ', '+')}" for query in QUERIES}
    listed = client.get("/api/sessions?limit=1000").json()["sessions"]
    longest = max(listed, key=lambda session: session["chunkCount"])
    middle = longest["chunkCount"] // 2
    pages[f"session of {longest['chunkCount']}: at {middle}"] = f"/s/{longest['sessionId']}?at={middle}&q=error"
    pages["the same: latest"] = f"/s/{longest['sessionId']}"
    pages["the same: find"] = f"/s/{longest['sessionId']}?find=error"
    hit = re.search(r'<h2><a href="(/s/[^"#]+)', client.get("/", params={"q": QUERIES[2]}).text)
    if hit:
        pages["session at the best passage"] = hit[1].replace("&amp;", "&")
    pages["api: search"] = "/api/search?q=error"
    pages["api: messages"] = f"/api/messages/{longest['sessionId']}?offset={middle}"
    return pages


def write_long(directory: Path, messages: int) -> None:
    """Write a session of pi with this number of messages: prompts, answers, calls and outputs."""
    directory.mkdir(parents=True)
    lines: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "long", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/home/ann/den"}
    ]
    for number in range(messages):
        text = (
            f"Message {number}: the **fox** in `den/{number % 97}.py` runs into error {number % 13}.\n\n"
            + "- a line\n" * (number % 9)
        )
        role = "user" if number % 10 == 0 else "assistant"
        content: list[dict[str, Any]] = [{"type": "text", "text": text}]
        moment = f"2026-01-{1 + number // 4000:02}T{number // 170 % 24:02}:{number % 60:02}:00.000Z"
        lines.append(
            {
                "type": "message",
                "id": f"m{number}",
                "parentId": f"m{number - 1}" if number else None,
                "timestamp": moment,
                "message": {"role": role, "content": content},
            }
        )
    (directory / "long.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def an_index_of_its_own(place: Path, messages: int) -> dict[str, str]:
    """Return the environment of an index with one long session."""
    from sesame_core import Sesame
    from sesame_core.config.model import Config, Selection, Source

    write_long(place / "sessions", messages)
    (place / "config").mkdir()
    sources = [{"parser": "pi", "path": str(place / "sessions")}]
    (place / "config" / "config.jsonc").write_text(json.dumps({"sources": sources}))
    source = Source(parser=Selection(name="pi"), path=place / "sessions")
    with Sesame(Config(sources=(source,)), data_dir=place / "data") as sesame:
        sesame.index()
    return {"SESAME_CONFIG_DIR": str(place / "config"), "SESAME_DATA_DIR": str(place / "data")}


def main(arguments: Sequence[str] | None = None, say: Callable[[str], Any] = print) -> dict[str, Any]:
    """Measure, and return what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", type=int, help="messages of a session in an index of its own")
    parser.add_argument("--pages", type=int, default=200, help="pages after which memory is measured")
    parser.add_argument("--times", type=int, default=TIMES)
    parser.add_argument("--against", action="append", default=[], metavar="URL", help="of another server; repeatable")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    with ExitStack() as stack:
        more: dict[str, str] = {}
        if given.long:
            more = an_index_of_its_own(Path(stack.enter_context(tempfile.TemporaryDirectory())), given.long)
        began = time.perf_counter()
        server = stack.enter_context(served("--read-only", **more))
        ready = (time.perf_counter() - began) * 1000
        client = stack.enter_context(server.visitor())
        cold, _, _ = first_byte(client, "/")
        say(f"{ready:7.0f} ms from the start to the link, {cold:.0f} ms to the first answer")
        found: dict[str, Any] = {"start": round(ready), "first": round(cold, 1), "pages": {}, "against": {}}
        other = stack.enter_context(httpx2.Client(timeout=60))
        pages = pages_of(client)
        before = resident(server.process.pid)
        for name, url in pages.items():
            found["pages"][name] = measured(client, url, given.times)
            # In turns, so that both have the same machine.
            for theirs in given.against:
                known = found["against"].setdefault(theirs, measured(other, theirs, given.times))
                found["against"][theirs] = min(known, measured(other, theirs, 1), key=lambda one: one["first"])
        for name, one in [*found["pages"].items(), *found["against"].items()]:
            say(
                f"{one['first']:7.1f} ms to the first byte, {one['whole']:7.1f} to the last, "
                f"{one['bytes']:9,} bytes  {name}"
            )
        urls = list(pages.values())
        for number in range(given.pages):
            client.get(urls[number % len(urls)])
        after = resident(server.process.pid)
        found |= {"memoryBefore": before, "memoryAfter": after, "asked": given.pages}
        say(f"{before / 1e6:7.1f} MB before, {after / 1e6:.1f} MB after {given.pages} more; {os.cpu_count()} cores")
    if given.out:
        given.out.write_text(json.dumps(found, indent=2) + "\n")
    return found


if __name__ == "__main__":
    main()
