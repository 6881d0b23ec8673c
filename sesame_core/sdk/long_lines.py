"""A line that is longer than the limit, read piece by piece: without its base64 payloads, else cut."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .long_records import LongRecord

#: Bytes of a line over the limit that are scanned at once.
PIECE = 1 << 17
#: Shortest run of base64 characters that counts as a payload in a record over the limit.
PAYLOAD = 1024

_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-"
_PAYLOAD = re.compile(rb"[A-Za-z0-9+/=_-]{%d,}" % PAYLOAD)


class LongLine:
    """A line over the limit, read piece by piece, without its base64 payloads.

    When it is still too long without them, its records are cut (`LongRecord`).

    :param is_cut: cut them from the beginning.
    """

    def __init__(self, limit: int, *, is_cut: bool = False) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._run = b""
        self._in_payload = False
        self._records = LongRecord(limit) if is_cut else None
        self.size = 0

    @property
    def is_hopeless(self) -> bool:
        """Whether it contains no record, nor a part of one that can be kept."""
        return self._records is not None and self._records.is_hopeless

    @property
    def is_damaged(self) -> bool:
        """Whether it contains something else than records."""
        return self._records is not None and self._records.is_damaged

    def feed(self, piece: bytes) -> Iterator[tuple[bytes, int]]:
        """Yield each record that ends in a piece and was cut, with the number of bytes that were cut out of it."""
        self.size += len(piece)
        if self._in_payload:
            piece = piece.lstrip(_BASE64)
            if not piece:
                return
            self._in_payload = False
        piece = self._run + piece
        body = piece.rstrip(_BASE64)
        self._run = piece[len(body) :]
        body = _PAYLOAD.sub(b"", body)
        if len(self._run) >= PAYLOAD:
            self._in_payload, self._run = True, b""
        if self._records is None:
            self._kept += body
            if len(self._kept) <= self._limit:
                return
            self._records, body = LongRecord(self._limit), bytes(self._kept)
            self._kept.clear()
        # Copies of pieces are bounded, too.
        for start in range(0, len(body), PIECE):
            yield from self._records.feed(body[start : start + PIECE])

    def last(self) -> Iterator[tuple[bytes, int]]:
        """Yield what `feed` did not know to be the end of the line."""
        if self._records is None and len(self._kept) + len(self._run) > self._limit:
            self._records, self._run = LongRecord(self._limit), bytes(self._kept) + self._run
        if self._records is not None:
            for start in range(0, len(self._run), PIECE):
                yield from self._records.feed(self._run[start : start + PIECE])

    def content(self) -> bytes | None:
        """Return the line without its payloads; None when its records are cut."""
        return bytes(self._kept + self._run) if self._records is None else None

    def rest(self) -> bytes:
        """Return what remains of a line whose records are cut."""
        return self._records.rest() if self._records and not self.is_hopeless else b""
