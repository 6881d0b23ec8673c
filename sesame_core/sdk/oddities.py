"""Why a file cannot be read as a session: what it is instead, by its first bytes."""

from __future__ import annotations

import os

#: Bytes that are examined.
EXAMINED = 1 << 16
#: First bytes of archives and compressed files.
_PACKED = {
    b"\x1f\x8b": "compressed with gzip",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"BZh": "compressed with bzip2",
    b"\xfd7zXZ\x00": "compressed with xz",
    b"PK\x03\x04": "a zip archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"\x04\x22\x4d\x18": "compressed with lz4",
    b"SQLite format 3": "a SQLite database",
}
_UNICODE = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"{\x00": "UTF-16",
    b"\x00{": "UTF-16",
}


def oddity(path: str) -> str | None:
    """Return what a file is that no parser recognises; None when it is blank.

    :raises OSError: it cannot be read.
    """
    if not os.path.isfile(path):
        return "not a file" if os.path.lexists(path) else None
    with open(path, "rb") as file:
        start = file.read(EXAMINED)
    for first, what in _PACKED.items():
        if start.startswith(first):
            return f"{what}; unpack it first"
    for first, what in _UNICODE.items():
        if start.startswith(first):
            return f"text in {what}; sessions are UTF-8"
    text = start.removeprefix(b"\xef\xbb\xbf").replace(b"\0", b"").strip()
    if not text:
        # A crash leaves zeros in place of what was not written yet, and agents append to such files, too.
        return f"its first {len(start) >> 10} KiB are blank" if len(start) == EXAMINED < os.path.getsize(path) else None
    return _text_oddity(path, text)


def _text_oddity(path: str, text: bytes) -> str:
    import json

    first, _, rest = text.partition(b"\n")
    if text.startswith(b"["):
        return "a JSON array; sessions have one JSON object per line"
    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        if (text.startswith(b"{") and rest and first.strip() in (b"{", b"{}")) or first.rstrip().endswith(
            (b"{", b"[", b",")
        ):
            return "pretty-printed JSON; sessions have one JSON object per line"
        return "not JSON, or damaged" if not text.startswith(b"{") else "its first record is damaged"
    name = os.path.basename(path)
    if not isinstance(record, dict):
        return "no records in its lines"
    if not name.endswith(".jsonl"):
        return "its name does not end with .jsonl"
    return "records of no agent with a parser"
