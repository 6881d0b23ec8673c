"""A server of the page in a process of its own, and a browser without a window that visits it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from xml.etree.ElementTree import Element

import html5lib
import httpx2


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
def served(*options: str, before: str = "", opens: bool = False, **more: str) -> Iterator[Served]:
    """Run a server on a free port.

    :param before: Python that runs in it first.
    :param opens: let it open a browser, which the variable BROWSER names.
    """
    run = f"{before}\nfrom sesame_core.cli import main; main()"
    command = [sys.executable, "-c", run, "web", *([] if opens else ["--no-open"]), *options]
    process = subprocess.Popen(command, env={**os.environ, **more}, stderr=subprocess.PIPE, text=True)
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


#: What a page may have.
ELEMENTS = set(
    "html head meta title link script body a header form label input button main footer time section article h1 h2 "
    "h3 h4 h5 h6 p span ul ol li nav aside details summary code pre b i em strong small mark dl dt dd div blockquote "
    "br hr s table thead tbody tr th td ins del textarea".split()
)
ATTRIBUTES = set(
    "id class href rel name content charset lang type src role action method for value placeholder autocomplete "
    "spellcheck maxlength tabindex datetime title start aria-label aria-live aria-current data-place data-seq "
    "data-short data-session data-total data-shown download rows required open".split()
)
SCRIPTS = {"/static/sesame.js", "/static/door.js"}


def harmless(html: str) -> Element:
    """Return a page as a browser reads it, after checking that nothing in it runs or loads but the server's files."""
    tree = tree_of(html)
    ids = [one.get("id") for one in tree.iter() if one.get("id")]
    assert len(ids) == len(set(ids))
    for one in tree.iter():
        assert one.tag in ELEMENTS, one.tag
        assert set(one.attrib) <= ATTRIBUTES, (one.tag, one.attrib)
        if one.tag == "script":
            assert (one.get("src") in SCRIPTS, one.get("type"), one.text) == (True, "module", None)
        elif one.tag == "link":
            assert one.get("href", "").startswith("/static/")
        elif one.tag == "meta":
            assert "content" not in one.attrib or one.get("name") in ("viewport", "color-scheme")
        else:
            assert "src" not in one.attrib
        href = one.get("href", one.get("action", "/"))
        if re.match(r"(?i)https?://", href):
            assert one.get("rel") == "noopener noreferrer nofollow", href
        else:
            assert re.match(r"/(?![/\\])|#", href), href
            assert not re.search(r"[\x00-\x20]", href), href
    assert len(list(tree.iter("main"))) == len(list(tree.iter("footer"))) == 1
    return tree
