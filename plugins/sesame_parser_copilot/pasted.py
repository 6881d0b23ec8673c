"""Long pasted text: the prompt has only a tag with the name of a file in the session's directory."""

from __future__ import annotations

import re
from pathlib import Path

from sesame_core.text.tokens import clean

#: Most bytes read of one file, and most files of one prompt.
SIZE = 1 << 18
FILES = 8
_TAG = re.compile(r'<pasted_content file="([^"\n]+)"[^<>\n]*/>')


def with_pastes(text: str, directory: Path) -> str:
    """Return a prompt with the pasted text in place of its tags; a tag whose file is gone stays.

    :param directory: the session's.
    """
    if "<pasted_content " not in text:
        return text
    return _TAG.sub(lambda tag: _pasted(tag[1], directory) or tag[0], text, count=FILES)


def _pasted(written: str, directory: Path) -> str:
    # The path is absolute on the machine that wrote it; only its last component is valid here.
    name = re.split(r"[/\\]", written)[-1]
    try:
        place = (directory / "files" / name).resolve()
        if not place.is_relative_to(directory.resolve()) or not place.is_file():
            return ""
        with place.open("rb") as file:
            return clean(file.read(SIZE).decode("utf-8", "ignore"))
    except (OSError, ValueError):
        # Deleted meanwhile, or not a valid file name.
        return ""
