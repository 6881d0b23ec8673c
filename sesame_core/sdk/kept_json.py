"""What is kept of the strings and containers of a JSON record that is too long, as bytes of JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .json_characters import boundary_after, boundary_before

#: Members are dropped from containers in groups of about this number of bytes.
GROUP = 1 << 12
#: Share of a string's bytes that its beginning gets: what was asked, or the command's first lines of output.
HEAD = 3 / 4
_MARK = re.compile(r"\[… (\d+) bytes left out …\]")


def bytes_left_out(text: str) -> int:
    """Return the number of bytes that were left out of a string, according to the lines in it."""
    return sum(map(int, _MARK.findall(text))) if "bytes left out …]" in text else 0


class Text:
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
            end = boundary_before(whole, int(cap * HEAD))
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
        end = boundary_before(self._head, int(cap * HEAD))
        self.cut += len(self._head) - end
        self._head = self._head[:end]
        self._end(self._tail, cap)
        return before - self.size

    def _end(self, text: bytes, cap: int) -> None:
        start = boundary_after(text, len(text) - (cap - int(cap * HEAD)))
        self.cut += start
        self._tail = text[start:]

    def content(self) -> bytes:
        """Return the string with a line for what is left out."""
        if not self.cut:
            return self._head
        return b"%b%b%b" % (self._head, f"\\n[… {self.cut} bytes left out …]\\n".encode(), self._tail)


class Group:
    """Consecutive members of a container: bytes, and the strings between them."""

    __slots__ = ("atoms", "size")

    def __init__(self) -> None:
        self.atoms: list[bytearray | Text] = []
        #: Bytes, without the strings.
        self.size = 0

    def add(self, data: bytes) -> None:
        """Add bytes."""
        if self.atoms and isinstance(last := self.atoms[-1], bytearray):
            last += data
        else:
            self.atoms.append(bytearray(data))
        self.size += len(data)

    def join(self, other: Group) -> None:
        """Add what another group has."""
        for atom in other.atoms:
            if isinstance(atom, bytearray):
                self.add(bytes(atom))
            else:
                self.atoms.append(atom)

    def texts(self) -> Iterator[Text]:
        """Return the strings that can be cut."""
        return (atom for atom in self.atoms if isinstance(atom, Text))

    def content(self) -> bytes:
        """Return the members as JSON."""
        return b"".join(atom.content() if isinstance(atom, Text) else bytes(atom) for atom in self.atoms)


class Container:
    """A list or an object, as far as it is read: its members in groups."""

    __slots__ = ("_closing", "_groups", "_head", "_member", "has_value", "mark", "size")

    def __init__(self, mark: bytes) -> None:
        self.mark = mark
        self._closing = b""
        self._groups: list[Group] = []
        #: The member that is being read.
        self._member = Group()
        #: That member has its value already: what follows without a comma is not JSON, and is a member of its own.
        self.has_value = False
        #: Number of groups at the beginning that are kept; None as long as nothing was dropped.
        self._head: int | None = None
        #: Bytes of the complete members, without the strings that can be cut.
        self.size = 0

    def add(self, data: bytes) -> None:
        """Add a value, or the first part of one."""
        if self.has_value:
            self._end_member()
        self._member.add(data)
        self.has_value = True

    def extend(self, data: bytes) -> None:
        """Add a further part of a value."""
        self._member.add(data)

    def add_text(self, text: Text) -> None:
        """Add a string that can be cut, as a further part of a value."""
        self._member.atoms.append(text)

    def add_container(self, closed: Container) -> None:
        """Add a container that is complete, as a value."""
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
        member, self._member, self.has_value = self._member, Group(), False
        self.size += member.size + bool(self._groups)
        last = self._groups[-1] if self._groups else None
        if last is None or last.size + member.size > GROUP or any(member.texts()) or any(last.texts()):
            self._groups.append(member)
        else:
            last.add(b",")
            last.join(member)

    def drop(self, *, spares_last: bool) -> Group | None:
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
