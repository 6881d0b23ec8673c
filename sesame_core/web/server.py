"""The server of a page: on which address, for whom, and until when."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..config import paths
from ..runtime import serving
from ..runtime.doors import Doors
from ..runtime.listening import Place, listen
from ..runtime.opening import Opened
from .app import application
from .live import Live

if TYPE_CHECKING:
    from .desk import Desk

#: Most connections; a request on a further one is refused.
CONNECTIONS = 100


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
    opened = Opened(paths.data_dir() / f"web-{place.port}.html")
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
        if opens and (problem := opened.show(link)):
            _print(problem)
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
