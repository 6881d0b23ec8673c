"""Cuts a JSON record that is too long or too deep, while it is read, into one that a decoder takes.

Strings keep their beginning and their end around a line that says how many bytes are left out; lists and objects with
very many members keep the first and the last ones.  All other values stay, so that a record that is cut still says
who spoke, which tool ran, and whether it failed.  Memory is bounded by a small multiple of the limit.

The streaming parsers there are (yajl, and `ijson` on it) keep each string whole in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

#: Strings up to this number of bytes are kept whole; fewer where the limit is small.
SHORT = 1 << 10
#: Bytes of a string that are kept when nothing else can be left out.
LEAST = 32
#: Most bytes of a string: what is kept of it is indexed whole on every backend (PostgreSQL's take 400,000 characters).
LONGEST = 384 << 10
#: Members are dropped from containers in groups of about this number of bytes.
GROUP = 1 << 12
#: Deepest container that is kept; real records have at most a dozen levels.
DEPTH = 64
#: Depth from which a line is not a record.
ABYSS = 1 << 20
#: Most marks that make no sense: a line with more is not JSON.
ODD = 10_000
#: Share of a string's bytes that its beginning gets: what was asked, or the command's first lines of output.
HEAD = 3 / 4
#: Longest number, true, false or null, in bytes.
SCALAR = 1 << 10

_BOM = b"\xef\xbb\xbf"
#: A mark, or what is between two marks: a scalar, or text that is not JSON.
_TOKEN = re.compile(rb'[\s\0]*+(?:([{}\[\],:"])|([^\s\0{}\[\],:"][^\0{}\[\],:"]*))')
#: The characters of a string up to its closing quote, at 200 MB/s.
_INSIDE = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
#: Several short members of a container, flat containers among them: reading them one by one takes much longer.
_STRING = rb'"[^"\\]{0,100}+(?:\\.[^"\\]{0,50}+){0,4}+"'
_PLAIN = rb"(?:[-+.\w]{1,64}+|%b)" % _STRING
_NAMED = rb"[\s\0]*+(?:%b[\s\0]*+:[\s\0]*+)?" % _STRING
_FLAT = rb"[{\[](?:%b%b[\s\0]*+,){0,15}+%b%b[\s\0]*+[}\]]" % (_NAMED, _PLAIN, _NAMED, _PLAIN)
_MEMBERS = re.compile(rb"(?:%b(?:%b|%b)[\s\0]*+,){1,16}+" % (_NAMED, _PLAIN, _FLAT), re.DOTALL)
_BRACKET = re.compile(rb'["{}\[\]]')
_HIGH_SURROGATE = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")
_LOW_SURROGATE = re.compile(rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_MARK = re.compile(r"\[… (\d+) bytes left out …\]")


def bytes_left_out(text: str) -> int:
    """Return the number of bytes that were left out of a string, according to the lines in it."""
    return sum(map(int, _MARK.findall(text))) if "bytes left out …]" in text else 0


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
        self._open: list[_Container] = []
        self._text: _Text | None = None
        self._texts: list[_Text] = []
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
                self._text = _Text()
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
        end = _closing_quote(piece, start)
        is_end = end >= 0
        if not is_end:
            end = _whole(piece, start)
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

    def _end_string(self, text: _Text) -> None:
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
        self._open.append(_Container(mark))
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
                end = _closing_quote(piece, position)
                if end < 0:
                    end = _whole(piece, position)
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

    def _drop(self, frames: list[_Container], least: int, *, spares_last: bool = True) -> bool:
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


class _Text:
    """A string as it is written in JSON: all of it, or its beginning and end.

    Pieces that are added start and end between characters as JSON writes them.
    """

    __slots__ = ("_head", "_tail", "cut")

    def __init__(self) -> None:
        self._head = b""
        self._tail = b""
        #: Bytes left out between the two.
        self.cut = 0

    @property
    def size(self) -> int:
        """Bytes kept."""
        return len(self._head) + len(self._tail)

    def add(self, piece: bytes, cap: int) -> int:
        """Add a piece, and keep at most `cap` bytes; return by how much the size grew."""
        before = self.size
        if not self.cut and before + len(piece) <= cap:
            self._head += piece
        elif not self.cut:
            whole = self._head + piece
            end = _before(whole, int(cap * HEAD))
            self._head = whole[:end]
            self._end(whole[end:], cap)
        else:
            self._end(self._tail + piece, cap)
        return self.size - before

    def shrink(self, cap: int) -> int:
        """Keep at most `cap` bytes; return by how much the size shrank."""
        before = self.size
        if before <= cap:
            return 0
        if not self.cut:
            return -self.add(b"", cap)
        end = _before(self._head, int(cap * HEAD))
        self.cut += len(self._head) - end
        self._head = self._head[:end]
        self._end(self._tail, cap)
        return before - self.size

    def _end(self, text: bytes, cap: int) -> None:
        start = _after(text, len(text) - (cap - int(cap * HEAD)))
        self.cut += start
        self._tail = text[start:]

    def content(self) -> bytes:
        """Return the string with a line for what is left out."""
        if not self.cut:
            return self._head
        return b"%b%b%b" % (self._head, f"\\n[… {self.cut} bytes left out …]\\n".encode(), self._tail)


class _Group:
    """Consecutive members of a container: bytes, and the strings between them."""

    __slots__ = ("atoms", "size")

    def __init__(self) -> None:
        self.atoms: list[bytearray | _Text] = []
        #: Bytes, without the strings.
        self.size = 0

    def add(self, data: bytes) -> None:
        if self.atoms and isinstance(last := self.atoms[-1], bytearray):
            last += data
        else:
            self.atoms.append(bytearray(data))
        self.size += len(data)

    def join(self, other: _Group) -> None:
        for atom in other.atoms:
            if isinstance(atom, bytearray):
                self.add(bytes(atom))
            else:
                self.atoms.append(atom)

    def texts(self) -> Iterator[_Text]:
        return (atom for atom in self.atoms if isinstance(atom, _Text))

    def content(self) -> bytes:
        return b"".join(atom.content() if isinstance(atom, _Text) else bytes(atom) for atom in self.atoms)


class _Container:
    """A list or an object, as far as it is read: its members in groups."""

    __slots__ = ("_closing", "_groups", "_head", "_member", "has_value", "mark", "size")

    def __init__(self, mark: bytes) -> None:
        self.mark = mark
        self._closing = b""
        self._groups: list[_Group] = []
        #: The member that is being read.
        self._member = _Group()
        #: That member has its value already: what follows without a comma is not JSON, and is a member of its own.
        self.has_value = False
        #: Number of groups at the beginning that are kept; None as long as nothing was dropped.
        self._head: int | None = None
        #: Bytes of the complete members, without the strings that can be cut.
        self.size = 0

    def add(self, data: bytes) -> None:
        if self.has_value:
            self._end_member()
        self._member.add(data)
        self.has_value = True

    def extend(self, data: bytes) -> None:
        self._member.add(data)

    def add_text(self, text: _Text) -> None:
        self._member.atoms.append(text)

    def add_container(self, closed: _Container) -> None:
        if self.has_value:
            self._end_member()
        self._member.add(closed.mark)
        for number, group in enumerate(closed._groups):
            if number:
                self._member.add(b",")
            self._member.join(group)
        self._member.add(closed._closing)
        self.has_value = True

    def separate(self, mark: bytes) -> None:
        """Read a colon or a comma."""
        if mark == b":":
            self._member.add(mark)
            self.has_value = False
        else:
            self._end_member()

    def _end_member(self) -> None:
        member, self._member, self.has_value = self._member, _Group(), False
        self.size += member.size + bool(self._groups)
        last = self._groups[-1] if self._groups else None
        if last is None or last.size + member.size > GROUP or any(member.texts()) or any(last.texts()):
            self._groups.append(member)
        else:
            last.add(b",")
            last.join(member)

    def drop(self, *, spares_last: bool) -> _Group | None:
        """Remove a group in the middle of the complete members; return None when only those are left that are spared.

        The first is always spared.
        """
        if len(self._groups) < (3 if spares_last else 2):
            return None
        if not spares_last:
            group = max(self._groups[1:], key=lambda one: one.size)
            self._groups.remove(group)
            self.size -= group.size + 1
            return group
        if self._head is None:
            sizes, kept = [group.size + sum(t.size for t in group.texts()) for group in self._groups], 0
            self._head = 0
            while self._head < len(sizes) - 1 and (kept := kept + sizes[self._head]) <= sum(sizes) * HEAD:
                self._head += 1
            self._head = max(1, self._head)
        if self._head >= len(self._groups) - 1:
            self._head = len(self._groups) - 2
        group = self._groups.pop(self._head)
        self.size -= group.size + 1
        return group

    def close(self, mark: bytes) -> None:
        """Read the bracket at the end."""
        if self._member.atoms or self._groups:
            self._end_member()
        self._closing = mark

    def content(self, *, is_closed: bool = True) -> bytes:
        """Return the container as JSON."""
        groups = self._groups if is_closed else [*self._groups, self._member]
        return self.mark + b",".join(group.content() for group in groups) + self._closing


# -- characters as JSON writes them ---------------------------------------------------------------------------


def _closing_quote(text: bytes, start: int) -> int:
    """Return the position of the quote that ends a string, in a text that starts between characters; else -1."""
    inside = _INSIDE.match(text, start)
    assert inside is not None  # it matches nothing, too
    return inside.end() if text[inside.end() : inside.end() + 1] == b'"' else -1


def _backslashes(text: bytes, start: int, end: int) -> int:
    """Return the number of backslashes before a position."""
    position = end
    while position > start and text[position - 1] == 0x5C:
        position -= 1
    return end - position


def _escape(text: bytes, start: int, position: int) -> tuple[int, int] | None:
    """Return the bounds of the escape that a position is inside of; None when it is between characters."""
    for first in range(max(start, position - 5), position):
        if text[first] == 0x5C and not _backslashes(text, start, first) % 2:
            end = first + (6 if text[first + 1 : first + 2] == b"u" else 2)
            if position < end:
                return first, end
    return None


def _whole(text: bytes, start: int) -> int:
    """Return the end of the last whole character of a text that starts between characters."""
    escape = _escape(text, start, len(text))
    return escape[0] if escape else len(text)


def _before(text: bytes, position: int) -> int:
    """Return the last position between two characters, at a position or before it."""
    if position >= len(text):
        return len(text)
    if escape := _escape(text, 0, position):
        position = escape[0]
    if position >= 6 and _HIGH_SURROGATE.search(text, position - 6, position):
        position -= 6
    while position > 0 and text[position] & 0xC0 == 0x80:
        position -= 1
    return position


def _after(text: bytes, position: int) -> int:
    """Return the first position between two characters, at a position or after it."""
    if position <= 0:
        return 0
    if escape := _escape(text, 0, position):
        position = min(escape[1], len(text))
    if _LOW_SURROGATE.match(text, position):
        position += 6
    while position < len(text) and text[position] & 0xC0 == 0x80:
        position += 1
    return position
