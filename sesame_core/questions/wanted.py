"""An error that is looked for in texts: which of their lines are the same, and which are like it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import TypeAlias

from .errors import LONGEST, ErrorLine, error_line, strength, unescaped

#: Share of the words of an error, by rarity, that a line has which is like it.
ALIKE = 0.7
#: Words that a line has besides those of the error, at most, to be the same one with something around it.
AROUND = 12


class Level(IntEnum):
    """How far a line is an error that was asked for."""

    NONE = 0
    LIKE = 1
    #: The same but for numbers, paths and what is around it.
    SAME = 2


#: How far a text has an error, the share of its words, and the line.
Match: TypeAlias = tuple[Level, float, ErrorLine]


class Wanted:
    """An error that is looked for in texts.

    :param lines: its lines, the most telling first.
    :param rarity: how much each word tells; words that are missing tell by their length.
    """

    def __init__(self, lines: Sequence[ErrorLine], rarity: Mapping[str, float] | None = None) -> None:
        self.lines = tuple(lines)
        rarity = rarity or {}
        self.weights = {word: rarity.get(word, min(len(word), 10) / 2) for line in self.lines for word in line.words}
        self._sought = [_Sought(line.words, self.weights) for line in self.lines]
        #: A text is asked about when it is found, and again with what is around it.
        self._known: dict[str, Match | None] = {}

    def find(self, text: str) -> Match | None:
        """Return how far a text has the error, the share of its words, and the line; None if it does not have it."""
        if text not in self._known:
            self._known[text] = self._found(text)
        return self._known[text]

    def _found(self, text: str) -> Match | None:
        best: Match | None = None
        text = unescaped(text)
        lowered = text.lower()
        for number, sought in enumerate(self._sought):
            for start, end in _lines_with(lowered, sought.anchors):
                if not sought.may_be(lowered[start:end]):
                    continue
                found = error_line(text[start:end])
                level, share = sought.compared(found)
                if number:  # the first line tells most: the others are what many failures say, too
                    level, share = min(level, Level.LIKE), share * 0.9**number
                if level is not Level.NONE and (best is None or (level, share) > best[:2]):
                    best = level, share, found
                    if level is Level.SAME:
                        return best
        return best


class _Sought:
    """One line of an error."""

    def __init__(self, words: Sequence[str], weights: Mapping[str, float]) -> None:
        self._words = words
        #: Its words, those that tell most first.
        self._weights = {word: weights[word] for word in sorted(dict.fromkeys(words), key=lambda word: -weights[word])}
        self._total = sum(self._weights.values()) or 1.0
        self.anchors = self._anchors()

    def _anchors(self) -> list[str]:
        """Return words of which each line that is this one, or like it, has one: the fewest of those that tell most."""
        found: list[str] = []
        for word in self._weights:
            found.append(word)
            if not self._may_lack(found):
                break
        return found

    def _may_lack(self, missing: Collection[str]) -> bool:
        """Return whether a line without some of the words may be this one, or like it (`compared`)."""
        if sum(weight for word, weight in self._weights.items() if word not in missing) >= ALIKE * self._total:
            return True
        longest = length = 0
        for word in self._words:
            length = 0 if word in missing else length + 1
            longest = max(longest, length)
        return longest > 2 and 2 * longest > len(self._words)

    def may_be(self, lowered: str) -> bool:
        """Return whether a line, in lower case, has enough of the words to be compared, which takes longer."""
        missing = [word for word in self._weights if word not in lowered]
        return not missing or self._may_lack(missing)

    def compared(self, found: ErrorLine) -> tuple[Level, float]:
        """Return how far a line is this one, and the share of its words."""
        wanted, words = self._words, found.words
        if words == wanted:
            return Level.SAME, 1.0
        if len(wanted) > 1 and len(words) <= len(wanted) + AROUND and _contains(words, wanted):
            return Level.SAME, 0.99
        if len(words) > 2 and 2 * len(words) > len(wanted) and _contains(wanted, words):
            return Level.SAME, 0.98
        if len(wanted) == 1 and wanted[0] in words and strength(found.text):
            return Level.SAME, 0.97  # a code, such as ENOSPC
        share = sum(self._weights[word] for word in self._weights.keys() & set(words)) / self._total
        extra = len(set(words) - set(wanted)) / max(4, len(wanted))
        is_like = share >= ALIKE and extra <= 1.5 and strength(found.text) > 0
        return (Level.LIKE if is_like else Level.NONE), share


def _contains(words: Sequence[str], part: Sequence[str]) -> bool:
    """Return whether some words stand in others next to each other, in order."""
    return f" {' '.join(part)} " in f" {' '.join(words)} "


def _lines_with(lowered: str, anchors: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where the lines of a text that have one of some words begin and end, each once."""
    seen: set[int] = set()
    for anchor in anchors:
        place = lowered.find(anchor)
        while place >= 0:
            start = lowered.rfind("\n", 0, place) + 1
            end = lowered.find("\n", place)
            end = len(lowered) if end < 0 else end
            if start not in seen:
                seen.add(start)
                yield start, min(end, start + 2 * LONGEST)
            place = lowered.find(anchor, end)
