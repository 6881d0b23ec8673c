"""Cuts a JSON record that is too long or too deep, while it is read, into one that a decoder takes.

Strings keep their beginning and their end around a line that says how many bytes are left out; lists and objects with
very many members keep the first and the last ones.  All other values stay, so that a record that is cut still says
who spoke, which tool ran, and whether it failed.  Memory is bounded by a small multiple of the limit.

The streaming parsers there are (yajl, and `ijson` on it) keep each string whole in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .json_characters import closing_quote, end_of_whole
from .kept_json import Container, Text

#: Strings up to this number of bytes are kept whole; fewer where the limit is small.
SHORT = 1 << 10
#: Bytes of a string that are kept when nothing else can be left out.
LEAST = 32
#: Most bytes of a string: what is kept of it is indexed whole on every backend (PostgreSQL's take 400,000 characters).
LONGEST = 384 << 10
#: Deepest container that is kept; real records have at most a dozen levels.
DEPTH = 64
#: Depth from which a line is not a record.
ABYSS = 1 << 20
#: Most marks that make no sense: a line with more is not JSON.
ODD = 10_000
#: Longest number, true, false or null, in bytes.
SCALAR = 1 << 10

_BOM = b"\xef\xbb\xbf"
#: A mark, or what is between two marks: a scalar, or text that is not JSON.
_TOKEN = re.compile(rb'[\s\0]*+(?:([{}\[\],:"])|([^\s\0{}\[\],:"][^\0{}\[\],:"]*))')
#: Several short members of a container, flat containers among them: reading them one by one takes much longer.
_STRING = rb'"[^"\\]{0,100}+(?:\\.[^"\\]{0,50}+){0,4}+"'
_PLAIN = rb"(?:[-+.\w]{1,64}+|%b)" % _STRING
_NAMED = rb"[\s\0]*+(?:%b[\s\0]*+:[\s\0]*+)?" % _STRING
_FLAT = rb"[{\[](?:%b%b[\s\0]*+,){0,15}+%b%b[\s\0]*+[}\]]" % (_NAMED, _PLAIN, _NAMED, _PLAIN)
_MEMBERS = re.compile(rb"(?:%b(?:%b|%b)[\s\0]*+,){1,16}+" % (_NAMED, _PLAIN, _FLAT), re.DOTALL)
_BRACKET = re.compile(rb'["{}\[\]]')


class LongRecord:
    """The records of a line that is too long, usually one; feed it the line in pieces.

    :param limit: longest record that is made, in bytes; the lines that mark cuts come on top.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._short = min(SHORT, limit // 64)
        #: The line is not JSON: nothing of it can be kept.
        self.is_hopeless = False
        #: Something outside records was dropped.
        self.is_damaged = False
        self._open: list[Container] = []
        self._text: Text | None = None
        self._texts: list[Text] = []
        #: The beginning of a token that the last piece did not end.
        self._carried = b""
        self._odd = 0
        self._skipped_depth = 0
        self._is_in_skipped_string = False
        self._new_record()

    def _new_record(self) -> None:
        self._cap = min(self._limit, LONGEST)
        #: Bytes kept, and those of them that are not in strings that can be cut.
        self._total = self._small = 0
        self._cut = 0
        self._texts.clear()

    def feed(self, piece: bytes) -> Iterator[tuple[bytes, int]]:
        """Yield each record that ends in a piece, with the number of bytes that were cut out of it."""
        piece, position = self._carried + piece, 0
        self._carried = b""
        while position < len(piece) and not self.is_hopeless:
            if self._odd > ODD:
                self.is_hopeless = True
                return
            if self._text is not None:
                position = self._in_string(piece, position)
                continue
            if self._skipped_depth:
                position = self._in_skipped(piece, position)
                continue
            if self._open and not self._open[-1].has_value and (many := _MEMBERS.match(piece, position)):
                self._add_members(many[0])
                position = many.end()
                continue
            token = _TOKEN.match(piece, position)
            if token is None:
                return  # only white space
            position = token.end()
            mark, scalar = token.groups()
            if scalar is not None:
                if position == len(piece) and len(scalar) <= SCALAR:
                    self._carried = scalar
                    return
                self._add_scalar(scalar.rstrip())
            elif mark == b'"':
                self._odd += not self._open or self._open[-1].has_value
                self._text = Text()
            elif mark in b"{[":
                self._open_container(mark)
            elif mark in b"}]":
                if (record := self._close_container(mark)) is not None:
                    yield record
            elif self._open:
                self._odd += not self._open[-1].has_value
                self._open[-1].separate(mark)
                self._grow(1)
                self._reduce()

    def rest(self) -> bytes:
        """Return what remains at the end of the line: the beginning and the end of a record that is not complete."""
        if self._carried and self._text is None and not self._skipped_depth:
            self._add_scalar(self._carried)
        elif self._carried and self._text is not None:
            self._text.add(self._carried, self._cap)
        parts = [frame.content(is_closed=False) for frame in self._open]
        if self._text is not None:
            parts.append(b'"' + self._text.content())
        return b"".join(parts)

    # -- tokens -------------------------------------------------------------------------------------------

    def _in_string(self, piece: bytes, start: int) -> int:
        """Read a string up to its end, or up to the last whole character of the piece; return the position."""
        assert self._text is not None
        end = closing_quote(piece, start)
        is_end = end >= 0
        if not is_end:
            end = end_of_whole(piece, start)
            self._carried = piece[end:]
        self._grow(self._text.add(piece[start:end], self._cap), text=True)
        if not is_end:
            if self._text not in self._texts:
                self._texts.append(self._text)
            self._reduce()
            return len(piece)
        text, self._text = self._text, None
        self._end_string(text)
        return end + 1

    def _end_string(self, text: Text) -> None:
        if not self._open:
            self.is_damaged = True
            self._total -= text.size
            self._texts = [other for other in self._texts if other is not text]
            return
        frame = self._open[-1]
        if text.size <= self._short and not text.cut:
            frame.add(b'"%b"' % text.content())
            self._texts = [other for other in self._texts if other is not text]
            self._small += text.size
        else:
            frame.add(b'"')
            frame.add_text(text)
            frame.extend(b'"')
            if text not in self._texts:
                self._texts.append(text)
        self._grow(2)
        self._reduce()

    def _add_scalar(self, scalar: bytes) -> None:
        if not self._open:
            self.is_damaged |= scalar != _BOM
            return
        if len(scalar) > SCALAR:
            self._cut += len(scalar)
            scalar = b"null"
        self._open[-1].add(scalar)
        self._grow(len(scalar))
        self._reduce()

    def _add_members(self, members: bytes) -> None:
        frame = self._open[-1]
        frame.add(members[:-1])
        frame.separate(b",")
        self._grow(len(members))
        self._reduce()

    def _open_container(self, mark: bytes) -> None:
        if len(self._open) >= DEPTH:
            self._skipped_depth = 1
            return
        self._open.append(Container(mark))
        self._grow(1)

    def _close_container(self, mark: bytes) -> tuple[bytes, int] | None:
        """Return the record that ends here, and the bytes cut out of it; None inside a record."""
        if not self._open:
            self.is_damaged = True
            self._odd += 1
            return None
        closed = self._open.pop()
        self._grow(1)
        closed.close(mark)
        if self._open:
            self._open[-1].add_container(closed)
            self._reduce()
            return None
        record = closed.content(), self._cut + sum(text.cut for text in self._texts)
        self._new_record()
        return record

    def _in_skipped(self, piece: bytes, position: int) -> int:
        """Skip a container that is nested too deeply; return the position."""
        start = position
        while position < len(piece):
            if self._is_in_skipped_string:
                end = closing_quote(piece, position)
                if end < 0:
                    end = end_of_whole(piece, position)
                    self._carried = piece[end:]
                    self._cut += end - start
                    return len(piece)
                position, self._is_in_skipped_string = end + 1, False
            found = _BRACKET.search(piece, position)
            if found is None:
                position = len(piece)
                break
            position, mark = found.end(), found[0]
            if mark == b'"':
                self._is_in_skipped_string = True
                continue
            self._skipped_depth += 1 if mark in b"{[" else -1
            if self._skipped_depth > ABYSS:
                self.is_hopeless = True
                break
            if not self._skipped_depth:
                self._open[-1].add(b"null")
                self._grow(4)
                break
        self._cut += position - start
        return position

    # -- size ---------------------------------------------------------------------------------------------

    def _grow(self, size: int, *, text: bool = False) -> None:
        self._total += size
        if not text:
            self._small += size

    def _reduce(self) -> None:
        """Cut strings and drop members until what is kept is within the limit."""
        while self._total > self._limit:
            # What is small gets half of the space; the strings, which can be cut anywhere, get the rest.
            if self._small > self._limit // 2 and self._drop(self._open[1:], self._limit // 16):
                continue
            if self._shrink(self._short) or self._drop(self._open, 0) or self._drop(self._open, 0, spares_last=False):
                continue
            if not self._shrink(LEAST):
                # A limit of a few bytes, or text that is not JSON.
                self.is_hopeless = True
                return

    def _shrink(self, least: int) -> bool:
        """Cut all strings to three quarters of the present bound; return False when it is the least."""
        if self._cap <= least:
            return False
        self._cap = max(least, self._cap * 3 // 4)
        self._total -= sum(text.shrink(self._cap) for text in self._texts)
        return True

    def _drop(self, frames: list[Container], least: int, *, spares_last: bool = True) -> bool:
        """Drop members of the innermost container that has this number of bytes; return whether there was one."""
        for frame in reversed(frames):
            if frame.size > least and (group := frame.drop(spares_last=spares_last)) is not None:
                texts = {id(text) for text in group.texts()}
                kept = sum(text.size for text in self._texts if id(text) in texts)
                self._cut += group.size + kept + sum(text.cut for text in self._texts if id(text) in texts)
                self._total -= group.size + kept + 1  # the comma
                self._small -= group.size + 1
                self._texts = [text for text in self._texts if id(text) not in texts]
                return True
        return False
