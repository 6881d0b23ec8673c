"""The server of a page: on which address, for whom, and until when."""

from __future__ import annotations

import os
import sys
import threading
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from html import escape
from typing import TYPE_CHECKING, Any

from ..config import paths
from ..runtime import serving
from ..runtime.listening import Place, listen
from .app import application
from .doors import Doors
from .live import Live

if TYPE_CHECKING:
    from .desk import Desk

#: Most connections; a request on a further one is refused.
CONNECTIONS = 100


class Opened:
    """A file that leads the owner's browser in: the command line of a browser, with the token, is for all to read."""

    def __init__(self, place: Place) -> None:
        self._path = paths.data_dir() / f"web-{place.port}.html"

    def show(self, link: str) -> None:
        """Write the file, and open a browser with it in a thread: some browsers run in the terminal."""
        self.remove()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as out:
            out.write(f'<!DOCTYPE html><meta http-equiv="refresh" content="0;url={escape(link)}">\n')
        threading.Thread(target=webbrowser.open, args=(self._path.as_uri(),), daemon=True).start()

    def remove(self) -> None:
        """Remove the file: the token is used, or the server ends."""
        with suppress(FileNotFoundError):
            self._path.unlink()


def serve(
    desk: Desk,
    place: Place,
    *,
    password: str | None = None,
    behind: str | None = None,
    further: Sequence[str] = (),
    opens: bool = True,
    said: Sequence[str] = (),
) -> None:
    """Serve until the process is stopped.

    :param password: what lets visitors in, in place of a token.
    :param behind: the name of the proxy in front, which lets visitors in.
    :param further: other names by which visitors reach this server.
    :param opens: open a browser.
    :param said: lines to print at the start.
    :raises SesameError: the address is in use, or does not belong to this machine.
    """
    listening, place = listen(place)
    doors = Doors(password=password, is_open=behind is not None)
    opened = Opened(place)
    names = place.names([*further, *([behind] if behind else [])])
    live = Live(desk)
    app = application(desk, doors, live, names=names, cookie=f"sesame-{place.port}", entered=opened.remove)
    link = f"{place.url}/"
    if password is None and behind is None:
        link += f"#{doors.token()}"
        _print(f"Sesame on {link}", "The link opens one browser; without script, paste there what follows the #.")
        threading.Thread(target=_more, args=(doors, place), daemon=True).start()
    else:
        _print(f"Sesame on {link}")
    _print(*said)
    try:
        if opens:
            opened.show(link)
        serving.serve(app, listening, ending=live.end, connections=CONNECTIONS)
    finally:
        opened.remove()


def _more(doors: Doors, place: Place) -> None:
    """Print a link for another browser whenever Enter is pressed."""
    if sys.stdin is not None and sys.stdin.isatty():
        for _ in sys.stdin:
            _print(f"Another browser: {place.url}/#{doors.token()}")


def _print(*lines: Any) -> None:
    sys.stderr.writelines(f"{line}\n" for line in lines)
    sys.stderr.flush()
