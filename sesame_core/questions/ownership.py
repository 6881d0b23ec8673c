"""Which of many edits wrote each line of a file: the edits are applied in order to the lines that they name.

No edit says what else was in the file, and people changed it in between; so the ledger keeps, for each line, the edits
that added it and that no later one removed.  Lines count as the same whatever their white space, their quotes and a
comma at their end: who reformats a line has not written it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ..text.folding import without_escapes
from ..tool_calls.changes import Edit

#: Letters and digits of a line that says something alone: `}`, `else:` and `end` have fewer.
TELLING = 5
#: Characters of a line, without white space, that is looked for with other line breaks and in scripts.
LONG = 14
#: Pieces with the same text that are compared, the latest: `}` is in every edit.
COMPARED = 100
#: Lines above and below a line that tell it from others with the same text.
AROUND = 3
#: Characters of what an edit put into a line.
REPLACED = 6
#: A comma before the end of a list: one over several lines has it.
_CLOSERS = re.compile(r",([)\]}])")


class Piece(NamedTuple):
    """A line of an edit."""

    #: Number of the edit.
    edit: int
    block: tuple[str, ...]
    #: The keys of its lines.
    keys: tuple[str, ...]
    at: int


class Owner(NamedTuple):
    """An edit that wrote a line."""

    edit: int
    #: How much of what is around it its edit has around it, too: lines above count twice, at most `AROUND` each.
    context: int
    is_alive: bool


def key(line: str) -> str:
    """Return what of a line counts when it is compared."""
    return "".join(without_escapes(line).split()).replace("'", '"').rstrip(",;")


def is_telling(key: str) -> bool:
    """Return whether a line says something alone."""
    return sum(map(str.isalnum, key)) >= TELLING


class Ledger:
    """The lines of a file, as far as edits tell."""

    def __init__(self) -> None:
        self._alive: dict[str, list[Piece]] = {}
        self._ever: dict[str, list[Piece]] = {}
        self._replaced: list[tuple[str, int]] = []
        self._is_sorted = False
        self._flat: list[tuple[int, str]] | None = None

    def apply(self, number: int, edit: Edit) -> None:
        """Apply the next edit in time."""
        self._flat, self._is_sorted = None, False
        for old, new in edit.replaced:
            # An edit that names a whole line removes it below.
            if edit.way != "edit" or not self._alive.get(key(old)):
                self._replace(number, old, new)
        keys = tuple(map(key, edit.block))
        if edit.is_whole:
            self._keep(Counter(keys))
        if edit.gone:
            former = tuple(map(key, edit.before))
            for at in edit.gone:
                if pieces := self._alive.get(former[at]):
                    del pieces[_likest(pieces, *around(former, at))]
        known = Counter({k: len(p) for k, p in self._alive.items()}) if edit.is_whole else None
        for at, own in enumerate(keys):
            is_known = known is not None and known[own] > 0
            if at in edit.fresh and not is_known:
                self._add(own, Piece(number, edit.block, keys, at))
                continue
            if known is not None:
                known[own] -= 1
            self._see(own, edit.block, keys, at)
        if edit.block and not edit.is_whole:
            # What an edit replaces may begin and end within a line.
            self._replaced += [(edit.block[at].strip(), number) for at in {0, len(keys) - 1} & edit.fresh]

    def owners(self, line: str, above: Sequence[str], below: Sequence[str]) -> list[Owner]:
        """Return the edits that wrote a line, the likeliest first.

        :param above: as `around` returns it for the file.
        """
        own = key(line)
        ever = self._ever.get(own, ())
        if len(ever) == 1 and is_telling(own):
            # Most lines: there is nothing to choose.
            return [Owner(ever[0].edit, _context(ever[0], above, below), bool(self._alive.get(own)))]
        found: dict[int, Owner] = {}
        for is_alive, pieces in ((True, self._alive.get(own, ())), (False, ever)):
            for piece in pieces[-COMPARED:]:
                context, known = _context(piece, above, below), found.get(piece.edit)
                # An edit may have the line several times.
                if known is None or (known.is_alive == is_alive and known.context < context):
                    found[piece.edit] = Owner(piece.edit, context, is_alive)
        order = (
            (lambda o: (o.is_alive, o.context, o.edit))
            if is_telling(own)
            else (lambda o: (o.context, o.is_alive, o.edit))
        )
        return sorted(found.values(), key=order, reverse=True)

    def reflowed(self, line: str) -> int | None:
        """Return the latest edit that has a line with other line breaks: as a part of one, or over several."""
        own = _CLOSERS.sub(r"\1", key(line))
        if len(own) < LONG:
            return None
        if self._flat is None:
            self._flat = self._joined()
        return next((number for number, text in self._flat if own in text), None)

    def _joined(self) -> list[tuple[int, str]]:
        """Return the lines that each edit added, joined without white space, the latest edit first."""
        places: dict[int, dict[int, Piece]] = {}
        for pieces in self._ever.values():
            for piece in pieces:
                places.setdefault(piece.edit, {})[piece.at] = piece
        found = []
        for number, added in places.items():
            # A line that was there before is no part of what was written.
            lines = ["".join(added[at].block[at].split()) if at in added else "\0" for at in range(max(added) + 1)]
            found.append((number, _CLOSERS.sub(r"\1", "".join(lines).replace("'", '"'))))
        return sorted(found, reverse=True)

    def replacing(self, line: str) -> int | None:
        """Return the edit that put the longest string into a line, the latest of those."""
        if not self._is_sorted:
            strings = {new: number for new, number in self._replaced if len(new) >= REPLACED}
            self._replaced = sorted(strings.items(), key=lambda one: (len(one[0]), one[1]), reverse=True)
            self._is_sorted = True
        return next((number for new, number in self._replaced if new in line), None)

    def _add(self, key: str, piece: Piece) -> None:
        self._alive.setdefault(key, []).append(piece)
        self._ever.setdefault(key, []).append(piece)

    def _see(self, key: str, block: tuple[str, ...], keys: tuple[str, ...], at: int) -> None:
        """Note the lines that are now around a line which an edit left as it was."""
        pieces = self._alive.get(key)
        if not pieces:
            return
        place = _likest(pieces, *around(keys, at)) if len(pieces) > 1 else 0
        pieces[place] = Piece(pieces[place].edit, block, keys, at)

    def _keep(self, wanted: Counter[str]) -> None:
        """Drop the lines that a whole file does not have."""
        for own, pieces in self._alive.items():
            del pieces[wanted[own] :]

    def _replace(self, number: int, old: str, new: str) -> None:
        self._replaced.append((new, number))
        if not old:
            return
        for pieces in list(self._alive.values()):
            hit = [place for place, piece in enumerate(pieces) if old in piece.block[piece.at]]
            for place in reversed(hit):
                piece = pieces.pop(place)
                text = piece.block[piece.at].replace(old, new)
                block = (*piece.block[: piece.at], text, *piece.block[piece.at + 1 :])
                keys = (*piece.keys[: piece.at], key(text), *piece.keys[piece.at + 1 :])
                self._add(keys[piece.at], Piece(number, block, keys, piece.at))


def around(keys: Sequence[str], at: int) -> tuple[list[str], list[str]]:
    """Return the keys of the lines above and below a line, the nearest first, without blank ones.

    :param keys: of a block, or of a file.
    """
    return _near(keys, at, -1), _near(keys, at, 1)


def _near(keys: Sequence[str], at: int, step: int) -> list[str]:
    found: list[str] = []
    at += step
    while 0 <= at < len(keys) and len(found) < AROUND:
        if keys[at]:
            found.append(keys[at])
        at += step
    return found


def _context(piece: Piece, above: Sequence[str], below: Sequence[str]) -> int:
    """Return how much of what is around a line its edit has around it, from the nearest lines on.

    A line above counts twice: what ends a block belongs to what is before it.
    """
    return 2 * _common(piece, above, -1) + _common(piece, below, 1)


def _common(piece: Piece, wanted: Sequence[str], step: int) -> int:
    keys, last = piece.keys, 0 if step < 0 else len(piece.keys) - 1
    at, found = piece.at + step, 0
    for one in wanted:
        while 0 <= at < len(keys) and not keys[at]:
            at += step
        if not 0 <= at < len(keys):
            break
        # What an edit replaces may begin and end within a line.
        is_part = at == last and (one.endswith(keys[at]) if step < 0 else one.startswith(keys[at]))
        if keys[at] != one and not is_part:
            break
        found += 1
        at += step
    return found


def _likest(pieces: Sequence[Piece], above: Sequence[str], below: Sequence[str]) -> int:
    """Return the position of the piece with most of these lines around it, of several the first one."""
    compared = range(min(len(pieces), COMPARED))
    return max(compared, key=lambda n: (_context(pieces[n], above, below), -n))
