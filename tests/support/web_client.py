"""A server of the page in a process of its own, and a browser without a window that visits it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import html5lib
import httpx2

COMMAND = [sys.executable, "-m", "sesame_core", "web", "--no-open"]


@dataclass
class Served:
    """A server of the page."""

    #: Without a path and a slash at the end.
    url: str
    #: Lets one browser in; "" where there is a password.
    token: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @contextmanager
    def visitor(self, *, token: str | None = None) -> Iterator[httpx2.Client]:
        """Return a browser that was let in with a token: the server's own, or a password."""
        with self.stranger() as visitor:
            answer = visitor.post("/enter", data={"secret": self.token if token is None else token})
            assert answer.status_code == 303, answer.text
            yield visitor

    def stranger(self) -> httpx2.Client:
        """Return a browser that nobody has let in."""
        return httpx2.Client(base_url=self.url, timeout=60)


@contextmanager
def served(*options: str, **more: str) -> Iterator[Served]:
    """Run a server on a free port."""
    process = subprocess.Popen([*COMMAND, *options], env={**os.environ, **more}, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        greeting = process.stderr.readline()
        found = re.match(r"Sesame on (http://\S+:\d+)/#?(\S*)\n", greeting)
        assert found, greeting + process.stderr.read()
        yield Served(found[1], found[2], process)
    finally:
        process.terminate()
        process.wait(30)
        process.stderr.close()


def tree_of(html: str) -> Element:
    """Return a page as a browser reads it; an error in it fails."""
    tree: Element = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(html)
    return tree


def texts(tree: Element, path: str) -> list[str]:
    """Return the whole texts of the elements at a path, on one line each."""
    return [" ".join("".join(one.itertext()).split()) for one in tree.iterfind(path)]


def write_claude(file: Path, records: list[dict[str, Any]], **common: Any) -> Path:
    """Write a session of Claude Code, whose records have these fields in common."""
    import json

    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps({**common, **record}) + "\n" for record in records), encoding="utf-8")
    return file
