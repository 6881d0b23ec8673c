"""A file that leads the browser of the owner to a server, with a secret that no one else can read."""

from __future__ import annotations

import os
import threading
import webbrowser
from contextlib import suppress
from html import escape
from pathlib import Path


class Opened:
    """A page in a file that leads to a link: the command line of a browser, with the link, is for all to read.

    :param path: the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def show(self, link: str) -> str:
        """Write the file, and open a browser with it in a thread: some browsers run in the terminal.

        Return why that cannot be done; "" if it can.
        """
        self.remove()
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "w", encoding="utf-8") as out:
                out.write(f'<!DOCTYPE html><meta http-equiv="refresh" content="0;url={escape(link)}">\n')
        except OSError as error:
            return f"open the link yourself: {self._path} cannot be written: {error.strerror or error}"
        threading.Thread(target=webbrowser.open, args=(self._path.as_uri(),), daemon=True).start()
        return ""

    def remove(self) -> None:
        """Remove the file: the link was used, or the server ends."""
        with suppress(FileNotFoundError):
            self._path.unlink()
